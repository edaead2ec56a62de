/* The rates that a link carries in numbers: its sender's run is not in the page of whoever opens it. */
(function (T) {
  "use strict";

  const [CURVE, MEASURED] = [T.CURVE, T.MEASURED].map((numbers) => numbers.map(([name]) => name));
  const LABEL = "the link's rates";
  const SOURCE = "numbers from the address, of no run that this page knows";

  /** A set's numbers, without its name, as an address holds them; unknown ones are empty. */
  function curveText(set) {
    const numbers = [...CURVE.map((name) => set.curve[name]), ...MEASURED.map((name) => set[name])];
    return numbers.map((each) => (each === null ? "" : T.plain(each).replace(".", "_"))).join("-");
  }

  /** A part without those numbers, and the choice of rates with them: {part, rates, notes}. */
  function withLinkedRates(part, rates) {
    const { curve, rates: asked = "", ...others } = part;
    if (curve === undefined) return { part, rates, notes: [] };
    const same = rates.filter((each) => curveText(each) === curve);
    const named = same.find(({ id }) => `_${id}` === asked) || same[0];
    if (named) return { part: { ...others, rates: named.id }, rates, notes: [] };
    const { set, note } = setOf(curve);
    if (note) return { part: others, rates, notes: [note] };
    return { part: { ...others, rates: set.id }, rates: [...rates.filter(({ id }) => id !== set.id), set], notes: [] };
  }

  /** The set that a text tells, or {note} on why there is none. */
  function setOf(text) {
    const given = text.split("-").map((each) => (each ? Number(each.replace("_", ".")) : null));
    const named = (names, from) => Object.fromEntries(names.map((name, number) => [name, given[from + number]]));
    const set = { id: "linked", label: LABEL, source: SOURCE, curve: named(CURVE, 0), ...named(MEASURED, CURVE.length) };
    const reason = given.length === CURVE.length + MEASURED.length ? wrong(set) : "they are not complete";
    return reason ? { note: `The rates in the address cannot be used: ${reason}.` } : { set };
  }

  function wrong({ curve, shortest, longest, off, requests }) {
    const reason = T.wrongCurve(curve, CURVE);
    if (reason) return reason;
    const counts = [shortest ?? 0, longest ?? 0, requests];
    if (!counts.every(T.isCount)) return "their measured lengths must be whole numbers from 0 on";
    return off === null ? "" : T.wrongError(off);
  }

  Object.assign(T, { curveText, withLinkedRates });
})((globalThis.TwoHalves ||= {}));
