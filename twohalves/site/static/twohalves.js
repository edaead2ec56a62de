/* Two Halves: the calculators of the static pages, and a word about search on file://.
 *
 * One classic script without imports, so that it also runs from file://. The arithmetic and the
 * wording are twins of twohalves/formulas/latency.py, twohalves/show/numbers.py and
 * twohalves/show/calculator.py; tests/vectors/latency.json holds them equal, strings included.
 */
(function () {
  "use strict";

  /* ---- numbers as text: halves round up on the decimal digits a reader would see ---- */

  // The shortest decimal digits of a finite number, as [digits, exponent]: 2.675 -> ["2675", -3].
  function decimalDigits(value) {
    var parts = String(Math.abs(value)).split("e");
    var point = parts[0].split(".");
    var exponent = (parts[1] ? Number(parts[1]) : 0) - (point[1] || "").length;
    return [point[0] + (point[1] || ""), exponent];
  }

  // The integer (a string of digits) nearest to digits * 10^shift, halves up.
  function roundDigits(digits, shift) {
    if (shift >= 0) return digits + "0".repeat(shift);
    var keep = digits.length + shift;
    var up = keep >= 0 && digits.charAt(keep) >= "5";
    var head = keep > 0 ? digits.slice(0, keep) : "0";
    return up ? String(BigInt(head) + 1n) : head;
  }

  function fixed(value, decimals) {
    decimals = decimals || 0;
    if (!Number.isFinite(value)) throw new RangeError("a number to show must be finite");
    var parts = decimalDigits(value);
    var whole = roundDigits(parts[0], parts[1] + decimals).replace(/^0+(?=\d)/, "");
    whole = whole.padStart(decimals + 1, "0");
    var integer = whole.slice(0, whole.length - decimals).replace(/\B(?=(\d{3})+$)/g, ",");
    return (value < 0 ? "-" : "") + integer + (decimals ? "." + whole.slice(-decimals) : "");
  }

  // The power of ten of the first digit: 190.26 -> 2.
  function adjusted(value) {
    var parts = decimalDigits(value);
    return parts[0].replace(/^0+/, "").length - 1 + parts[1];
  }

  function significant(value, digits) {
    if (value === 0 || !Number.isFinite(value)) return fixed(value, 0);
    var parts = decimalDigits(value);
    var step = adjusted(value) - digits + 1;
    var rounded = Number(roundDigits(parts[0], parts[1] - step) + "e" + step);
    return fixed(rounded, Math.max(0, digits - 1 - adjusted(rounded)));
  }

  function seconds(value) {
    return value >= 1 ? significant(value, 3) + " s" : significant(value * 1000, 3) + " ms";
  }

  // A share never shows as none or all of something that has a little of both.
  function share(fraction) {
    if (fraction > 0 && fraction < 0.001) return "<0.1%";
    if (fraction < 1 && fraction > 0.999) return ">99.9%";
    return fixed(fraction * 100, 1) + "%";
  }

  var formats = { seconds: seconds, share: share };

  function counted(value, input) {
    return fixed(value, 0) + " " + (value === 1 ? input.unit_one : input.unit);
  }

  /* ---- the crude latency model ---- */

  function latency(inputs, rates) {
    var prefill = inputs.prompt_tokens / rates.prefill_tok_s;
    var decode = inputs.output_tokens / rates.decode_tok_s;
    var total = prefill + decode;
    return {
      prefill_s: prefill, decode_s: decode, total_s: total,
      prefill_share: total ? prefill / total : 0
    };
  }

  function shown(spec, results) {
    var texts = {};
    spec.outputs.forEach(function (o) { texts[o.id] = formats[o.format](results[o.id]); });
    return texts;
  }

  function latencySentence(spec, inputs, texts) {
    return counted(inputs.prompt_tokens, spec.inputs[0]) + " in and " +
      counted(inputs.output_tokens, spec.inputs[1]) + " out take " + texts.total_s + ": " +
      texts.prefill_s + " to read and " + texts.decode_s + " to write; " +
      texts.prefill_share + " of the time is prefill.";
  }

  // What a reader (or a link) asked for, made usable: a whole number within the limits, and what
  // to say when it had to be changed ("" when not).
  function accept(input, asked, previous) {
    var text = String(asked === null || asked === undefined ? "" : asked).trim();
    var number = /^[+-]?\d+(\.\d+)?$/.test(text) ? Number(text) : NaN;
    if (!Number.isFinite(number)) {
      var what = text ? "“" + text.slice(0, 20) + "” is not a number" : "nothing was entered";
      return { value: previous, note: input.label + ": " + what + "; " + fixed(previous, 0) + " is used." };
    }
    var whole = Math.floor(number + 0.5);
    if (whole < input.min) return clamped(input, number, input.min, "below the smallest");
    if (whole > input.max) return clamped(input, number, input.max, "above the largest");
    return { value: whole, note: whole === number ? "" : input.label + ": rounded to " + fixed(whole, 0) + "." };
  }

  function clamped(input, number, limit, where) {
    return {
      value: limit,
      note: input.label + ": " + fixed(number, 0) + " is " + where + " value; " + fixed(limit, 0) + " is used."
    };
  }

  // "#latency-prompt_tokens-4247-output_tokens-32" -> {prompt_tokens: "4247", ...}. The address is
  // written so that it is also a valid selector: other scripts look the hash up in the page.
  function readHash(name, spec, hash) {
    var asked = {};
    var text = String(hash || "");
    try { text = decodeURIComponent(text); } catch (_) { return asked; }
    if (text.indexOf("#" + name + "-") !== 0) return asked;
    var ids = spec.inputs.map(function (input) { return input.id; });
    ids.forEach(function (id) {
      var found = new RegExp("-" + id + "-(.*?)(?=-(?:" + ids.join("|") + ")-|$)").exec(text);
      if (found) asked[id] = found[1];
    });
    return asked;
  }

  function writeHash(name, spec, inputs) {
    return "#" + name + spec.inputs.map(function (i) { return "-" + i.id + "-" + inputs[i.id]; }).join("");
  }

  /* ---- the page ---- */

  function make(tag, attributes, children) {
    var node = document.createElement(tag);
    Object.keys(attributes || {}).forEach(function (key) {
      if (key === "text") node.textContent = attributes[key];
      else node.setAttribute(key, attributes[key]);
    });
    (children || []).forEach(function (child) { node.appendChild(child); });
    return node;
  }

  function bar() {
    var svgns = "http://www.w3.org/2000/svg";
    var svg = document.createElementNS(svgns, "svg");
    svg.setAttribute("viewBox", "0 0 600 28");
    svg.setAttribute("preserveAspectRatio", "none");
    svg.setAttribute("class", "th-bar");
    svg.setAttribute("aria-hidden", "true"); // the table beside it says the same
    var rects = ["prefill", "decode"].map(function (name) {
      var rect = document.createElementNS(svgns, "rect");
      rect.setAttribute("class", "th-" + name);
      rect.setAttribute("height", "28");
      svg.appendChild(rect);
      return rect;
    });
    return {
      node: svg,
      draw: function (fraction) {
        var width = Math.round(fraction * 6000) / 10;
        rects[0].setAttribute("width", width);
        rects[1].setAttribute("x", width);
        rects[1].setAttribute("width", Math.max(0, 600 - width));
      }
    };
  }

  function inputRow(name, input) {
    var id = "th-" + name + "-" + input.id;
    var row = { spec: input };
    row.range = make("input", { type: "range", id: id + "-range", min: input.min, max: input.max, step: input.step,
      "aria-describedby": id + "-help" });
    row.number = make("input", { type: "number", id: id, min: input.min, max: input.max, step: input.step,
      inputmode: "numeric", "aria-label": input.label + ", " + input.unit });
    row.node = make("div", { "class": "th-input" }, [
      make("label", { "for": id + "-range", text: input.label }), row.range, row.number,
      make("span", { "class": "th-unit", "aria-hidden": "true", text: input.unit }),
      make("p", { "class": "th-help", id: id + "-help", text: input.help })
    ]);
    return row;
  }

  function resultsTable(spec) {
    var cells = {};
    var rows = spec.outputs.map(function (output) {
      cells[output.id] = make("td", { "data-output": output.id });
      return make("tr", {}, [make("th", { scope: "row", "class": "th-of-" + output.id, text: output.label }), cells[output.id]]);
    });
    return { cells: cells, node: make("table", { "class": "th-results" }, [make("tbody", {}, rows)]) };
  }

  function defaults(spec) {
    var values = {};
    spec.inputs.forEach(function (input) { values[input.id] = input["default"]; });
    return values;
  }

  function mount(element, spec) {
    var name = element.getAttribute("data-calculator");
    var rates = JSON.parse(element.getAttribute("data-rates"));
    var values = defaults(spec);
    var rows = spec.inputs.map(function (input) { return inputRow(name, input); });
    var results = resultsTable(spec);
    var picture = bar();
    var note = make("span", { "class": "th-note" });
    var sentence = make("span", { "class": "th-sentence" });
    var live = make("p", { "class": "th-live", role: "status", "aria-live": "polite" }, [note, sentence]);
    var timer = null;

    function show(notes) {
      var numbers = latency(values, rates);
      var texts = shown(spec, numbers);
      rows.forEach(function (row) {
        row.range.value = values[row.spec.id];
        row.range.setAttribute("aria-valuetext", counted(values[row.spec.id], row.spec));
        if (document.activeElement !== row.number || notes) row.number.value = values[row.spec.id];
      });
      spec.outputs.forEach(function (output) { results.cells[output.id].textContent = texts[output.id]; });
      picture.draw(numbers.prefill_share);
      clearTimeout(timer);
      timer = setTimeout(function () { // once the reader has stopped, or a screen reader talks on and on
        note.textContent = (notes || []).join(" ");
        sentence.textContent = latencySentence(spec, values, texts);
      }, 250);
    }

    function keep(hash) { // a link to "my" numbers; a browser that refuses loses only that
      try { history.replaceState(null, "", hash || location.pathname + location.search); } catch (_) { return; }
    }

    function set(asked) {
      var notes = [];
      spec.inputs.forEach(function (input) {
        if (!(input.id in asked)) return;
        var taken = accept(input, asked[input.id], values[input.id]);
        values[input.id] = taken.value;
        if (taken.note) notes.push(taken.note);
      });
      show(notes);
    }

    function change(id, text) {
      var asked = {};
      asked[id] = text;
      set(asked);
      keep(writeHash(name, spec, values));
    }

    function listen(row) {
      var input = row.spec;
      row.range.addEventListener("input", function () { change(input.id, row.range.value); });
      row.range.addEventListener("keydown", function (event) {
        var way = { PageUp: 1, PageDown: -1 }[event.key];
        if (!way) return;
        event.preventDefault();
        change(input.id, Math.min(input.max, Math.max(input.min, values[input.id] + way * input.page)));
      });
      row.number.addEventListener("input", function () { // half-typed numbers wait for "change"
        var taken = accept(input, row.number.value, values[input.id]);
        if (taken.note) return;
        values[input.id] = taken.value;
        show(null);
        keep(writeHash(name, spec, values));
      });
      row.number.addEventListener("change", function () { change(input.id, row.number.value); });
    }

    function button(text, wanted) {
      var node = make("button", { type: "button", "class": "th-button", text: text });
      node.addEventListener("click", function () { set(wanted); keep(wanted === start ? "" : writeHash(name, spec, values)); });
      return node;
    }

    var start = defaults(spec);
    rows.forEach(listen);
    var buttons = spec.presets.map(function (preset) { return button(preset.label, preset.values); });
    element.replaceChildren(make("div", { "class": "th-panel", role: "group", "aria-label": spec.title }, [
      make("p", { "class": "th-title", text: spec.title })
    ].concat(rows.map(function (row) { return row.node; }),
      [make("div", { "class": "th-outcome" }, [picture.node, results.node]), live,
        make("div", { "class": "th-buttons" }, buttons.concat([button("Reset", start)]))])));
    function fromAddress() { set(readHash(name, spec, location.hash)); }
    window.addEventListener("hashchange", fromAddress);
    fromAddress();
  }

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

  var pure = { fixed: fixed, significant: significant, seconds: seconds, share: share, latency: latency,
    shown: shown, latencySentence: latencySentence, accept: accept, readHash: readHash, writeHash: writeHash };
  if (typeof module !== "undefined" && module.exports) module.exports = pure;
  if (typeof document === "undefined") return;
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
