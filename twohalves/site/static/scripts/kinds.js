/* The calculators there are: the twin of twohalves/show/calculator/kinds.py. */
(function (T) {
  "use strict";

  // by name in data/worksheet.json; each is a file of its own with compute, sentence, notes, picture
  const KINDS = { kv_cache: T.kvCache, latency: T.latency, roofline: T.roofline, worksheet: T.worksheet };

  /** Everything that a calculator shows for one set of accepted inputs. */
  function outcome(name, spec, values, rates) {
    const kind = KINDS[name];
    const results = kind.compute(values, rates);
    const texts = T.shown(spec, values, results);
    const sentence = kind.sentence(spec, values, texts, results);
    return {
      results, texts, sentence,
      notes: kind.notes(values, results, rates),
      picture: kind.picture(results, texts, sentence)
    };
  }

  Object.assign(T, { KINDS, outcome });
})((globalThis.TwoHalves ||= {}));
