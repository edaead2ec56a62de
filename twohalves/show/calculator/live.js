// What ipywidgets leave out of a calculator in a notebook: names and spoken values of the slider
// handles and number fields, one polite live region, and a word where a browser would silently
// drop what was typed. Called with {name, inputs}, once for every calculator that is shown.
(function (calculator) {
  "use strict";
  const registered = (window.twoHalvesLive = window.twoHalvesLive || {});
  registered[calculator.name] = calculator;

  const PLAIN = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i;

  // The values at a slider's places: what twohalves/show/calculator/scale.py gives.
  function stops(input) {
    const first = input.min || input.from;
    const found = new Set([input.min, input.max]);
    for (let power = -input.decimals - 1; Number(`1e${power}`) <= input.max; power += 1) {
      for (let digits = 10; digits < 100; digits += 1) {
        const value = Number(`${digits}e${power}`);
        const kept = Number(value.toFixed(input.decimals)) === value;
        if (first <= value && value <= input.max && kept) found.add(value);
      }
    }
    return [...found].sort((a, b) => a - b);
  }

  function spoken(input, place) {
    if (input.scale === "log") input.stops = input.stops || stops(input);
    const value = input.stops ? input.stops[place] : input.min + place * input.step;
    const text = value.toLocaleString("en-US", { maximumFractionDigits: input.decimals });
    return `${text} ${input.unit}`;
  }

  // The slider counts its places; who listens is told the value instead.
  function speak(handle, input) {
    const text = spoken(input, Math.round(Number(handle.getAttribute("aria-valuenow"))));
    if (handle.getAttribute("aria-valuetext") !== text) handle.setAttribute("aria-valuetext", text);
  }

  function complete(root, inputs) {
    inputs.forEach((input) => {
      const label = `${input.label}, ${input.unit}`;
      const field = root.querySelector(`.th-field-${input.id} input`);
      const handle = root.querySelector(`.th-slider-${input.id} [role=slider]`);
      if (field) field.setAttribute("aria-label", label);
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

  // What a number field can take of a text that comes in one piece; null = nothing.
  function readable(text) {
    const bare = text.trim().replace("\u2212", "-");
    if (PLAIN.test(bare)) return bare;
    if (/^[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?$/.test(bare)) return bare.replaceAll(",", "");
    return /^[+-]?\d+,\d+$/.test(bare) ? bare.replace(",", ".") : null;
  }

  // Said beside the field and aloud, in place of what was said before.
  function refuse(field, why) {
    const [name] = field.getAttribute("aria-label").split(",");
    const said = field.closest(".th-live").querySelector("[role=status]");
    const beside = field.closest(".widget-hbox").querySelector(".widget-html-content");
    [beside, said].forEach((place) => {
      if (!place) return;
      place.querySelectorAll(".th-note").forEach((note) => note.remove());
      const told = document.createElement("p");
      told.className = "th-note th-refused";
      told.textContent = `${name}: ${why}.`;
      if (place === said) place.prepend(told);
      else place.append(told);
    });
  }

  const isOurs = (node) => node.matches && node.matches(".th-live input[type=number]");

  // Chromium drops what is no part of a number: 0,6 would become 06, and 0.15 $/1k 0.151.
  function guard(event) {
    if (!event.data || !isOurs(event.target)) return;
    const typed = event.data.length === 1;
    const text = typed ? event.data.replace(",", ".") : readable(event.data);
    if (text === event.data) return;
    event.preventDefault();
    if (text === null) refuse(event.target, `“${event.data.slice(0, 20)}” is not a number`);
    else document.execCommand("insertText", false, text);
  }

  // ipywidgets put the value back where nothing was entered, and do not tell Python.
  function missing(event) {
    if (isOurs(event.target) && event.target.value === "") {
      refuse(event.target, "nothing was entered; the value stays");
    }
  }

  if (!window.twoHalvesGuarded) {
    window.twoHalvesGuarded = true;
    document.addEventListener("beforeinput", guard, true);
    document.addEventListener("change", missing, true);
    document.addEventListener("focusin", completeAll);
  }
  (function wait(tries) {
    if (!completeAll() && tries) setTimeout(() => wait(tries - 1), 200);
  })(50);
})
