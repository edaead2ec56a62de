/* What the script does to a page once it stands. */
(function (T) {
  "use strict";

  var make = T.make, mount = T.mount;

  // What the theme draws as a heading that opens and closes answers to the keyboard, too.
  function openByKeyboard(event) {
    var target = event.target;
    if (event.key !== "Enter" && event.key !== " ") return;
    if (!target.matches("[role=button][data-bs-toggle]:not(button)")) return;
    event.preventDefault();
    target.click();
  }

  // Search reads its index over the network, which a browser refuses to a page opened by double click.
  function explainSearch() {
    var box = document.querySelector("#quarto-search, .sidebar-search");
    if (!box || location.protocol !== "file:") return;
    box.replaceChildren(make("p", { "class": "th-search-note",
      text: "Search needs the site to be served: python3 -m twohalves preview" }));
    document.querySelectorAll(".quarto-search-button").forEach(function (button) { button.remove(); });
  }

  function start() {
    document.querySelectorAll(".th-calculator[data-calculator]").forEach(function (element) {
      var spec = document.getElementById("th-spec-" + element.getAttribute("data-calculator"));
      if (spec) mount(element, JSON.parse(spec.textContent));
    });
    document.addEventListener("keydown", openByKeyboard);
    window.addEventListener("load", explainSearch);
    explainSearch();
  }

  if (typeof document === "undefined") return;
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})((globalThis.TwoHalves ||= {}));
