/* What is typed into a number field or pasted there.
 *
 * A browser's number field drops what it does not take, without a word: a typed "0,6" would become
 * 06, "1.5.2" 1.52, a pasted "0.15 $/1k" 0.151. Nothing may change a number behind the reader's back.
 */
(function (T) {
  "use strict";

  const PIECE = /^[\d.eE+-]$/;
  const DIGITS = /^\d+$/;
  const PLAIN = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

  /** Watches a field. `say` gets a note; `take` gets a text that replaces the whole.
   * Returns a function that reads the field, with the commas that it does not show.
   */
  function watchTyping(field, input, { say, take }) {
    const left = (text, why) => say(`${input.label}: “${text}” ${why} and was left out.`);
    const commas = commasOf(field);
    let missed = 0;
    field.addEventListener("beforeinput", (event) => {
      const text = event.data ?? event.dataTransfer?.getData("text/plain") ?? "";
      if (!text) return;
      if (PIECE.test(text) || DIGITS.test(text)) {
        missed = setTimeout(() => left(text, "has no place there")); // unless it arrives
        return;
      }
      event.preventDefault();
      if (text === ",") comma(input, commas, say);
      else if (text.length > 1) take(text); // 2.5 beside 1.5 would lose its point
      else left(text, "is no part of a number");
    });
    field.addEventListener("input", (event) => {
      clearTimeout(missed);
      commas.follow(event.data);
    });
    return () => commas.read() || field.value;
  }

  /** Whether a browser keeps all of it: a piece of a number, or a whole one. */
  function isTypable(text) {
    return (text.length === 1 ? PIECE : PLAIN).test(text);
  }

  function comma(input, commas, say) {
    if (!input.decimals) {
      commas.add();
      say(`${input.label}: the comma was left out; this is a whole number.`);
    } else {
      document.execCommand("insertText", false, "."); // only so the caret stays in its place
      say(`${input.label}: the comma is read as a point.`);
    }
  }

  /** What was typed into the field of a whole number, commas and all, as long as it is typed in one go. */
  function commasOf(field) {
    let typed = "";
    return {
      add() { typed = `${typed || field.value},`; },
      follow(text) { typed = typed && typed.replaceAll(",", "") + text === field.value ? typed + text : ""; },
      read: () => typed.replace(/,$/, "")
    };
  }

  Object.assign(T, { isTypable, watchTyping });
})((globalThis.TwoHalves ||= {}));
