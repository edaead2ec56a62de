/* The calculators' picture: the twin of twohalves/show/calculator/bars.py, the same characters. */
(function (T) {
  "use strict";

  const { fixed, trimmed } = T;
  const { DECODE, PREFILL, box, inline, label, stroke } = T.svg;
  const [WIDTH, LEFT, PITCH] = [360, 4, 46];
  const ROOM = WIDTH - 2 * LEFT;
  const MOST_TICKS = 5;

  /** A whole SVG: rows of [label, seconds of prefill, seconds of decode]; the longest fills the width. */
  function bars(rows, told) {
    const longest = Math.max(...rows.map(([, prefill, decode]) => prefill + decode));
    const scale = longest ? ROOM / longest : 0;
    const foot = PITCH * rows.length + 8;
    const parts = axis(longest, scale, foot);
    rows.forEach(([text, prefill, decode], number) => {
      parts.push(...bar(PITCH * number, text, prefill * scale, decode * scale));
    });
    const height = foot + 46;
    parts.push(
      box(LEFT, foot + 28, 14, 14, PREFILL), label(LEFT + 20, foot + 40, "prefill"),
      box(LEFT + 90, foot + 31, 14, 8, DECODE), label(LEFT + 110, foot + 40, "decode")
    );
    return inline("seconds", WIDTH, height, told, parts);
  }

  /** Round values from 0 up to `longest`, at most six of them, as [value, text]. */
  function ticks(longest) {
    if (!(longest > 0)) return [[0, "0 s"]];
    let power = -9;
    while (Number(`1e${power + 1}`) * MOST_TICKS <= longest) power += 1;
    const steps = [[0, 1], [0, 2], [0, 5], [1, 1]];
    const wide = ([shift, digits]) => Number(`${digits}e${power + shift}`) * MOST_TICKS >= longest;
    const [shift, digits] = steps.find(wide) || steps[steps.length - 1];
    const step = Number(`${digits}e${power + shift}`);
    const decimals = Math.max(0, -(power + shift));
    const found = [];
    for (let at = 0; at * step <= longest; at += 1) found.push([at * step, trimmed(fixed(at * step, decimals))]);
    found[found.length - 1][1] += " s";
    return found;
  }

  function axis(longest, scale, foot) {
    const parts = [stroke([[LEFT, foot], [LEFT + ROOM, foot]])];
    for (const [value, text] of ticks(longest)) {
      const x = LEFT + value * scale;
      const anchor = x < 12 ? "start" : x > WIDTH - 24 ? "end" : "middle";
      parts.push(stroke([[x, foot], [x, foot + 4]]), label(x, foot + 18, text, anchor));
    }
    return parts;
  }

  function bar(top, text, prefill, decode) {
    return [
      label(LEFT, top + 15, text),
      box(LEFT, top + 21, prefill, 20, PREFILL),
      box(LEFT + prefill, top + 25, decode, 12, DECODE)
    ];
  }

  Object.assign(T, { bars, ticks });
})((globalThis.TwoHalves ||= {}));
