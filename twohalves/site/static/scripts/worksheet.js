/* The worksheet of section 31.6: the twin of twohalves/show/calculator/worksheet.py. */
(function (T) {
  "use strict";

  const {
    bars, beyond, bill, chosen, decodeSeconds, hitRateThatPays, hitRateWorthTheOutput, line,
    machineHours, savedByCache, savedByHitRate, savedSeconds, ttftSeconds, uncached, withUnit
  } = T;
  const MILLION = 1000000;
  const [SHORTER_PROMPT, REACHED_HIT_RATE, SHORTER_ANSWER] = [0.5, 0.6, 0.3];

  function compute(values, rates) {
    const { prompt_tokens, output_tokens, hit_rate, write_share, requests } = values;
    const traffic = { prompt_tokens, output_tokens, hit_rate, write_share, requests };
    const prices = {
      uncached: values.price_uncached,
      cached: values.price_cached,
      written: values.price_written,
      output: values.price_output
    };
    const { curve } = chosen(values, rates);
    const time = timeOf(traffic, curve);
    const hours = machineHours(time.total_s, requests, values.at_once);
    const own = hours * values.machine_price;
    return {
      ...time,
      ...moneyOf(traffic, prices),
      ...leversOf(traffic, prices, curve),
      hit_pays: hitRateThatPays(prices, write_share),
      hit_worth_output: hitRateWorthTheOutput(traffic, prices),
      own_hours: hours,
      own_cost: own,
      own_million: (own / requests) * MILLION
    };
  }

  function timeOf(traffic, curve) {
    const prompt = traffic.prompt_tokens;
    const cached = prompt * traffic.hit_rate;
    const cold = ttftSeconds(curve, prompt);
    const warm = ttftSeconds(curve, prompt, cached);
    const decode = decodeSeconds(curve, prompt, traffic.output_tokens);
    return {
      ttft_s: warm,
      nocache_ttft_s: cold,
      decode_s: decode,
      total_s: warm + decode,
      nocache_total_s: cold + decode,
      prefill_share: part(warm, warm + decode) || 0,
      nocache_prefill_share: part(cold, cold + decode) || 0,
      saved_s: savedSeconds(curve, cached),
      skipped_tokens: cached,
      machine_hours: machineHours(warm + decode, traffic.requests),
      nocache_machine_hours: machineHours(cold + decode, traffic.requests)
    };
  }

  function moneyOf(traffic, prices) {
    const month = bill(traffic, prices);
    const without = bill(uncached(traffic), prices);
    const { prompt_tokens: prompt, output_tokens: output } = traffic;
    return {
      ...linesOf(month),
      nocache_cost_input: without.input,
      nocache_cost_total: without.total,
      cost_saved: savedByCache(traffic, prices),
      input_share: part(month.input, month.total),
      token_share: part(prompt, prompt + output),
      token_ratio: part(prompt, output),
      money_ratio: part(month.input, month.output),
      cost_request: month.total / traffic.requests,
      cost_million: (month.total / traffic.requests) * MILLION
    };
  }

  function linesOf(month) {
    return {
      uncached_tokens: month.tokens.uncached,
      cached_tokens: month.tokens.cached,
      written_tokens: month.tokens.written,
      answer_tokens: month.tokens.output,
      cost_uncached: month.uncached,
      cost_cached: month.cached,
      cost_written: month.written,
      cost_output: month.output,
      cost_input: month.input,
      cost_total: month.total
    };
  }

  /** What each would save on its own, from where the reader is: dollars a month, seconds. */
  function leversOf(traffic, prices, curve) {
    const month = bill(traffic, prices);
    const { prompt_tokens: prompt, output_tokens: output, hit_rate: hitRate } = traffic;
    const shorter = prompt * (1 - SHORTER_PROMPT);
    const brief = output * (1 - SHORTER_ANSWER);
    const reached = hitRate >= REACHED_HIT_RATE;
    const first = ttftSeconds(curve, prompt, prompt * hitRate);
    const decode = decodeSeconds(curve, prompt, output);
    return {
      lever_prompt: month.input * SHORTER_PROMPT,
      lever_cache: reached ? null : savedByHitRate(traffic, prices, REACHED_HIT_RATE),
      lever_answer: month.output * SHORTER_ANSWER,
      lever_prompt_s: first - ttftSeconds(curve, shorter, shorter * hitRate) +
        (decode - decodeSeconds(curve, shorter, output)),
      lever_cache_s: reached ? null : first - ttftSeconds(curve, prompt, prompt * REACHED_HIT_RATE),
      lever_answer_s: decode - decodeSeconds(curve, prompt, brief)
    };
  }

  function part(of, whole) {
    return whole ? of / whole : null;
  }

  function sentence(spec, values, texts, results) {
    const [prompt, output, , requests] = spec.inputs;
    const said = `${withUnit(prompt, values.prompt_tokens)} in and ${withUnit(output, values.output_tokens)} out take ` +
      `${texts.total_s}; ${texts.prefill_share} of it is prefill, the wait before the first token. `;
    const { cost_total: total, nocache_cost_total: without, skipped_tokens: skipped } = texts;
    const other = total === without ? "" : `; without the cache it would be ${without}`;
    const cost = `A month with ${withUnit(requests, values.requests)} costs ${total}${other}`;
    const charged = total === without ? "" : ", yet what is written to it is charged";
    if (!values.hit_rate) return `${said}Nothing comes from cache${charged}. ${cost}.`;
    const noun = skipped === "1" ? prompt.unit_one : prompt.unit;
    const saved = results.saved_s ? `and saves ${texts.saved_s}` : "but saves no time";
    return `${said}The cache skips ${skipped} ${noun} ${saved}. ${cost}.`;
  }

  function notes(values, results, rates) {
    const used = chosen(values, rates);
    const harm = results.cost_saved < 0 ? "With these prices the cache costs more than it saves." : "";
    return [beyond(used, values.prompt_tokens), harm, line(used)].filter(Boolean);
  }

  function picture(results, texts, told) {
    return bars([
      [`no cache: ${texts.nocache_total_s}`, results.nocache_ttft_s, results.decode_s],
      [`with cache: ${texts.total_s}`, results.ttft_s, results.decode_s]
    ], told);
  }

  T.worksheet = { compute, sentence, notes, picture };
})((globalThis.TwoHalves ||= {}));
