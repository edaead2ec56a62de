/* What is typed into a number field or pasted there.
 *
 * A browser's number field drops what it does not take, without a word: a typed "0,6" would become
 * 06, a pasted "0.15 $/1k" 0.151. Nothing may change a number behind the reader's back.
 */
(function (T) {
  "use strict";

  const PIECE = /^[\d.eE+-]$/;
  const PLAIN = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

  /** Watches a field. `say` gets a note; `take` gets a text that replaces the whole. */
  function watchTyping(field, input, { say, take }) {
    field.addEventListener("beforeinput", (event) => {
      const text = event.data ?? event.dataTransfer?.getData("text/plain") ?? "";
      if (!text || isTypable(text)) return;
      event.preventDefault();
      if (text === ",") comma(input, say);
      else if (text.length > 1) take(text);
      else say(`${input.label}: “${text}” is no part of a number and was left out.`);
    });
  }

  /** Whether a browser keeps all of it: a piece of a number, or a whole one. */
  function isTypable(text) {
    return (text.length === 1 ? PIECE : PLAIN).test(text);
  }

  function comma(input, say) {
    if (!input.decimals) {
      say(`${input.label}: the comma was left out; this is a whole number.`);
    } else {
      document.execCommand("insertText", false, "."); // only so the caret stays in its place
      say(`${input.label}: the comma is read as a point.`);
    }
  }

  Object.assign(T, { isTypable, watchTyping });
})((globalThis.TwoHalves ||= {}));
