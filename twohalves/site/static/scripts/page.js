/* What the script does to a page once it stands. */
(function (T) {
  "use strict";

  if (typeof document === "undefined") return;

  /** Brings every calculator of the page to life; each keeps a part of the address of its own. */
  function mountAll() {
    const places = [...document.querySelectorAll(".th-calculator[data-calculator]")];
    const names = places.map((place) => place.dataset.calculator);
    const keys = names.map((name, number) => {
      const earlier = names.slice(0, number).filter((each) => each === name).length;
      return earlier ? `${name}${earlier + 1}` : name;
    });
    const kept = new T.Kept(keys);
    const linked = kept.linked();
    const calculators = places.map((place, number) => {
      const [name, key] = [names[number], keys[number]];
      const spec = JSON.parse(document.getElementById(`th-spec-${name}`).textContent);
      const address = { read: () => kept.parts[key], write: (part) => kept.write(key, part) };
      const calculator = new T.Calculator(place, { name, key, spec, address });
      foldStored(place);
      return calculator;
    });
    bringToView(places[keys.findIndex((key) => linked[key])]);
    window.addEventListener("hashchange", () => {
      if (kept.follow()) calculators.forEach((each) => each.followAddress());
    });
  }

  /** Who opens a link with numbers sees them; who comes back or loads anew is left where they were. */
  function bringToView(place) {
    const [opened] = performance.getEntriesByType("navigation");
    if (place && opened?.type === "navigate") place.scrollIntoView({ behavior: "instant" });
  }

  /** The tables that stand there without a script follow below, folded. */
  function foldStored(place) {
    const stored = place.parentElement.querySelector(":scope > .th-stored");
    if (!stored) return;
    stored.open = false;
    place.after(stored);
  }

  // What the theme draws as a heading that opens and closes answers to the keyboard, too.
  function openByKeyboard(event) {
    const { key, target } = event;
    if (key !== "Enter" && key !== " ") return;
    if (!target.matches("[role=button][data-bs-toggle]:not(button)")) return;
    event.preventDefault();
    target.click();
  }

  // Search reads its index over the network, which a browser refuses to a page opened by double click.
  function explainSearch() {
    const box = document.querySelector("#quarto-search, .sidebar-search");
    if (!box || location.protocol !== "file:") return;
    const text = "Search needs the site to be served: python3 -m twohalves preview";
    box.replaceChildren(T.make("p", { class: "th-search-note", text }));
    document.querySelectorAll(".quarto-search-button").forEach((button) => button.remove());
  }

  function start() {
    mountAll();
    document.querySelectorAll("main :is(.th-table, pre):not([tabindex])").forEach((box) => T.reachable(box));
    document.addEventListener("keydown", openByKeyboard);
    window.addEventListener("load", explainSearch);
    explainSearch();
  }

  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})((globalThis.TwoHalves ||= {}));
