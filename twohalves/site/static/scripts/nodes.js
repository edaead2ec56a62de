/* Pieces of a page, made and told in one line. */
(function (T) {
  "use strict";

  /** An element; the attribute "text" is what stands in it, null leaves an attribute out. */
  function make(tag, attributes = {}, children = []) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name === "text") node.textContent = value;
      else if (value !== null) node.setAttribute(name, value);
    }
    node.append(...children);
    return node;
  }

  /** Touches the page only where the text is another one. */
  function tell(node, text) {
    if (node.textContent !== text) node.textContent = text;
  }

  /** What is wider than its box can be scrolled by keyboard, too; others are no stop. `inner` may grow. */
  function reachable(box, inner = box) {
    new ResizeObserver(() => {
      if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    }).observe(inner);
  }

  Object.assign(T, { make, reachable, tell });
})((globalThis.TwoHalves ||= {}));
