/* The calculator of section 31.3: the twin of twohalves/show/calculator/kv_cache.py. */
(function (T) {
  "use strict";

  const { amount, counted, fixed, number, withUnit } = T;
  const { FAINT, INK, PREFILL, box, inline, label, stroke } = T.svg;
  // numbers in a block, and bytes of the block: the twin of twohalves/formulas/kv_cache.py
  const KV_TYPES = {
    f32: [1, 4], f16: [1, 2], bf16: [1, 2],
    q8_0: [32, 34], q5_1: [32, 24], q5_0: [32, 22], q4_1: [32, 20], q4_0: [32, 18]
  };
  const [GB, GIB] = [1e9, 2 ** 30];
  const [WIDTH, HEIGHT, LEFT, TOP] = [360, 120, 4, 24];
  const ROOM = WIDTH - 2 * LEFT;
  const [FEWEST_BITS, MOST_BITS] = [1, 32];

  /** Bytes of a token and of the whole cache, what they leave of the memory, and what it holds. */
  function compute(values) {
    const token = tokenBytes(values);
    const cache = values.slots * (values.tokens * token);
    const weights = Math.round(values.weights_gb * GB);
    const [memory, margin] = [values.memory_gib, values.margin_gib].map((size) => Math.floor(size * GIB));
    const total = weights + cache + margin;
    const left = apart(memory, total);
    const missing = total > memory ? total - memory : null;
    return {
      token_bytes: token,
      token_kib: token / 1024,
      cache_gib: cache / GIB,
      cache_gb: cache / GB,
      weights_gib: weights / GIB,
      margin_gb: margin / GB,
      estimate_gib: marginBytes(values.tokens, values.slots, weights) / GIB,
      total_gib: total / GIB,
      total_gb: total / GB,
      memory_gb: memory / GB,
      left_gib: over(left, GIB),
      left_gb: over(left, GB),
      missing_gib: over(missing, GIB),
      missing_gb: over(missing, GB),
      ratio: weights ? cache / weights : null,
      longest_tokens: most(memory - margin - weights, values.slots * token),
      most_slots: most(memory - margin - weights, values.tokens * token),
      ...bits(weights, apart(memory - margin, cache), values.parameters_b)
    };
  }

  /** The file that has room beside the cache, and what it and the present one give a weight. */
  function bits(weights, room, billions) {
    const each = billions ? 8 / (billions * GB) : null;
    return {
      largest_file_gb: over(room, GB),
      file_bits: each === null ? null : weights * each,
      most_bits: each === null || room === null ? null : room * each
    };
  }

  /** Room to compute in: the twin of margin_bytes in twohalves/formulas/memory.py. */
  function marginBytes(tokens, slots, weights) {
    const cells = Math.ceil((tokens + 1) / 256) * 256;
    return slots * cells * 1024 + 176 * 1024 ** 2 + Math.round(0.05 * weights);
  }

  function apart(more, less) {
    return more >= less ? more - less : null;
  }

  function tokenBytes(values) {
    const [block, size] = KV_TYPES[values.cache_type];
    const row = Math.ceil((values.kv_heads * values.head_dim) / block) * size;
    return 2 * row * values.layers;
  }

  function over(bytes, unit) {
    return bytes === null ? null : bytes / unit;
  }

  function most(room, each) {
    return room >= 0 ? Math.floor(room / each) : null;
  }

  /** What a token takes, what the context takes, and whether it fits. */
  function sentence(spec, values, texts, results) {
    const tokens = spec.inputs.find((input) => input.id === "tokens");
    const times = values.slots === 1 ? "" : `${texts.slots} times `;
    const verb = values.tokens === 1 && values.slots === 1 ? "takes" : "take";
    const compared = results.ratio === null ? "" : `, ${texts.ratio} times the weights`;
    const verdict = results.left_gb === null
      ? `they do not fit, ${texts.missing_gb} GB are missing`
      : `they fit, and ${texts.left_gb} GB are left`;
    return `A token takes ${texts.token_kib} KiB. ${times}${withUnit(tokens, values.tokens)} of context ${verb} ` +
      `${texts.cache_gib} GiB (${texts.cache_gb} GB)${compared}. Weights, cache and margin take ` +
      `${texts.total_gb} GB of ${texts.memory_gb} GB: ${verdict}.`;
  }

  /** Where rows are padded or refused, and what is not counted. */
  function notes(values, results) {
    const { cache_type: type, head_dim: width } = values;
    const [block] = KV_TYPES[type];
    const row = values.kv_heads * width;
    const found = [];
    if (row % block) {
      const blocks = Math.ceil(row / block);
      found.push(`Padded: the ${counted(row, "number")} of a layer's keys fill ${counted(blocks, "block")} of ` +
        `${block}; ${counted(blocks * block - row, "place")} in them stay empty and are counted.`);
    }
    if (width % block) {
      found.push(`llama.cpp refuses a cache of type ${type} for heads ${fixed(width)} wide: ` +
        `its blocks hold ${block} numbers of one head.`);
    }
    found.push(...doubts(values, results), "1 GB is a billion bytes, 1 GiB is 2^30 bytes, or 1.074 GB.");
    return found;
  }

  /** A margin that is small for such a model, and a file that does not go with its parameters. */
  function doubts(values, results) {
    const { estimate_gib: estimate, file_bits: each } = results;
    const found = [];
    if (values.margin_gib < estimate) {
      found.push(`The margin is small: engines were seen to need about ${amount(estimate)} GiB beside ` +
        "such weights and context.");
    }
    if (each && !(FEWEST_BITS <= each && each <= MOST_BITS)) {
      found.push(`${number(each)} bits for a weight are unusual: do file and parameters belong to the ` +
        "same model?");
    }
    return found;
  }

  /** One bar: broad weights, a narrower cache, a thin margin, the memory as a frame around it. */
  function picture(results, texts, said) {
    const { total_gb: total, memory_gb: memory, cache_gb: cache, margin_gb: margin } = results;
    const scale = ROOM / Math.max(total, memory);
    const weights = (total - cache - margin) * scale;
    const foot = TOP + 36;
    const verdict = results.left_gb === null
      ? `too small by ${texts.missing_gb} GB`
      : `${texts.left_gb} GB left`;
    const told = `weights ${texts.weights_gb}, cache ${texts.cache_gb}`;
    const parts = [
      label(LEFT, 15, `${told}, margin ${texts.margin_gb} GB`),
      box(LEFT, TOP + 4, weights, 22, FAINT),
      box(LEFT + weights, TOP + 8, cache * scale, 14, PREFILL),
      box(LEFT + weights + cache * scale, TOP + 12, margin * scale, 6, INK),
      frame(LEFT, TOP, memory * scale, 30),
      label(LEFT, foot + 12, `memory ${texts.memory_gb} GB: ${verdict}`),
      box(LEFT, foot + 34, 14, 14, FAINT), label(LEFT + 20, foot + 46, "weights"),
      box(LEFT + 84, foot + 37, 14, 8, PREFILL), label(LEFT + 104, foot + 46, "cache"),
      box(LEFT + 156, foot + 39, 14, 4, INK), label(LEFT + 176, foot + 46, "margin"),
      frame(LEFT + 238, foot + 34, 14, 14), label(LEFT + 258, foot + 46, "memory")
    ];
    return inline("memory", WIDTH, HEIGHT, said, parts);
  }

  function frame(x, y, width, height) {
    const [right, low] = [x + width, y + height];
    return stroke([[x, y], [right, y], [right, low], [x, low], [x, y]]);
  }

  T.kvCache = { compute, sentence, notes, picture };
})((globalThis.TwoHalves ||= {}));
