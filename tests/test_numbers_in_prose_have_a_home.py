"""A number in prose comes from data/claims.csv, printed as the chapter prints it."""

import json

import pytest

from twohalves.errors import SiteSourceMissing, VariableUnknown
from twohalves.site import variables as variables_of
from twohalves.site.variables import check, printed, write

HEADER = "id,section,kind,claim,value,unit,decimals_printed,derivation,note\n"


def project(tmp_path, *rows):
    (tmp_path / "data").mkdir()
    text = HEADER + "".join(f"{row}\n" for row in rows)
    (tmp_path / "data" / "claims.csv").write_text(text, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [
        ("4247", "0", "4,247"),
        ("0.54", "2", "0.54"),
        ("2", "1", "2.0"),
        ("2000", "-3", "2,000"),
        ("190", "-1", "190"),
        ("1234567", "0", "1,234,567"),
        ("0.125", "2", "0.13"),
        ("0.00000015", "8", "0.00000015"),
        ("-3.5", "0", "-4"),
        ("q8_0", "0", "q8_0"),
        ("190", "", "190"),
    ],
)
def test_a_value_is_printed_with_the_decimals_of_its_row(value, decimals, text):
    """Halves go up; thousands are separated; words stay words."""
    assert printed(value, decimals) == text


def test_every_claim_with_a_value_is_a_variable(tmp_path):
    """An empty value is no variable: a page that asks for it is refused, not left blank."""
    made = project(tmp_path, "longest,31.1,measured,x,4247,tokens,0,,", "nothing,31.1,m,x,,x,0,,")
    assert variables_of(made) == {"claims": {"longest": "4,247"}, "session": {}}


def test_the_chapters_session_can_be_named(tmp_path):
    """Texts stay as they are, numbers get their commas, what is not known has no name."""
    made = project(tmp_path)
    (made / "data" / "reference").mkdir()
    facts = {"software": {"version": "0.24.0"}, "window": 131072, "metric": None, "rows": [1]}
    path = made / "data" / "reference" / "session.json"
    path.write_text(json.dumps(facts), encoding="utf-8")
    known = variables_of(made)
    assert known["session"] == {"software": {"version": "0.24.0"}, "window": "131,072"}
    check("page.qmd", "{{< var session.software.version >}}", known)
    for missing in ("session.metric", "session.software"):
        with pytest.raises(VariableUnknown):
            check("page.qmd", f"{{{{< var {missing} >}}}}", known)


def test_a_name_nobody_knows_is_refused_with_its_neighbors():
    """The error names the page, the name and what was probably meant."""
    known = {"claims": {"longest_prompt": "4,247", "layers": "28"}}
    with pytest.raises(VariableUnknown) as caught:
        check("chapters/opening.qmd", "It had {{< var claims.longest_promt >}} tokens.", known)
    assert "chapters/opening.qmd" in str(caught.value)
    assert "'claims.longest_promt'" in str(caught.value)
    assert "Nearest: claims.longest_prompt" in str(caught.value)


def test_an_example_in_a_code_block_is_not_a_use():
    """A page may show how such a number is written."""
    shown = "```\n{{< var claims.example >}}\n```\n\nand \\{{< var claims.other >}}\n"
    check("page.qmd", shown, {"claims": {}})


def test_the_renderers_file_says_the_same(tmp_path):
    """What is written for them is what was read."""
    known = {"claims": {"longest": "4,247", "type": "q8_0: “yes”"}}
    write(tmp_path, known)
    assert json.loads((tmp_path / "_variables.yml").read_text(encoding="utf-8")) == known


def test_without_the_claims_the_missing_file_is_named(tmp_path):
    """Not a traceback of a file that could not be opened."""
    with pytest.raises(SiteSourceMissing, match=r"data/claims\.csv"):
        variables_of(tmp_path)
