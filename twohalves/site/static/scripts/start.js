/* Where a calculator begins: the twin of twohalves/show/calculator/start.py. */
(function (T) {
  "use strict";

  const { acceptChoice, acceptNumber } = T;

  /** Defaults, and over them what was given ({id: {value, source}}), accepted like anything typed. */
  function begin(spec, start, rates) {
    const values = {};
    const sources = {};
    const notes = [];
    for (const input of spec.inputs) {
      values[input.id] = firstValue(input, rates);
      sources[input.id] = input.source;
      if (!Object.hasOwn(start, input.id)) continue;
      const taken = take(input, start[input.id].value, values[input.id], rates);
      values[input.id] = taken.value;
      sources[input.id] = start[input.id].source;
      if (taken.note) notes.push(taken.note);
    }
    return { values, sources, notes };
  }

  /** The default; where rates are to be chosen, the first set. */
  function firstValue(input, rates) {
    const ids = choices(input, rates).map((choice) => choice.id);
    return ids.length && !ids.includes(input.default) ? ids[0] : input.default;
  }

  /** What an input can be, as [{id, label}]; empty for a number. */
  function choices(input, rates) {
    if (input.kind !== "choice") return [];
    const options = input.options === "rates" ? rates : input.options;
    return options.map(({ id, label }) => ({ id, label }));
  }

  /** A number or a choice, whichever the input is, and the note on it: {value, note}. */
  function take(input, asked, previous, rates) {
    if (typeof previous !== "string") return acceptNumber(input, asked, previous);
    return acceptChoice(input, asked, choices(input, rates).map((choice) => choice.id), previous);
  }

  Object.assign(T, { begin, firstValue, choices, take });
})((globalThis.TwoHalves ||= {}));
