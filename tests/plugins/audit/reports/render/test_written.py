"""Untrusted text in HTML and in CSV."""

import csv
from io import StringIO

from hypothesis import given
from hypothesis import strategies as st

from plugins.audit.reports.render.written import LONGEST, csv_line, cut, shown, visible


def test_what_cannot_be_seen_is_written_out() -> None:
    assert visible("evil\u202egnp.exe\r\n\x00") == "evil\\u202egnp.exe\\u000d\\u000a\\u0000"
    assert visible("漢字 é 🦊") == "漢字 é 🦊"


def test_a_very_long_name_is_cut_in_its_middle_and_says_so() -> None:
    text = cut("a" * 32_767)
    assert len(text) < 2 * LONGEST
    assert " 32,647 characters " in text
    assert cut("t" * 120) == "t" * 120
    assert cut(32_767) == 32_767


def test_numbers_have_separators_and_truth_is_said_in_words() -> None:
    assert [shown(value) for value in (1234567, True, False, "a")] == ["1,234,567", "yes", "no", "a"]


def test_a_line_of_csv_tells_null_from_an_empty_text_and_from_a_number() -> None:
    assert csv_line([None, "", -5, True, "plain"]) == ',"",-5,true,plain\r\n'


def test_a_text_that_a_spreadsheet_would_run_has_a_quote_in_front() -> None:
    for text in ("=HYPERLINK(0)", "+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "\uff1d1"):
        ((found,),) = csv.reader(StringIO(csv_line([text]), newline=""))
        assert found == f"'{text}"


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1))
def test_any_text_is_read_back_by_a_reader_of_rfc_4180(texts: list[str]) -> None:
    (found,) = csv.reader(StringIO(csv_line(texts), newline=""), strict=True)
    assert [one.removeprefix("'") for one in found] == [one.removeprefix("'") for one in texts]
