/* How fast a machine reads and writes, with its error: the twin of twohalves/show/calculator/rates.py. */
(function (T) {
  "use strict";

  const { counted, fixed, share } = T;

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

  Object.assign(T, { chosen, line, beyond });
})((globalThis.TwoHalves ||= {}));
