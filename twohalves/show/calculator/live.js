// What ipywidgets leave out of a calculator in a notebook: names and spoken values of the slider
// handles and number fields, one polite live region, and a word where a browser would silently
// drop what was typed. Called with {name, inputs}, once for every calculator that is shown, behind
// some of the static page's scripts, so that both say the same.
(function (calculator) {
  "use strict";
  const registered = (window.twoHalvesLive = window.twoHalvesLive || {});
  registered[calculator.name] = calculator;
  const T = window.TwoHalves;

  // The slider counts its places; who listens is told the value instead.
  function spoken(input, place) {
    const straight = Number((input.min + place * input.step).toFixed(input.decimals));
    return T.withUnit(input, input.scale === "log" ? T.valueAt(input, place) : straight);
  }

  function speak(handle, input) {
    const text = spoken(input, Math.round(Number(handle.getAttribute("aria-valuenow"))));
    if (handle.getAttribute("aria-valuetext") !== text) handle.setAttribute("aria-valuetext", text);
  }

  function complete(root, inputs) {
    inputs.forEach((input) => {
      const label = `${input.label}, ${input.unit}`;
      const field = root.querySelector(`.th-field-${input.id} input`);
      const handle = root.querySelector(`.th-slider-${input.id} [role=slider]`);
      if (field && !field.dataset.twoHalves) {
        field.dataset.twoHalves = "named";
        field.setAttribute("aria-label", label);
        T.watchTyping(field, input, {
          say: (text) => tell(field, text),
          take: (text) => insert(field, input, text),
        });
      }
      if (!handle || handle.dataset.twoHalves) return;
      handle.dataset.twoHalves = "named";
      handle.setAttribute("aria-label", label);
      speak(handle, input);
      new MutationObserver(() => speak(handle, input)).observe(handle, {
        attributeFilter: ["aria-valuenow", "aria-valuetext"],
      });
    });
    const said = root.querySelector(".th-said .widget-html-content");
    if (!said || said.hasAttribute("role")) return;
    said.setAttribute("role", "status");
    new MutationObserver(() => forget(root, said)).observe(said, { childList: true });
  }

  // Python has said the next thing: what was refused before it is over.
  function forget(root, said) {
    if (said.querySelector(".th-refused")) return;
    root.querySelectorAll(".th-refused").forEach((node) => node.remove());
  }

  // True when every calculator that was called for is on the page, and complete.
  function completeAll() {
    return Object.values(registered).every((each) => {
      const roots = [...document.querySelectorAll(`.th-live-${each.name}`)];
      roots.forEach((root) => complete(root, each.inputs));
      return roots.some((root) => root.querySelector("[data-two-halves]"));
    });
  }

  // A text that comes in one piece: as it would have to be typed, or not at all.
  function insert(field, input, text) {
    const bare = text.trim().replace("\u2212", "-");
    let digits = bare;
    if (/^[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?$/.test(bare)) digits = bare.replaceAll(",", "");
    else if (/^[+-]?\d+,\d+$/.test(bare)) digits = bare.replace(",", ".");
    if (T.isTypable(digits)) document.execCommand("insertText", false, digits);
    else tell(field, `${input.label}: “${text.slice(0, 20)}” is not a number.`);
  }

  // Said beside the field and aloud, in place of what was said before.
  function tell(field, text) {
    const said = field.closest(".th-live").querySelector("[role=status]");
    const beside = field.closest(".widget-hbox").querySelector(".widget-html-content");
    [beside, said].forEach((place) => {
      if (!place) return;
      place.querySelectorAll(".th-note").forEach((note) => note.remove());
      const told = document.createElement("p");
      told.className = "th-note th-refused";
      told.textContent = text;
      if (place === said) place.prepend(told);
      else place.append(told);
    });
  }

  // ipywidgets put the value back where nothing was entered, and do not tell Python.
  function missing({ target }) {
    if (!target.matches(".th-live input[type=number]") || target.value !== "") return;
    const [name] = target.getAttribute("aria-label").split(",");
    tell(target, `${name}: nothing was entered; the value stays.`);
  }

  if (!window.twoHalvesGuarded) {
    window.twoHalvesGuarded = true;
    document.addEventListener("change", missing, true);
    document.addEventListener("focusin", completeAll);
  }
  (function wait(tries) {
    if (!completeAll() && tries) setTimeout(() => wait(tries - 1), 200);
  })(50);
})
