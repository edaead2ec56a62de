/* The calculator of section 31.1: the twin of twohalves/show/calculator/latency.py. */
(function (T) {
  "use strict";

  const { bars, beyond, chosen, decodeSeconds, line, ttftSeconds, withUnit } = T;

  function compute(values, rates) {
    const { curve } = chosen(values, rates);
    const prefill = ttftSeconds(curve, values.prompt_tokens);
    const decode = decodeSeconds(curve, values.prompt_tokens, values.output_tokens);
    const total = prefill + decode;
    return { prefill_s: prefill, decode_s: decode, total_s: total, prefill_share: total ? prefill / total : 0 };
  }

  function sentence(spec, values, texts) {
    const [prompt, output] = spec.inputs;
    return `${withUnit(prompt, values.prompt_tokens)} in and ${withUnit(output, values.output_tokens)} out take ` +
      `${texts.total_s}: ${texts.prefill_s} to read and ${texts.decode_s} to write; ` +
      `${texts.prefill_share} of the time is prefill.`;
  }

  function notes(values, results, rates) {
    const used = chosen(values, rates);
    return [beyond(used, values.prompt_tokens), line(used)].filter(Boolean);
  }

  function picture(results, texts, told) {
    const label = `${texts.prefill_s} prefill, ${texts.decode_s} decode`;
    return bars([[label, results.prefill_s, results.decode_s]], told);
  }

  T.latency = { compute, sentence, notes, picture };
})((globalThis.TwoHalves ||= {}));
