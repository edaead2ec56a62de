/* What a month of requests costs: the twin of twohalves/formulas/cost.py, where every formula is
 * explained. The order of the operations is the same, so that the results are, to the last bit.
 */
(function (T) {
  "use strict";

  const MILLION = 1000000;
  const HOUR_S = 3600;
  const ALIKE = 1e-12; // what binary arithmetic leaves of a difference that is none is below this

  /** The same requests without a cache: nothing is read from it, nothing written. */
  function uncached(traffic) {
    return { ...traffic, hit_rate: 0, write_share: 0 };
  }

  /** Dollars per million prompt tokens that the cache did not hold, on average. */
  function missedPrice(prices, writeShare) {
    return prices.uncached + surcharge(prices, writeShare);
  }

  /** What of it is the charge for writing; below 0 where a written token is cheaper. */
  function surcharge(prices, writeShare) {
    return writeShare * (prices.written - prices.uncached);
  }

  /** A month's tokens and dollars, line by line. */
  function bill(traffic, prices) {
    const prompt = traffic.requests * traffic.prompt_tokens;
    const missed = prompt * (1 - traffic.hit_rate);
    const tokens = {
      uncached: missed * (1 - traffic.write_share),
      cached: prompt * traffic.hit_rate,
      written: missed * traffic.write_share,
      output: traffic.requests * traffic.output_tokens
    };
    const cost = (kind) => (tokens[kind] / MILLION) * prices[kind];
    const lines = { uncached: cost("uncached"), cached: cost("cached"), written: cost("written"), output: cost("output") };
    const input = lines.uncached + lines.cached + lines.written;
    return { tokens, ...lines, input, total: input + lines.output };
  }

  /** Dollars a month less than without a cache; below 0 where writes cost more than hits save. */
  function savedByCache(traffic, prices) {
    const missed = missedPrice(prices, traffic.write_share);
    const gain = traffic.hit_rate * (missed - prices.cached) - surcharge(prices, traffic.write_share);
    if (Math.abs(gain) <= ALIKE * (prices.uncached + prices.cached + prices.written)) return 0;
    return ((traffic.requests * traffic.prompt_tokens) / MILLION) * gain;
  }

  /** Dollars a month less at a higher hit rate; 0 if the traffic has it already. */
  function savedByHitRate(traffic, prices, hitRate) {
    const more = Math.max(0, hitRate - traffic.hit_rate);
    const prompt = traffic.requests * traffic.prompt_tokens;
    return (prompt / MILLION) * more * (missedPrice(prices, traffic.write_share) - prices.cached);
  }

  /** The hit rate from which a cache costs no more than none; null if no hit rate pays. */
  function hitRateThatPays(prices, writeShare) {
    const extra = surcharge(prices, writeShare);
    if (extra <= 0) return prices.cached <= prices.uncached ? 0 : null;
    if (prices.cached >= prices.uncached) return null;
    return extra / (missedPrice(prices, writeShare) - prices.cached);
  }

  /** The hit rate at which the cache saves as much as the whole output costs; null if none does. */
  function hitRateWorthTheOutput(traffic, prices) {
    const missed = missedPrice(prices, traffic.write_share);
    const gain = traffic.prompt_tokens * (missed - prices.cached);
    if (gain <= 0) return null;
    const extra = traffic.prompt_tokens * surcharge(prices, traffic.write_share);
    const rate = (traffic.output_tokens * prices.output + extra) / gain;
    return rate <= 1 + ALIKE ? Math.min(Math.max(0, rate), 1) : null;
  }

  /** Hours that a machine computes for a month of requests. */
  function machineHours(seconds, requests, atOnce = 1) {
    return (seconds * requests) / HOUR_S / atOnce;
  }

  Object.assign(T, {
    uncached, bill, savedByCache, savedByHitRate, hitRateThatPays, hitRateWorthTheOutput, machineHours
  });
})((globalThis.TwoHalves ||= {}));
