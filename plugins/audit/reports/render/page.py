"""The page: one HTML file without network access and scripts, made from the sheets of all reports and the facts.

Rules:
* The same journal with the same options gives the same bytes: the page does not say when it was made.
* Every figure links to its rows: in the page to the first of them, which is marked, and from there to all.
* Missing, altered and unknown data is reported at the top, before any figure.
* Text that clients chose is made visible and escaped everywhere: the template does so by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from zoneinfo import ZoneInfo

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from plugins.audit.reports.inputs import Inputs
from plugins.audit.reports.render.sheet import SHOWN, Sheet
from plugins.audit.reports.render.svg import drawn
from plugins.audit.reports.render.written import cut, shown
from plugins.audit.reports.report import AuditReport, Chart

PAGE, HASHES = "index.html", "inputs.sha256"
MOST = 50  # elements of a list in the page
SHORT = 14  # characters of a word that no line breaks: more would make tables too wide for paper
Evidence = tuple[str, list[tuple[AuditReport, str]]]

_PAGES = Environment(
    loader=PackageLoader(__package__, "."),
    autoescape=True,
    finalize=shown,
    undefined=StrictUndefined,
    keep_trailing_newline=True,
)
_PAGES.filters["cut"] = cut
_PAGES.tests["short"] = lambda text: all(len(word) <= SHORT for word in text.split())


def write_page(out: Path, inputs: Inputs, sheets: Sequence[Sheet]) -> Path:
    """Write `out/index.html`, and beside it the hashes of all segments. Raises OSError."""
    facts = inputs.facts
    hashes = "".join(f"{one.sha256}  {one.path}\n" for one in facts.segments if one.sha256)
    (out / HASHES).write_text(hashes, encoding="utf-8")
    style = Path(__file__).with_name("page.css").read_text(encoding="utf-8")
    text = _PAGES.get_template("page.html").render(
        style=Markup(style),
        asked=list(_asked(inputs)),
        is_filtered=bool(inputs.principals or inputs.topics),
        facts=facts,
        only_principals=inputs.principals,
        only_topics=inputs.topics,
        altered=[one for one in facts.remarks if not one.gap],
        gaps=[one for one in facts.remarks if one.gap],
        open=sum(one.state == "being written" for one in facts.segments),
        corrupt=sum(one.lines for one in facts.corrupt),
        sheets=sheets,
        charts=_charts,
        controls=_controls(sheets),
        hashes=HASHES,
        most=MOST,
        shown=SHOWN,
        br=Markup("<br>"),
    )
    page, begun = out / PAGE, out / f".{PAGE}"
    try:
        begun.write_text(text, encoding="utf-8")
        begun.replace(page)  # a page that a full disk cut off would look like a whole one
    finally:
        begun.unlink(missing_ok=True)
    return page


def _asked(inputs: Inputs) -> Iterator[tuple[str, str]]:
    """The options of the reports, as name and text."""
    yield "Journal", inputs.facts.journal
    yield "Period", "; ".join(dict.fromkeys(_period(inputs, zone) for zone in (inputs.zone, "UTC")))
    yield "Times", f"UTC; days and hours of the day in {inputs.zone}; working hours {inputs.hours}"
    if inputs.principals:
        yield "Only principals", ", ".join(inputs.principals)
    if inputs.topics:
        yield "Only topics", ", ".join(inputs.topics)
    if (offsets := inputs.offsets) is not None:
        where = "" if offsets.partition is None else f"-{offsets.partition}"
        yield "Records", f"{offsets.topic}{where}, offsets {offsets.first} to {offsets.last}"
    yield from inputs.files
    if inputs.facts.software:
        yield "Software", inputs.facts.software


def _period(inputs: Inputs, zone: str) -> str:
    since = "the beginning of the journal" if inputs.since is None else _moment(inputs.since, zone)
    until = "its end" if inputs.until is None else f"before {_moment(inputs.until, zone)}"
    return f"from {since} to {until}"


def _moment(at: datetime, zone: str) -> str:
    """A moment as a clock of this zone shows it, as exact as it was asked for."""
    local = at.astimezone(ZoneInfo(zone))
    exact = "%H:%M:%S.%f" if at.microsecond else "%H:%M:%S" if at.second else "%H:%M"
    return local.strftime(f"%Y-%m-%d {exact} %Z")


def _charts(sheet: Sheet) -> Iterator[tuple[Chart, Markup]]:
    for number, chart in enumerate(sheet.report.charts):
        if svg := drawn(chart, f"{sheet.report.name}-chart-{number}", sheet.sums[chart], partial(sheet.row, chart)):
            yield chart, Markup(svg)


def _controls(sheets: Sequence[Sheet]) -> list[Evidence]:
    """Every row of a framework, with the reports that are evidence for it."""
    found: dict[tuple[str, str], list[tuple[AuditReport, str]]] = {}
    for sheet in sheets:
        for one in sheet.report.controls:
            found.setdefault((one.framework, one.row), []).append((sheet.report, one.evidence))
    return [
        (f"{framework} {row}", evidence) for (framework, row), evidence in sorted(found.items(), key=lambda it: it[0])
    ]
