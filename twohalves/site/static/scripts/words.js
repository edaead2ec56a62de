/* How a calculator says its numbers: the twin of twohalves/show/calculator/words.py. */
(function (T) {
  "use strict";

  const { fixed, percent, seconds, significant, trimmed } = T;
  const MILLION = 1000000;
  const WHOLE_DOLLARS = 99.995; // from here on cents are left out

  /** A share that never shows as none or all of something that has a little of both. */
  function share(fraction) {
    if (fraction > 0 && fraction < 0.001) return "<0.1%";
    if (fraction > 0.999 && fraction < 1) return ">99.9%";
    return percent(fraction, 1);
  }

  /** A fraction as a percentage with the four decimals that a reader can set. */
  function exactPercent(fraction) {
    if (fraction > 0 && fraction < 0.00005) return "<0.01%";
    if (fraction >= 0.99995 && fraction < 1) return ">99.99%";
    return `${trimmed(fixed(fraction * 100, 2))}%`;
  }

  /** A number that somebody set, to three decimals, without zeros that say nothing. */
  function exact(value) {
    return trimmed(fixed(value, 3));
  }

  /** Three significant digits, without zeros that say nothing. */
  function number(value) {
    return trimmed(significant(value));
  }

  /** A quantity: whole from a hundred on, else three significant digits. */
  function amount(value) {
    return value >= 100 ? fixed(value) : number(value);
  }

  /** A count in millions. */
  function millions(value) {
    return `${amount(value / MILLION)} M`;
  }

  /** Money: whole dollars from a hundred on, cents below, four digits of what is less than one. */
  function dollars(value) {
    const size = Math.abs(value);
    const sign = value < 0 ? "−" : "";
    if (size === 0) return "$0";
    if (size >= WHOLE_DOLLARS) return `${sign}$${fixed(size)}`;
    if (size >= 1) return `${sign}$${fixed(size, 2)}`;
    const [whole, rest = ""] = trimmed(significant(size, 4)).split(".");
    return `${sign}$${whole}.${rest.padEnd(2, "0")}`;
  }

  const FORMATS = { amount, count: fixed, dollars, exact, millions, number, percent: exactPercent, seconds, share };

  /** The unit as it follows a number that may carry the sign of the dollar. */
  function per(unit) {
    return unit.replace(/^dollars /, "");
  }

  /** A value of an input as it is said: with its unit, in the singular where it is one. */
  function withUnit(input, value) {
    const unit = value === 1 && "unit_one" in input ? input.unit_one : input.unit;
    const text = said(input, value);
    return `${text} ${text.startsWith("$") ? per(unit) : unit}`;
  }

  /** A value in the format of its input or output. */
  function said(described, value) {
    return FORMATS[described.format](value);
  }

  /** All outputs and all numeric inputs as they are shown, by their ids. */
  function shown(spec, values, results) {
    const texts = {};
    for (const input of spec.inputs) {
      const value = values[input.id];
      if (typeof value !== "string") texts[input.id] = said(input, value);
    }
    for (const output of spec.outputs) {
      const result = results[output.id];
      texts[output.id] = result === null ? output.none : said(output, result);
    }
    return texts;
  }

  Object.assign(T, { share, exactPercent, exact, number, amount, millions, dollars, per, said, withUnit, shown });
})((globalThis.TwoHalves ||= {}));
