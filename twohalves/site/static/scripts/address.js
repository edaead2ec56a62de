/* A calculator's numbers in the address, so that a reader can send "my worksheet".
 *
 * #worksheet-prompt_tokens-890-hit_rate-0_6-rates-_own-latency-output_tokens-53
 *
 * A calculator's key alone opens its part; after it stand ids, each with its value. A point is
 * written as "_", and a choice begins with one, so that the whole is also a valid selector: other
 * scripts look the hash up in the page.
 */
(function (T) {
  "use strict";

  const LONGEST_QUOTED = 20;

  /** The parts by the calculators' keys, {latency: {output_tokens: "53"}}; none of another address. */
  function readAddress(hash, keys) {
    const parts = {};
    let text;
    try { text = decodeURIComponent(hash.replace(/^#/, "")); } catch { return {}; }
    let part = null;
    for (const piece of text.split(/-(?=[a-z])/)) {
      const [id, value] = atFirstDash(piece);
      if (value === null && keys.includes(id)) part = parts[id] ||= Object.create(null);
      else if (part) part[id] = value || "";
      else return {};
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
    const notes = [];
    for (const [id, text] of Object.entries(part)) {
      const input = spec.inputs.find((each) => each.id === id);
      if (input) asked[id] = input.kind === "choice" ? choice(input, text, rates) : text.replace("_", ".");
      else notes.push(`The address sets “${id.slice(0, LONGEST_QUOTED)}”, which is no input here; that is passed over.`);
    }
    return { asked, notes };
  }

  /**
   * The part that keeps every value, as soon as one differs from where the calculator began: a page
   * made from another run begins elsewhere, and the link must mean the same there.
   */
  function partOf(spec, values, start) {
    const part = {};
    if (spec.inputs.every(({ id }) => values[id] === start[id])) return part;
    for (const { id, kind } of spec.inputs) {
      part[id] = kind === "choice" ? `_${selectable(values[id])}` : String(values[id]).replace(".", "_");
    }
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
