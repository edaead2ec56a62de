/* A calculator in the page: what a reader touches. */
(function (T) {
  "use strict";

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

  Object.assign(T, { make: make, mount: mount, readHash: readHash, writeHash: writeHash });
})((globalThis.TwoHalves ||= {}));
