/* Where the parts of a calculator stand, in the order in which they are read and reached. */
(function (T) {
  "use strict";

  const { make } = T;
  const READ_HERE = "Choose data/runs/<run>/session.json. The file is read in this page; nothing is sent.";

  /** Everything of a calculator that is seen: {node, remark, picked, live, note(id, text), show(state)}. */
  function panel(id, calculator) {
    const { spec } = calculator;
    const rows = spec.inputs.map((input) => T.field(`${id}-${input.id}`, input, calculator.callsOf(input)));
    const use = (set) => calculator.use(set.values, { source: set.source });
    const presets = T.presetGroups(id, spec, use);
    const sheets = T.priceSheets(id, spec, use);
    const results = T.results(id, spec);
    const picker = pickerOf(calculator);
    const remark = make("p", { class: "th-remark" });
    const live = make("p", { class: "th-live", role: "status", "aria-live": "polite" });
    const sets = fieldsets(spec, rows, { prices: sheets.map((each) => each.node), rates: [picker.node] });
    const node = make("div", { class: "th-panel", role: "group", "aria-labelledby": `${id}-title` }, [
      make("p", { class: "th-title", id: `${id}-title`, text: spec.title }), actions(calculator),
      make("div", { class: "th-presets" }, presets.map((each) => each.node)), remark,
      make("div", { class: "th-inputs" }, sets), results.headline, results.node, live
    ]);
    return {
      node, remark, live, picked: picker.told,
      note: (input, text) => rows[spec.inputs.findIndex((each) => each.id === input)].note(text),
      show({ values, sources, rates, outcome }) {
        results.show(outcome);
        spec.inputs.forEach((input, number) => rows[number].show(values[input.id], sources[input.id], rates));
        [...presets, ...sheets].forEach((each) => each.show(values));
      }
    };
  }

  /** The inputs by their groups; price sheets stand above prices, a run of one's own below rates. */
  function fieldsets(spec, rows, { prices, rates }) {
    return spec.groups.map((group) => {
      const inputs = spec.inputs.filter((input) => input.group === group.id);
      const nodes = inputs.map((input) => rows[spec.inputs.indexOf(input)].node);
      if (inputs.some((input) => input.id.startsWith("price_"))) nodes.unshift(...prices);
      const choice = inputs.findIndex((input) => input.options === "rates");
      if (choice >= 0) nodes.splice(choice + 1, 0, ...rates);
      return make("fieldset", {}, [make("legend", { text: group.label }), ...nodes]);
    });
  }

  function pickerOf(calculator) {
    const told = make("p", { class: "th-note" });
    const file = make("input", { type: "file", accept: ".json,application/json", hidden: "" });
    file.addEventListener("change", () => {
      if (file.files.length) calculator.pick(file.files[0]);
      file.value = ""; // the same file can be picked again
    });
    const button = actionButton("Use rates of a run of yours", () => file.click());
    return {
      told,
      node: make("div", { class: "th-picker" }, [button, file, make("p", { class: "th-help", text: READ_HERE }), told])
    };
  }

  function actions(calculator) {
    return make("div", { class: "th-buttons th-actions" }, [
      actionButton("Reset", () => calculator.begin({})), actionButton("Save as CSV", () => calculator.save())
    ]);
  }

  function actionButton(text, action) {
    const button = make("button", { type: "button", class: "th-button", text });
    button.addEventListener("click", action);
    return button;
  }

  Object.assign(T, { panel });
})((globalThis.TwoHalves ||= {}));
