/* The calculator of section 31.3: the twin of twohalves/show/calculator/kv_cache.py. */
(function (T) {
  "use strict";

  const { counted, fixed, withUnit } = T;
  const { FAINT, FONT, PREFILL, box, escaped, label, stroke } = T.svg;
  // numbers in a block, and bytes of the block: the twin of twohalves/formulas/kv_cache.py
  const KV_TYPES = {
    f32: [1, 4], f16: [1, 2], bf16: [1, 2],
    q8_0: [32, 34], q5_1: [32, 24], q5_0: [32, 22], q4_1: [32, 20], q4_0: [32, 18]
  };
  const [GB, GIB] = [1e9, 2 ** 30];
  const [WIDTH, HEIGHT, LEFT, TOP] = [360, 120, 4, 24];
  const ROOM = WIDTH - 2 * LEFT;

  /** Bytes of a token and of the whole cache, and what they leave of the memory. */
  function compute(values) {
    const token = tokenBytes(values);
    const cache = values.slots * (values.tokens * token);
    const weights = Math.round(values.weights_gb * GB);
    const memory = Math.floor(values.memory_gib * GIB);
    const total = weights + cache;
    const left = memory >= total ? memory - total : null;
    const missing = total > memory ? total - memory : null;
    return {
      token_bytes: token,
      token_kib: token / 1024,
      cache_gib: cache / GIB,
      cache_gb: cache / GB,
      weights_gib: weights / GIB,
      total_gib: total / GIB,
      total_gb: total / GB,
      memory_gb: memory / GB,
      left_gib: over(left, GIB),
      left_gb: over(left, GB),
      missing_gib: over(missing, GIB),
      missing_gb: over(missing, GB),
      ratio: weights ? cache / weights : null,
      longest_tokens: longest(memory - weights, values.slots * token)
    };
  }

  function tokenBytes(values) {
    const [block, size] = KV_TYPES[values.cache_type];
    const row = Math.ceil((values.kv_heads * values.head_dim) / block) * size;
    return 2 * row * values.layers;
  }

  function over(bytes, unit) {
    return bytes === null ? null : bytes / unit;
  }

  function longest(room, each) {
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
      `${texts.cache_gib} GiB (${texts.cache_gb} GB)${compared}. Weights and cache take ` +
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
    if (results.left_gb !== null) found.push("Activations and the server itself need some of what is left.");
    found.push("1 GB is a billion bytes, 1 GiB is 2^30 bytes, or 1.074 GB.");
    return found;
  }

  /** One bar: broad weights, a narrower cache, and the memory as a frame around both. */
  function picture(results, texts, told) {
    const scale = ROOM / Math.max(results.total_gb, results.memory_gb);
    const weights = (results.total_gb - results.cache_gb) * scale;
    const foot = TOP + 36;
    const verdict = results.left_gb === null
      ? `too small by ${texts.missing_gb} GB`
      : `${texts.left_gb} GB left`;
    const parts = [
      label(LEFT, 15, `weights ${texts.weights_gb} GB, cache ${texts.cache_gb} GB`),
      box(LEFT, TOP + 4, weights, 22, FAINT),
      box(LEFT + weights, TOP + 8, results.cache_gb * scale, 14, PREFILL),
      frame(LEFT, TOP, results.memory_gb * scale, 30),
      label(LEFT, foot + 12, `memory ${texts.memory_gb} GB: ${verdict}`),
      box(LEFT, foot + 34, 14, 14, FAINT), label(LEFT + 20, foot + 46, "weights"),
      box(LEFT + 90, foot + 37, 14, 8, PREFILL), label(LEFT + 110, foot + 46, "cache"),
      frame(LEFT + 166, foot + 34, 14, 14), label(LEFT + 186, foot + 46, "memory")
    ];
    return `<svg class="th-figure th-memory" role="img" viewBox="0 0 ${WIDTH} ${HEIGHT}" ` +
      `width="${WIDTH}" height="${HEIGHT}" font-family="${escaped(FONT)}" ` +
      `font-size="14"><title>${escaped(told)}</title>${parts.join("")}</svg>`;
  }

  function frame(x, y, width, height) {
    const [right, low] = [x + width, y + height];
    return stroke([[x, y], [right, y], [right, low], [x, low], [x, y]]);
  }

  T.kvCache = { compute, sentence, notes, picture };
})((globalThis.TwoHalves ||= {}));
