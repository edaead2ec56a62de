/* What a calculator has computed: headline, picture, sentence, notes and tables. */
(function (T) {
  "use strict";

  const { make, tell } = T;

  /** Two parts of a page and one function: {headline, node, show(outcome)}. */
  function results(id, spec) {
    const picture = make("div", { class: "th-picture" });
    const sentence = make("p", { class: "th-sentence" });
    const notes = make("ul", { class: "th-notes" });
    const head = headlineOf(spec);
    const tables = spec.tables.map((table) => tableOf(`${id}-${table.id}`, table));
    return {
      headline: head.node,
      node: make("div", { class: "th-outcome" }, [picture, sentence, notes, ...tables.map((each) => each.node)]),
      show(outcome) {
        head.show(outcome);
        picture.innerHTML = outcome.picture; // our own SVG, every text in it escaped
        tell(sentence, outcome.sentence);
        notes.replaceChildren(...outcome.notes.map(noteOf));
        tables.forEach((each) => each.show(outcome));
      }
    };
  }

  /** The few figures that readers compare; one table alone says them itself. */
  function headlineOf(spec) {
    const outputs = spec.tables.length > 1 ? spec.outputs.filter(({ id }) => spec.compared.includes(id)) : [];
    const figures = outputs.map(({ id }) => make("dd", { "data-output": id }));
    const pairs = outputs.map(({ label }, number) => make("div", {}, [make("dt", { text: label }), figures[number]]));
    return {
      node: make("dl", { class: "th-headline", hidden: pairs.length ? null : "" }, pairs),
      show: ({ texts }) => outputs.forEach(({ id }, number) => tell(figures[number], texts[id]))
    };
  }

  /** "Extrapolated: …" with its first word in bold. */
  function noteOf(note) {
    const [, word = "", rest = note] = /^(\w+:)(.*)$/s.exec(note) || [];
    return make("li", {}, [make("strong", { text: word }), rest]);
  }

  function tableOf(id, table) {
    const [corner, ...columns] = table.head;
    const rows = table.rows.map((row) => rowOf(row.cells.length));
    const head = make("tr", {}, [
      make(corner ? "th" : "td", corner ? { scope: "col", text: corner } : {}),
      ...columns.map((text) => make("th", { scope: "col", text }))
    ]);
    const node = make("table", { "data-table": table.id }, [
      make("caption", { id, text: table.caption }), make("thead", {}, [head]),
      make("tbody", {}, rows.map((row) => row.node))
    ]);
    const box = make("div", { class: "th-results", role: "group", "aria-labelledby": id }, [node]);
    T.reachable(box, node);
    return {
      node: box,
      show({ texts, results }) {
        T.lines(table, texts, results).forEach((line, number) => rows[number].show(line));
      }
    };
  }

  function rowOf(columns) {
    const mark = make("span", { "aria-hidden": "true" });
    const label = make("span");
    const cells = Array.from({ length: columns }, () => make("td"));
    return {
      node: make("tr", {}, [make("th", { scope: "row" }, [mark, label]), ...cells]),
      show(line) {
        mark.className = line.mark ? `th-mark th-mark-${line.mark}` : "";
        tell(label, line.label);
        cells.forEach((cell, number) => tell(cell, line.cells[number]));
      }
    };
  }

  Object.assign(T, { results });
})((globalThis.TwoHalves ||= {}));
