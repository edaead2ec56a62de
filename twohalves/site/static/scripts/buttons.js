/* Buttons that set several inputs at once: presets and price sheets, each with its source. */
(function (T) {
  "use strict";

  const { make, tell } = T;

  /** The presets by their groups: [{node, show(values)}]; `use(set)` takes a click. */
  function presetGroups(id, spec, use) {
    return spec.preset_groups.map((group) => {
      const sets = spec.presets.filter((each) => each.group === group.id);
      return buttonGroup(`${id}-${group.id}`, group.label, sets, use);
    });
  }

  /** The price sheets, likewise; none where a calculator has no prices. */
  function priceSheets(id, spec, use) {
    return spec.price_sheets.length ? [buttonGroup(`${id}-sheets`, "Price sheets", spec.price_sheets, use)] : [];
  }

  function buttonGroup(id, label, sets, use) {
    const buttons = sets.map((set) => {
      const button = make("button", { type: "button", class: "th-button", text: set.label, title: about(set) });
      button.addEventListener("click", () => use(set));
      return button;
    });
    const source = make("p", { class: "th-help" });
    return {
      node: make("div", { class: "th-buttons", role: "group", "aria-labelledby": id }, [
        make("p", { class: "th-buttons-label", id, text: label }), ...buttons, source
      ]),
      show(values) {
        const current = sets.map((set) => Object.entries(set.values).every(([name, value]) => values[name] === value));
        buttons.forEach((button, number) => {
          if (current[number]) button.setAttribute("aria-current", "true");
          else button.removeAttribute("aria-current");
        });
        const used = sets[current.indexOf(true)];
        tell(source, used ? `${used.label}: ${about(used)}.` : "None of these: numbers of your own.");
      }
    };
  }

  /** "illustrative; section 31.6"; a real price has its date. */
  function about({ kind, source, date }) {
    return [kind, source, date].filter(Boolean).join("; ");
  }

  Object.assign(T, { presetGroups, priceSheets });
})((globalThis.TwoHalves ||= {}));
