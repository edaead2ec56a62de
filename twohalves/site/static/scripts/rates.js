/* How fast a machine reads and writes, with its error: the twin of twohalves/show/calculator/rates.py. */
(function (T) {
  "use strict";

  const { counted, fixed, share } = T;
  // the numbers of a set: names, labels, units
  const CURVE = [
    ["t0_s", "Before anything is read", "s"],
    ["a_s", "For each prompt token", "s per token"],
    ["b_s", "For each prompt token squared", "s per token squared"],
    ["c_s", "For each step of decode", "s per step"],
    ["d_s", "For each step and token of context", "s per step and token"],
    ["warm_s", "More for a prompt that comes partly from cache", "s"],
    ["free_tokens", "Output tokens that cost no step", "tokens"]
  ];
  const MEASURED = [
    ["shortest", "Shortest measured prompt", "tokens"],
    ["longest", "Longest measured prompt", "tokens"],
    ["off", "Largest error on what was measured", "fraction"],
    ["requests", "Measured lengths", "lengths"]
  ];

  /** The set that the input `rates` names. */
  function chosen(values, rates) {
    return rates.find((each) => each.id === values.rates);
  }

  /** Whose rates are used, and by how much they miss what was measured. */
  function line(rates) {
    const named = `Rates: ${rates.label} (${rates.source})`;
    if (rates.off === null) return `${named}.`;
    return `${named}; at most ${share(rates.off)} off on ${counted(rates.requests, "measured length")}.`;
  }

  /** A warning where a prompt is longer or shorter than any that was measured; else nothing. */
  function beyond(rates, promptTokens) {
    if (rates.longest !== null && promptTokens > rates.longest) {
      return `Extrapolated: the longest measured prompt has ${fixed(rates.longest)} tokens.`;
    }
    if (rates.shortest !== null && promptTokens < rates.shortest) {
      return `Extrapolated: the shortest measured prompt has ${fixed(rates.shortest)} tokens.`;
    }
    return "";
  }

  Object.assign(T, { CURVE, MEASURED, chosen, line, beyond });
})((globalThis.TwoHalves ||= {}));
