"""Charts."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.audit.reports.render.svg import BARS, OTHERS, drawn, short
from plugins.audit.reports.report import Chart, ChartKind

SUMS = st.dictionaries(st.tuples(st.text(max_size=5), st.text(max_size=5)), st.integers(0, 10**12), max_size=80)


@given(st.sampled_from(ChartKind), SUMS)
def test_whatever_is_drawn_is_well_formed_and_has_a_title(kind: ChartKind, sums: dict[tuple[str, str], int]) -> None:
    svg = drawn(Chart("Much <of> it", kind, "x", "y"), "it", sums, lambda x, by: "it-rows")
    if not any(sums.values()):
        assert svg == ""
        return
    root = ElementTree.fromstring(svg)
    assert root.get("role") == "group"
    assert root.findtext("title") == "Much <of> it"
    assert {one.get("id") for one in (root.find("title"), root.find("desc")) if one is not None} == set(
        (root.get("aria-labelledby") or "").split()
    )


def test_bars_are_the_largest_and_the_rest_together() -> None:
    sums = {(f"t{number:02}", ""): number for number in range(40)}
    texts = [one.text for one in ElementTree.fromstring(drawn(_chart(ChartKind.BARS), "it", sums, _row)).iter("text")]
    assert texts[:2] == ["t39", "39"]
    assert len(texts) == 2 * (BARS + 1)
    assert texts[-2:] == [OTHERS, str(sum(range(40 - BARS)))]


def test_lines_have_a_dash_of_their_own_and_a_legend() -> None:
    sums = {(f"2026-03-{day:02}", by): day for day in range(1, 10) for by in ("a", "b")}
    root = ElementTree.fromstring(drawn(_chart(ChartKind.LINES), "it", sums, _row))
    assert [one.get("class") for one in root.iter("polyline")] == ["l0", "l0", "l1", "l1"]
    assert {"a", "b"} <= {one.text for one in root.iter("text")}


def test_a_heat_map_is_the_stronger_the_more() -> None:
    sums = {("8", "Mon"): 100, ("9", "Mon"): 50}
    root = ElementTree.fromstring(drawn(_chart(ChartKind.HEAT), "it", sums, _row))
    assert [one.get("fill-opacity") for one in root.iter("rect")] == ["1.00", "0.57"]


def test_names_of_columns_stand_aslant_where_they_have_no_room() -> None:
    names = [f"{api}ClientQuotas" for api in ("Alter", "Describe", "List", "Create", "Delete", "Reset")]
    for shown, is_slanted in ((names[:2], False), (names, True)):
        root = ElementTree.fromstring(drawn(_chart(ChartKind.HEAT), "it", {(one, "u"): 1 for one in shown}, _row))
        texts = {one.text: one.get("transform", "") for one in root.iter("text") if one.text != "u"}
        assert sorted(texts) == sorted(shown)
        assert all(value.startswith("rotate(") is is_slanted for value in texts.values())


@pytest.mark.parametrize(
    ("kind", "links"),
    [
        (ChartKind.BARS, {"#b-None": "b: 4", "#a-None": "a: 3"}),
        (ChartKind.LINES, {"#None-u": "u: 5", "#None-v": "v: 2"}),
        (ChartKind.HEAT, {"#a-u": "u, a: 1", "#a-v": "v, a: 2", "#b-u": "u, b: 4"}),
    ],
)
def test_each_figure_is_a_link_to_its_rows(kind: ChartKind, links: dict[str, str]) -> None:
    sums = {("a", "u"): 1, ("a", "v"): 2, ("b", "u"): 4}
    found = ElementTree.fromstring(drawn(_chart(kind), "it", sums, _row)).iter("a")
    assert {one.get("href"): one.findtext("title") for one in found} == links


@pytest.mark.parametrize(("value", "text"), [(0, "0"), (999, "999"), (12_345, "12.3 k"), (4 * 10**9, "4.0 G")])
def test_labels_of_numbers_are_short(value: int, text: str) -> None:
    assert short(value) == text


def _row(x: str | None, by: str | None) -> str:
    return f"{x}-{by}"


def _chart(kind: ChartKind) -> Chart:
    return Chart("It", kind, "x", "y", "by")
