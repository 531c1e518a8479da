"""A page with tables between its markers, and how numbers are printed in them."""

from __future__ import annotations

import pandas as pd
import pytest
from decoupling.analysis.page import Tables, cell, filled, markdown, percent, span, unmarked
from decoupling.errors import InputError

PAGE = """# Title

<!-- table: one -->
| old |
<!-- end -->

1. An item:

   <!-- table: two -->
   <!-- end -->

   Its end.
"""


def test_tables_take_the_place_of_what_was_between_their_markers():
    made = {"one": "| a |\n|---|\n| 1 |", "two": "| b |\n|---|\n"}
    page = filled(PAGE, made, "p")
    assert "| old |" not in page
    assert "<!-- table: one -->\n\n| a |\n|---|\n| 1 |\n\n<!-- end -->\n\n1. An item" in page
    assert (
        "   <!-- table: two -->\n\n   | b |\n   |---|\n\n   <!-- end -->\n\n   Its end.\n" in page
    )
    assert filled(page, made, "p") == page


@pytest.mark.parametrize(
    ("page", "made", "message"),
    [
        (PAGE, {"one": ""}, "no table is called two"),
        (PAGE.replace("<!-- end -->", "", 1), {"one": "", "two": ""}, "one has no <!-- end -->"),
    ],
)
def test_markers_and_tables_that_do_not_fit_are_named(page: str, made: dict, message: str):
    """A missing end is not taken from the next table, or the text between them would be lost."""
    with pytest.raises(InputError, match=message):
        filled(page, made, "p")


def test_a_table_without_a_marker_is_named():
    assert unmarked([PAGE, ""], ["one", "three"]) == ["no marker has the table three"]


def test_a_query_is_registered_under_its_name():
    tables = Tables()

    @tables.add("n | risk", digits=2)
    def some(data):
        yield 5, data

    assert tables["some"](0.126) == "| n | risk |\n|---|---|\n| 5 | 0.13 |"


def test_markdown():
    rows = [("a", 1, 0.25), ("b", 2, (-0.5, 0.125))]
    assert markdown("x | n | risk", rows, 3).split("\n") == [
        "| x | n | risk |",
        "|---|---|---|",
        "| a | 1 | 0.250 |",
        "| b | 2 | −0.500 ± 0.125 |",
    ]


def test_what_rounds_to_zero_is_printed_without_a_sign():
    assert cell((-1e-9, 1e-9), 4) == "0.0000 ± 0.0000"
    assert [cell(value, 1) for value in (-0.06, -10.0, -0.04)] == ["−0.1", "−10.0", "0.0"]
    assert [percent(value) for value in (-1e-9, 0.1234, -0.05)] == ["0.00%", "+12.34%", "−5.00%"]
    assert span(pd.Series([0.1, -0.2, 0.0]), 0) == "−20% to +10%"
