/* One input of a calculator: a slider and a number field that move together, or a choice. */
(function (T) {
  "use strict";

  const { make, tell } = T;

  /** A row {node, show(value, source, rates), note(text)}; `take(text)` is called when it is set,
   * `half(text)` while a number is being typed.
   */
  function field(id, input, calls) {
    const note = make("p", { class: "th-note", id: `${id}-note` });
    const source = make("span", { class: "th-source" });
    const told = make("span", { class: "th-told", text: `${input.help} ` }); // paper leaves it out, not the source
    const help = make("p", { class: "th-help", id: `${id}-help` }, [told, source]);
    const control = input.kind === "choice" ? choiceOf(id, input, calls) : numberOf(id, input, calls, say);

    function say(text) { // stays until the reader is done with the field
      control.remark = text;
      tell(note, text);
      calls.say(text);
    }

    return {
      node: make("div", { class: `th-input th-input-${input.kind}` }, [...control.nodes, note, help]),
      show(value, from, rates) {
        control.show(value, rates);
        tell(source, from ? `From: ${from}.` : "Set by you.");
      },
      note: (text) => tell(note, text)
    };
  }

  function choiceOf(id, input, calls) {
    const select = make("select", { id, "aria-describedby": `${id}-note ${id}-help` });
    select.addEventListener("change", () => calls.take(select.value));
    return {
      nodes: [make("label", { for: id, text: input.label }), select],
      show(value, rates) {
        const options = T.choices(input, rates);
        if (options.length !== select.options.length) {
          select.replaceChildren(...options.map((each) => make("option", { value: each.id })));
        }
        options.forEach((each, number) => tell(select.options[number], each.label));
        select.value = value;
      }
    };
  }

  function numberOf(id, input, calls, say) {
    const range = slider(id, input);
    const number = numberField(id, input);
    let value = input.default;
    const move = (by) => calls.take(T.plain(nudged(input, value, by)));
    const control = {
      remark: "", edited: false, typing: false,
      nodes: [
        make("label", { for: `${id}-range`, text: input.label }), range, number,
        make("span", { class: "th-unit", "aria-hidden": "true", text: input.unit })
      ],
      show(given) {
        value = given;
        range.value = T.position(input, value);
        range.setAttribute("aria-valuetext", T.withUnit(input, value));
        if (control.typing) return;
        number.value = T.plain(value);
        control.edited = false;
      }
    };
    range.addEventListener("input", () => calls.take(T.plain(T.valueAt(input, Number(range.value)))));
    takeBack(range, calls);
    onKeys(range, { PageUp: () => move(input.page), PageDown: () => move(-input.page) });
    onKeys(number, { ArrowUp: () => move(step(input)), ArrowDown: () => move(-step(input)) });
    const read = T.watchTyping(number, input, { say, take: (text) => calls.take(text) });
    listen(number, control, calls, () => (number.validity.badInput ? null : read()));
    return control;
  }

  function listen(number, control, calls, read) {
    const done = () => {
      const { edited, remark } = control;
      control.remark = ""; // it belongs to what was typed till then
      if (edited) calls.take(read(), remark);
    };
    number.addEventListener("input", () => {
      control.edited = control.typing = true; // what stands there is the reader's until they are done
      if (read() !== null) calls.half(read());
      control.typing = false;
    });
    number.addEventListener("change", done);
    number.addEventListener("blur", done); // what is what it was before is no change, but may have a note
  }

  function slider(id, input) {
    const [min, max] = T.ends(input);
    return make("input", {
      type: "range", id: `${id}-range`, min, max, step: step(input), "aria-describedby": `${id}-help`
    });
  }

  function numberField(id, input) {
    return make("input", {
      type: "number", id, min: input.min, max: input.max, step: T.plain(10 ** -input.decimals),
      inputmode: input.decimals ? "decimal" : "numeric",
      "aria-label": `${input.label}, ${input.unit}`, "aria-describedby": `${id}-note ${id}-help`
    });
  }

  /** A finger that only scrolls the page has set the slider where it came down. */
  function takeBack(range, calls) {
    let back = null;
    range.addEventListener("pointerdown", () => { back = calls.hold(); });
    range.addEventListener("pointercancel", () => back());
  }

  function step(input) {
    return input.scale === "linear" ? input.step : 1;
  }

  /** The value so many slider places further on, as far as there are any. */
  function nudged(input, value, by) {
    const [first, last] = T.ends(input);
    const place = Math.min(last, Math.max(first, T.position(input, value) + by));
    return Number(T.valueAt(input, place).toFixed(input.decimals));
  }

  function onKeys(node, moves) {
    node.addEventListener("keydown", (event) => {
      if (!moves[event.key] || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      moves[event.key]();
    });
  }

  Object.assign(T, { field });
})((globalThis.TwoHalves ||= {}));
