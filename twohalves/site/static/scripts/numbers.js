/* The one place where a number becomes text: the twin of twohalves/show/numbers.py.
 *
 * Halves round up, away from zero, on the decimal digits a reader would see (so 2.675 shows as
 * 2.68). toFixed would round the binary number instead, and shows 2.67.
 */
(function (T) {
  "use strict";

  const UNKNOWN = "not reported";
  const KEPT = 14; // products of decimal prices are off by a unit in the sixteenth digit or so

  /** The shortest decimal digits of a size and their exponent: 2.675 -> ["2675", -3]. */
  function shortest(value) {
    const [number, power] = String(Math.abs(value)).split("e");
    const [whole, part = ""] = number.split(".");
    const digits = (whole + part).replace(/^0+(?=\d)/, "");
    return [digits, Number(power || 0) - part.length];
  }

  /** digits * 10^exponent in steps of 10^step, halves up; the digits of the multiple. */
  function quantized([digits, exponent], step) {
    const shift = exponent - step;
    if (shift >= 0) return digits + "0".repeat(shift);
    const keep = digits.length + shift;
    const up = keep >= 0 && digits.charAt(keep) >= "5";
    return String(BigInt(digits.slice(0, Math.max(0, keep))) + (up ? 1n : 0n));
  }

  /** The digits that a reader would see, freed of the last binary ones. */
  function decimal(value) {
    const [digits, exponent] = shortest(value);
    if (digits.length <= KEPT) return [digits, exponent];
    const step = exponent + digits.length - KEPT;
    return [quantized([digits, exponent], step), step];
  }

  function positional(digits, decimals) {
    const padded = digits.padStart(decimals + 1, "0");
    return [padded.slice(0, padded.length - decimals), padded.slice(padded.length - decimals)];
  }

  /** A number with a fixed count of decimals and thousands separators. */
  function fixed(value, decimals = 0) {
    if (value === null) return UNKNOWN;
    if (!Number.isFinite(value)) throw new RangeError(`a number to show must be finite, got ${value}`);
    const digits = quantized(decimal(value), -decimals).replace(/^0+(?=\d)/, "");
    const [whole, part] = positional(digits, decimals);
    const sign = value < 0 && /[1-9]/.test(digits) ? "-" : "";
    return sign + whole.replace(/\B(?=(\d{3})+$)/g, ",") + (part && `.${part}`);
  }

  /** A number as somebody would type it: all its digits, no exponent. */
  function plain(value) {
    const [digits, exponent] = shortest(value);
    const [whole, part] = positional(quantized([digits, exponent], Math.min(exponent, 0)), Math.max(0, -exponent));
    const sign = value < 0 || Object.is(value, -0) ? "-" : "";
    return sign + whole + (part && `.${part}`);
  }

  /** A count with its noun, in the singular where it is one. */
  function counted(count, one) {
    return `${fixed(count)} ${one}${count === 1 ? "" : "s"}`;
  }

  /** A number with so many significant digits, never in exponent form. */
  function significant(value, digits = 3) {
    if (value === null || value === 0 || !Number.isFinite(value)) return fixed(value);
    const exact = decimal(value);
    const step = exact[0].length - 1 + exact[1] - digits + 1;
    const rounded = quantized(exact, step);
    const sign = value < 0 ? "-" : "";
    return fixed(Number(`${sign}${rounded}e${step}`), Math.max(0, digits - rounded.length - step));
  }

  /** Without zeros at the end of the decimals. */
  function trimmed(text) {
    return text.includes(".") ? text.replace(/0+$/, "").replace(/\.$/, "") : text;
  }

  /** A fraction as a percentage. */
  function percent(fraction, decimals = 0) {
    return fraction === null ? UNKNOWN : `${fixed(fraction * 100, decimals)}%`;
  }

  /** A duration in the unit that keeps three digits readable. */
  function seconds(value) {
    if (value === null) return UNKNOWN;
    const size = Math.abs(value);
    const sign = value < 0 ? "−" : "";
    if (size >= 1) return `${sign}${significant(size)} s`;
    const told = significant(size * 1000);
    return told === "1,000" ? `${sign}1.00 s` : `${sign}${told} ms`;
  }

  Object.assign(T, { fixed, plain, counted, significant, trimmed, percent, seconds });
})((globalThis.TwoHalves ||= {}));
