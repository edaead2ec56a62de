/* The tables of a calculator as rows of text: the twin of twohalves/show/calculator/tables.py. */
(function (T) {
  "use strict";

  /** The rows of a table, [{label, mark, cells}]; a ranked one has the largest first figure on top. */
  function lines(table, texts, results) {
    const rows = [...table.rows];
    const size = (row) => results[row.cells[0]] || 0;
    if (table.ranked) rows.sort((one, other) => size(other) - size(one));
    return rows.map((row) => ({
      label: row.label,
      mark: row.mark || "",
      cells: row.cells.map((id) => (id ? texts[id] : ""))
    }));
  }

  Object.assign(T, { lines });
})((globalThis.TwoHalves ||= {}));
