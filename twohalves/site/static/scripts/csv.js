/* What a calculator shows as a table to keep (RFC 4180): every value with its unit beside it. */
(function (T) {
  "use strict";

  const HEAD = ["kind", "id", "label", "value", "shown", "unit"];
  // of outputs whose format tells it
  const UNITS = { dollars: "dollars", millions: "tokens", percent: "fraction", seconds: "s", share: "fraction" };

  /** The whole table: inputs, the rates that were chosen, outputs. */
  function asCsv(spec, values, rates, outcome) {
    const rows = [HEAD, ...ofInputs(spec, values, rates, outcome.texts)];
    const set = T.chosen(values, rates);
    if (set) rows.push(...ofRates(set));
    rows.push(...ofOutputs(spec, outcome));
    return rows.map((row) => `${row.map(quoted).join(",")}\r\n`).join("");
  }

  function ofInputs(spec, values, rates, texts) {
    return spec.inputs.map((input) => {
      const { id, label } = input;
      if (input.kind !== "choice") return ["input", id, label, T.plain(values[id]), texts[id], unitOf(input)];
      const named = T.choices(input, rates).find((each) => each.id === values[id]);
      return ["input", id, label, values[id], named.label, ""];
    });
  }

  function unitOf(input) {
    return input.percent ? `fraction ${input.unit}` : input.unit;
  }

  function ofRates(set) {
    const row = (from) => ([id, label, unit]) => ["rates", id, label, from[id], from[id], unit];
    return [["rates", "source", set.label, set.source, set.source, ""], ...T.CURVE.map(row(set.curve)), ...T.MEASURED.map(row(set))];
  }

  function ofOutputs(spec, { results, texts }) {
    return spec.outputs.map((output) => [
      "output", output.id, output.label, results[output.id], texts[output.id], output.unit || UNITS[output.format] || ""
    ]);
  }

  function quoted(field) {
    // words that a spreadsheet would take for a formula are words
    const text = String(field ?? "").replace(/^(?=[=+@])/, "'");
    return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  }

  /** Hands a file over without a server, under file://, too. */
  function save(name, text) {
    const address = URL.createObjectURL(new Blob([text], { type: "text/csv;charset=utf-8" }));
    T.make("a", { href: address, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 10000);
  }

  Object.assign(T, { asCsv, save });
})((globalThis.TwoHalves ||= {}));
