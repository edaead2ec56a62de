/* The calculator of section 31.4: the twin of twohalves/show/calculator/roofline.py. */
(function (T) {
  "use strict";

  const { counted } = T;
  const { DECODE, FAINT, PREFILL, box, inline, label } = T.svg;
  const [TERA, GIGA, KIB] = [1e12, 1e9, 1024];
  const [WIDTH, HEIGHT, LEFT] = [360, 148, 4];
  const ROOM = WIDTH - 2 * LEFT;

  /** Intensities, the batches at which each limit is met, and the step of this one. */
  function compute(values) {
    const [peak, bandwidth] = [values.peak_tflop_s * TERA, values.bandwidth_gb_s * GIGA];
    const model = { parameters: values.parameters_b * GIGA, bits: values.bits };
    const cache = values.context_tokens * values.token_kib * KIB;
    const weights = model.parameters * model.bits / 8;
    const [users, ridge] = [values.users, peak / bandwidth];
    const [work, one] = [decodeStep(model, users, cache), decodeStep(model, 1, cache)];
    const seconds = (each) => Math.max(each.flop / peak, each.bytes / bandwidth);
    const [took, intensity] = [seconds(work), work.flop / work.bytes];
    return {
      ridge,
      intensity_weights: 16 * users / model.bits,
      intensity,
      batch_ridge: ridge * model.bits / 16,
      batch_ridge_cache: withCache(ridge, model, cache),
      batch_memory: fit(values.memory_gb * GIGA, weights, cache),
      batch_limit: within(values.limit_ms / 1000, peak, bandwidth, one, cache),
      weights_gb: weights / GIGA,
      caches_gb: users * cache / GIGA,
      memory_s: work.bytes / bandwidth,
      arithmetic_s: work.flop / peak,
      step_s: took,
      slower: took / seconds(one),
      each_tok_s: 1 / took,
      all_tok_s: users / took,
      busy: Math.min(peak, intensity * bandwidth) / peak
    };
  }

  function decodeStep(model, batch, cache) {
    return {
      flop: batch * (2 * model.parameters),
      bytes: model.parameters * model.bits / 8 + batch * cache
    };
  }

  function withCache(ridge, model, cache) {
    const gained = 2 * model.parameters - ridge * cache;
    return gained > 0 ? ridge * model.parameters * model.bits / 8 / gained : null;
  }

  function fit(memory, weights, cache) {
    return memory >= weights ? Math.max(0, Math.floor((memory - weights) / cache)) : null;
  }

  function within(limit, peak, bandwidth, one, cache) {
    const room = limit * bandwidth - (one.bytes - cache);
    return room < 0 ? 0 : Math.floor(Math.min(limit * peak / one.flop, room / cache));
  }

  /** What the step waits for, what each and all get, and whether they fit. */
  function sentence(spec, values, texts, results) {
    const waits = results.memory_s >= results.arithmetic_s ? "memory" : "arithmetic";
    const shared = values.users === 1 ? "" : `, ${texts.slower} times that of one user`;
    return `A step of ${counted(values.users, "user")} takes ${texts.step_s}${shared}, and waits for ${waits}. ` +
      `${pace(values, texts)} ${room(values, texts, results)}`;
  }

  function pace(values, texts) {
    if (values.users === 1) return `That is ${texts.each_tok_s} tok/s at most.`;
    return `Each gets ${texts.each_tok_s} tok/s at most, together ${texts.all_tok_s}.`;
  }

  function room(values, texts, results) {
    if (results.batch_memory === null) {
      return `But weights of ${texts.weights_gb} GB do not fit into ${texts.memory_gb} GB.`;
    }
    const verdict = values.users > results.batch_memory ? "But not all of the caches fit" : "All caches fit";
    return `${verdict}: ${texts.memory_gb} GB hold weights and ${counted(results.batch_memory, "cache")}.`;
  }

  /** Promises that are missed, and what is not counted. */
  function notes(values, results) {
    const found = [];
    if (values.users > results.batch_limit) {
      found.push("With so many users a step takes longer than the next token may.");
    }
    if (results.batch_ridge_cache === null) {
      found.push("With this context no batch reaches the ridge: each user adds more reading than arithmetic.");
    }
    found.push("A chip at its limits, which none is: steps are floors, tokens a second ceilings.");
    found.push("Attention's own arithmetic and the reading of prompts are not in it.");
    return found;
  }

  /** Two bars: what memory needs for a step, weights then caches, and what arithmetic needs. */
  function picture(results, texts, told) {
    const scale = ROOM / Math.max(results.memory_s, results.arithmetic_s);
    const read = results.memory_s * scale;
    const split = read * (results.weights_gb / (results.weights_gb + results.caches_gb));
    const parts = [
      label(LEFT, 16, `reading: ${texts.memory_s}`),
      box(LEFT, 22, split, 18, FAINT),
      box(LEFT + split, 22, read - split, 18, PREFILL),
      label(LEFT, 66, `arithmetic: ${texts.arithmetic_s}`),
      box(LEFT, 72, results.arithmetic_s * scale, 18, DECODE),
      box(LEFT, 116, 14, 14, FAINT), label(LEFT + 20, 128, "weights"),
      box(LEFT + 90, 116, 14, 14, PREFILL), label(LEFT + 110, 128, "caches"),
      box(LEFT + 176, 116, 14, 14, DECODE), label(LEFT + 196, 128, "arithmetic")
    ];
    return inline("roofline", WIDTH, HEIGHT, told, parts);
  }

  T.roofline = { compute, sentence, notes, picture };
})((globalThis.TwoHalves ||= {}));
