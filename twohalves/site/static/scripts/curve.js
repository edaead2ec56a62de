/* Seconds of the two halves from fitted curves: the twin of FittedLatency in
 * twohalves/formulas/latency.py, where every formula is explained. The order of the operations is
 * the same, so that the results are the same to the last bit.
 */
(function (T) {
  "use strict";

  /** Seconds to the first token of n prompt tokens, k of them from cache. */
  function ttftSeconds(curve, n, k = 0) {
    const cold = curve.t0_s + n * (curve.a_s + curve.b_s * n);
    if (!k) return cold;
    const left = (n - k) * (curve.a_s + curve.b_s * (n + k));
    return Math.min(cold, curve.t0_s + curve.warm_s + left);
  }

  /** Seconds that the k cached tokens at a prompt's beginning save, never below 0. */
  function savedSeconds(curve, k) {
    return Math.max(0, k * (curve.a_s + curve.b_s * k) - curve.warm_s);
  }

  /** Seconds from the first token to the last. */
  function decodeSeconds(curve, promptTokens, outputTokens) {
    const steps = Math.max(outputTokens - curve.free_tokens, 0);
    return steps * (curve.c_s + curve.d_s * (promptTokens + outputTokens / 2));
  }

  Object.assign(T, { ttftSeconds, savedSeconds, decodeSeconds });
})((globalThis.TwoHalves ||= {}));
