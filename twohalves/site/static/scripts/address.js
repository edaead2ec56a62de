/* A calculator's numbers in the address, so that a reader can send "my worksheet".
 *
 * #worksheet-prompt_tokens-890-hit_rate-0_6-rates-_own-curve-0_02-…-latency-output_tokens-53
 *
 * A calculator's key alone opens its part; after it stand ids, each with its value. A point is
 * written as "_", and a choice begins with one, so that the whole is also a valid selector: other
 * scripts look the hash up in the page. The numbers of the rates go along: whoever opens the link
 * has other runs.
 */
(function (T) {
  "use strict";

  const LONGEST_QUOTED = 20;
  const MOST_NAMED = 3;

  /** The parts by the calculators' keys, {latency: {output_tokens: "53"}}; none of another address.
   * A stop or bracket behind it belongs to the sentence that the link stood in.
   */
  function readAddress(hash, keys) {
    const parts = {};
    let text;
    try { text = decodeURIComponent(hash.replace(/^#|[.,;:!?)\]]+$/g, "")); } catch { return {}; }
    let part = null;
    for (const piece of text.split(/-(?=[a-z])/)) {
      const [id, value] = atFirstDash(piece);
      const opens = value === null;
      if (opens && keys.includes(id)) part = parts[id] ||= Object.create(null);
      else if (part) part[id] = value || "";
      else return {};
      if (opens && !keys.includes(id)) part = Object.create(null); // of a calculator that is not here
    }
    return parts;
  }

  function atFirstDash(piece) {
    const dash = piece.indexOf("-");
    return dash < 0 ? [piece, null] : [piece.slice(0, dash), piece.slice(dash + 1)];
  }

  /** The address of such parts; empty when there is nothing to keep. */
  function writeAddress(parts) {
    const pieces = [];
    for (const [key, part] of Object.entries(parts)) {
      const entries = Object.entries(part);
      if (entries.length) pieces.push(key, ...entries.map((entry) => entry.join("-")));
    }
    return pieces.length ? `#${pieces.join("-")}` : "";
  }

  /** What a part asks for, as take() understands it, and words on what is no input here. */
  function askedBy(part, spec, rates) {
    const asked = {};
    const unknown = [];
    for (const [id, text] of Object.entries(part)) {
      const input = spec.inputs.find((each) => each.id === id);
      if (input) asked[id] = input.kind === "choice" ? choice(input, text, rates) : text.replace("_", ".");
      else unknown.push(`“${id.slice(0, LONGEST_QUOTED)}”`);
    }
    return { asked, notes: unknown.length ? [passedOver(unknown)] : [] };
  }

  function passedOver(names) {
    const named = names.slice(0, MOST_NAMED).join(", ");
    const more = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : "";
    const none = names.length > 1 ? "which are no inputs here; they are" : "which is no input here; that is";
    return `The address sets ${named}${more}, ${none} passed over.`;
  }

  /**
   * The part that keeps every value, as soon as one differs from where the calculator began: a page
   * made from another run begins elsewhere, and the link must mean the same there.
   */
  function partOf(spec, values, start, rates) {
    const part = {};
    if (spec.inputs.every(({ id }) => values[id] === start[id])) return part;
    for (const { id, kind } of spec.inputs) {
      part[id] = kind === "choice" ? `_${selectable(values[id])}` : String(values[id]).replace(".", "_");
    }
    const set = T.chosen(values, rates);
    if (set) part.curve = T.curveText(set);
    return part;
  }

  function choice(input, text, rates) {
    const meant = text.replace(/^_/, "");
    const known = T.choices(input, rates).find(({ id }) => selectable(id) === meant);
    return known ? known.id : meant;
  }

  function selectable(id) {
    return id.replace(/[^A-Za-z0-9_]/g, "_");
  }

  Object.assign(T, { readAddress, writeAddress, askedBy, partOf });
})((globalThis.TwoHalves ||= {}));
