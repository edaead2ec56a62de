/* The rates of a run of the reader's own, out of the session.json that they pick. */
(function (T) {
  "use strict";

  const CURVE = ["t0_s", "a_s", "b_s", "c_s", "d_s"];
  const [SHORTEST_S, LONGEST_S] = [1e-18, 1e6]; // beyond these the arithmetic would leave the numbers there are
  const MOST_OFF = 1e6; // a fraction
  const MOST_BYTES = 4e6; // what a run keeps of itself is a small part of that
  const WHERE = "Choose session.json in the folder of a run: data/runs/<run>/session.json.";

  /** What a picked file holds: as readSession says it, or {note} where it cannot be read at all. */
  async function readPicked(file) {
    if (file.size > MOST_BYTES) return { note: `This file is too large for a session.json. ${WHERE}` };
    try { return readSession(await file.text()); } catch { return { note: `This file cannot be read. ${WHERE}` }; }
  }

  /** A set of rates {set}, or {note} on why there is none. */
  function readSession(text) {
    let session;
    try { session = JSON.parse(text); } catch { return { note: `This file is not JSON. ${WHERE}` }; }
    const run = session && session.run_id;
    if (typeof run !== "string" || !/^[A-Za-z0-9][\w.-]{0,199}$/.test(run)) {
      return { note: `This file names no run. ${WHERE}` };
    }
    const reason = wrong(session.fit);
    return reason ? { note: `The rates of run ${run} cannot be used: ${reason}.` } : { set: setOf(run, session.fit) };
  }

  /** What is wrong with a fit; empty when it can be used. */
  function wrong(fit) {
    if (fit === null || typeof fit !== "object") return "its session.json holds no fitted rates";
    const reason = wrongCurve(fit, CURVE);
    if (reason) return reason;
    const { shortest, longest, off = null, requests } = fit;
    if (![shortest, longest, requests].every(isCount) || shortest > longest) {
      return "they do not say how many and which prompt lengths were measured";
    }
    return off === null ? "" : wrongError(off);
  }

  function wrongCurve(curve, names) {
    const bad = names.find((name) => !isSize(curve[name]));
    if (bad) return `${bad} must be a number from 0 on`;
    const far = names.find((name) => curve[name] && (curve[name] < SHORTEST_S || curve[name] > LONGEST_S));
    if (far) return `${far} is no time that a machine takes`;
    return CURVE.every((name) => curve[name] === 0) ? "all of them are 0" : "";
  }

  function wrongError(off) {
    if (!isSize(off)) return "their error must be a number from 0 on";
    return off > MOST_OFF ? "their error is larger than any that was measured" : "";
  }

  function isSize(value) {
    return typeof value === "number" && Number.isFinite(value) && value >= 0;
  }

  function isCount(value) {
    return Number.isSafeInteger(value) && value >= 0;
  }

  function setOf(run, fit) {
    const { shortest, longest, requests, off = null } = fit;
    const curve = { warm_s: 0, free_tokens: 1 };
    for (const name of CURVE) curve[name] = fit[name];
    return { id: "picked", label: "the run you picked", source: `run ${run}`, curve, shortest, longest, off, requests };
  }

  Object.assign(T, { isCount, readPicked, readSession, wrongCurve, wrongError });
})((globalThis.TwoHalves ||= {}));
