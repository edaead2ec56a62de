/* The parts of a small drawing: the twin of twohalves/show/svg.py, the same characters. */
(function (T) {
  "use strict";

  const { fixed, trimmed } = T;
  const INK = "var(--th-ink, #767676)";
  const FAINT = "var(--th-faint, #8c8c8c)";
  const PREFILL = "var(--th-prefill, #3d7ab8)";
  const DECODE = "var(--th-decode, #cc5a50)";
  const FONT = "system-ui, -apple-system, 'Segoe UI', sans-serif";
  const ENTITIES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;" };

  /** Text as it stands between tags or in an attribute. */
  function escaped(text) {
    return text.replace(/[&<>"']/g, (character) => ENTITIES[character]);
  }

  function short(value) {
    return trimmed(fixed(value, 2).replaceAll(",", ""));
  }

  /** A whole SVG inside a page, of a class of its own; the title says what it shows. */
  function inline(name, width, height, title, parts) {
    return `<svg class="th-figure th-${name}" role="img" viewBox="0 0 ${width} ${height}" ` +
      `width="${width}" height="${height}" font-family="${escaped(FONT)}" ` +
      `font-size="14"><title>${escaped(title)}</title>${parts.join("")}</svg>`;
  }

  /** A filled rectangle. */
  function box(x, y, width, height, fill) {
    return `<rect x="${short(x)}" y="${short(y)}" width="${short(width)}" ` +
      `height="${short(height)}" rx="2" fill="${fill}"/>`;
  }

  /** A line of text; y is its baseline. */
  function label(x, y, text, anchor = "start") {
    return `<text x="${short(x)}" y="${short(y)}" fill="${INK}" text-anchor="${anchor}">${escaped(text)}</text>`;
  }

  /** A thin line through points. */
  function stroke(points) {
    const through = points.map(([x, y]) => `${short(x)},${short(y)}`).join(" ");
    return `<polyline points="${through}" fill="none" stroke="${FAINT}" stroke-width="1.5"/>`;
  }

  T.svg = { INK, FAINT, PREFILL, DECODE, box, escaped, inline, label, stroke };
})((globalThis.TwoHalves ||= {}));
