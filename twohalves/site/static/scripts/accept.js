/* What a reader or a link asked for, made usable, with a word where it was changed: the twin of
 * twohalves/show/calculator/accept.py.
 */
(function (T) {
  "use strict";

  const { fixed, per, plain, said, trimmed } = T;
  const PLAIN = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d{1,4})?$/i;
  const THOUSANDS = /^[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?$/;
  const DECIMAL_COMMA = /^[+-]?\d+,\d+$/;
  const LONGEST_QUOTED = 20;
  // what Python calls space; the two differ in a few control characters
  const AROUND = /^(?:(?!\ufeff)\s|[\x1c-\x1f\x85])+|(?:(?!\ufeff)\s|[\x1c-\x1f\x85])+$/g;

  /** Make a number of what was asked for; the previous one is kept where that cannot be.
   *
   * A comma is read as thousands where it stands before groups of three digits, else as the
   * decimal point. Of a fraction, anything from above 1 to 100 is read as a percentage.
   */
  function acceptNumber(input, asked, previous) {
    const text = textOf(asked).replaceAll("\u2212", "-");
    const { number, readAs } = read(input, text);
    if (number === null) {
      const what = text ? `${quoted(text)} is not a number` : "nothing was entered";
      return { value: previous, note: `${input.label}: ${what}; ${used(input, previous)}.` };
    }
    if (!(input.min <= number && number <= input.max)) {
      const [limit, where] = number < input.min ? [input.min, "below the smallest"] : [input.max, "above the largest"];
      const told = `${quoted(text)} is ${where} value; ${used(input, limit)}.`;
      return { value: limit, note: `${input.label}: ${told}${doubt(input, number)}` };
    }
    const rounded = Number(fixed(number, input.decimals).replaceAll(",", ""));
    const value = Math.min(Math.max(input.min, rounded), input.max);
    return { value, note: remark(input, value, number, readAs) };
  }

  /** Take a choice that exists; the previous one is kept where it does not. */
  function acceptChoice(input, asked, known, previous) {
    const text = textOf(asked);
    if (known.includes(text)) return { value: text, note: "" };
    const told = text ? `${quoted(text)} is not among the choices` : "nothing was chosen";
    return { value: previous, note: `${input.label}: ${told}.` };
  }

  function textOf(asked) {
    if (asked === null || asked === undefined) return "";
    if (Number.isFinite(asked)) return plain(asked);
    return String(asked).replace(AROUND, "");
  }

  /** The number in a text, and what it was taken for if that is worth a word. */
  function read(input, text) {
    const percent = Boolean(input.percent) && text.endsWith("%");
    let digits = percent ? text.slice(0, -1).replace(AROUND, "") : text;
    let readAs = "";
    if (THOUSANDS.test(digits)) {
      digits = digits.replaceAll(",", "");
      readAs = input.decimals ? "read" : "";
    } else if (DECIMAL_COMMA.test(digits)) {
      digits = digits.replace(",", ".");
      readAs = "read";
    }
    if (!PLAIN.test(digits)) return { number: null, readAs: "" };
    const number = Number(digits);
    if (input.percent && (percent || (number > 1 && number <= 100))) {
      return { number: number / 100, readAs: percent ? "" : "read" };
    }
    return { number, readAs };
  }

  function remark(input, value, number, readAs) {
    const text = said(input, value);
    const asking = doubt(input, number);
    if (readAs) return `${input.label}: read as ${text}.${asking}`;
    if (value !== number) return `${input.label}: rounded to ${text}.${asking}`;
    return asking && `${input.label}: ${text} ${per(input.unit)} is unusual.${asking}`;
  }

  /** A question where a number is far from what the input usually is; 0 is meant. */
  function doubt(input, number) {
    const [low, high] = input.plausible || [0, Infinity];
    return number <= 0 || (low <= number && number <= high) ? "" : " Is the unit right?";
  }

  function quoted(text) {
    return `“${Array.from(text).slice(0, LONGEST_QUOTED).join("")}”`;
  }

  function used(input, value) {
    return `${trimmed(fixed(value, input.decimals))} is used`;
  }

  Object.assign(T, { acceptNumber, acceptChoice });
})((globalThis.TwoHalves ||= {}));
