"""Whatever stands in a session.json that a reader picks, a page computes with it or refuses it."""

import itertools

from tests.parity import SPECS, by_node

CONSTANTS = ("t0_s", "a_s", "b_s", "c_s", "d_s")
TRIED = """
({ specs, fits }) => fits.map((fit) => {
  const T = globalThis.TwoHalves;
  const { set, note } = T.readSession(JSON.stringify({ run_id: "tried", fit }));
  if (!set) return note;
  const shown = ["min", "default", "max"].flatMap((end) => ["latency", "worksheet"].map((name) => {
    const { values } = T.begin(specs[name], {}, [set]);
    for (const { id, kind, [end]: value } of specs[name].inputs) {
      if (kind === "number") values[id] = value;
    }
    const { texts, sentence, notes, picture } = T.outcome(name, specs[name], values, [set]);
    return JSON.stringify([texts, sentence, notes, picture]);
  }));
  return shown.some((each) => /NaN|Infinity|undefined|null/.test(each)) ? shown : "computed";
})
"""


def _fit(**other):
    measured = {"shortest": 100, "longest": 800, "off": 0.04, "requests": 5}
    return dict.fromkeys(CONSTANTS, 0) | measured | other


def test_times_no_machine_takes_are_refused(node):
    """The page says which, instead of computing what is no number."""
    absurd = [_fit(**{name: value}) for name in CONSTANTS for value in (1e300, 1e7, 1e-300, 5e-324)]
    answers = by_node(node, TRIED, {"specs": SPECS, "fits": absurd})
    expected = [
        f"The rates of run tried cannot be used: {name} is no time that a machine takes."
        for name in CONSTANTS
        for _ in range(4)
    ]
    assert answers == expected


def test_times_at_the_edge_are_computed(node):
    """Every mix of none, the shortest and the longest, with the inputs at both their ends."""
    edges = [
        _fit(**dict(zip(CONSTANTS, each, strict=True)))
        for each in itertools.product((0, 1e-18, 1e6), repeat=len(CONSTANTS))
        if any(each)
    ]
    answers = by_node(node, TRIED, {"specs": SPECS, "fits": edges})
    assert set(answers) == {"computed"}


def test_an_error_beyond_all_measure_is_refused(node):
    """Three hundred digits would fill the page and tell nothing."""
    [told] = by_node(node, TRIED, {"specs": SPECS, "fits": [_fit(a_s=0.001, off=1e300)]})
    assert told.endswith("cannot be used: their error is larger than any that was measured.")
