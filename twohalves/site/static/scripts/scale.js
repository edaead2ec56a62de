/* Where a slider stands for a value: the twin of twohalves/show/calculator/scale.py. */
(function (T) {
  "use strict";

  const known = new Map();

  /** Where the slider stands: the value itself, or the number of the stop at or below it. */
  function position(input, value) {
    if (input.scale === "linear") return value;
    const above = stops(input).findIndex((stop) => stop > value);
    return (above < 0 ? stops(input).length : above) - 1;
  }

  /** The value for which the slider stands at this place. */
  function valueAt(input, place) {
    return input.scale === "linear" ? place : stops(input)[Math.trunc(place)];
  }

  /** The slider's first and last place. */
  function ends(input) {
    return input.scale === "linear" ? [input.min, input.max] : [0, stops(input).length - 1];
  }

  /** What a slider of two-digit values runs through, both ends included; ascending. */
  function stops(input) {
    const { min, max, decimals } = input;
    const first = min || input.from;
    const key = [min, first, max, decimals].join(" ");
    if (!known.has(key)) known.set(key, twoDigitValues(min, first, max, decimals));
    return known.get(key);
  }

  function twoDigitValues(low, first, high, decimals) {
    const found = new Set([low, high]);
    for (let power = -decimals - 1; Number(`1e${power}`) <= high; power += 1) {
      for (let digits = 10; digits < 100; digits += 1) {
        const value = Number(`${digits}e${power}`);
        if (first <= value && value <= high && Number(value.toFixed(decimals)) === value) found.add(value);
      }
    }
    return [...found].sort((a, b) => a - b);
  }

  Object.assign(T, { position, valueAt, ends, stops });
})((globalThis.TwoHalves ||= {}));
