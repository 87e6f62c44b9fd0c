"""The page: complete without a network, the same each time, and correct for malicious names."""

from __future__ import annotations

import csv
import re
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path

import pytest

from plugins.audit.reports.catalogue import REPORTS, access
from plugins.audit.reports.inputs import Inputs, OffsetRange
from plugins.audit.reports.render.page import write_page
from tests.plugins.audit.reports.people import HARMFUL, LONG_TOPIC
from tests.plugins.audit.reports.render.pages import FACTS, INPUTS, write
from tests.plugins.audit.written import full_disk

VOID = {"meta", "link", "br", "rect", "line", "polyline"}


class Outline(HTMLParser):
    """Tags, ids, links and text of a page. Every tag that opens must close, in order."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.named: list[str] = []
        self.text: list[str] = []
        self.unclosed: list[str] = []
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        said = dict(attrs)
        assert not [name for name in said if name.startswith("on")]
        self.ids += [said["id"]] if said.get("id") else []
        self.links += [said["href"]] if said.get("href") else []
        self.named += (said.get("aria-labelledby") or "").split()
        if tag not in VOID:
            self.unclosed.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.unclosed.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("out"))


def test_it_needs_no_network_and_no_script(page: Path) -> None:
    outline = Outline(page)
    assert not outline.unclosed
    assert not outline.tags.keys() & {"script", "img", "iframe", "object", "embed"}
    assert not re.findall(r"(?:https?:)?//\w", page.read_text(encoding="utf-8").replace("data:,", ""))


def test_every_link_leads_somewhere_and_every_id_is_its_own(page: Path) -> None:
    outline = Outline(page)
    assert not [one for one, times in Counter(outline.ids).items() if times > 1]
    assert set(outline.named) <= set(outline.ids)
    inside = {link.removeprefix("#") for link in outline.links if link.startswith("#")}
    assert inside <= set(outline.ids)
    files = {link for link in outline.links if not link.startswith(("#", "data:")) and not link.endswith(".parquet")}
    assert files
    assert not [name for name in files if not (page.parent / name).exists()]


def test_a_figure_leads_to_a_row_that_has_its_name(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    linked = re.findall(r'<a href="#(access-row-\d+)"><title>([^:]+): [\d,]+</title>', text)
    assert linked
    for row, name in linked:
        assert name in text[text.index(f'<tr id="{row}">') :].partition("</tr>")[0]


def test_every_report_has_its_place_its_rows_and_its_controls(page: Path) -> None:
    outline = Outline(page)
    for report in REPORTS:
        assert {report.name, f"{report.name}-rows"} <= set(outline.ids)
        with open(page.parent / f"{report.name}.csv", encoding="utf-8", newline="") as opened:
            assert tuple(next(csv.reader(opened, strict=True))) == report.names
        for control in report.controls:
            assert f"{control.framework} {control.row}" in outline.text


def test_a_rerun_gives_the_same_bytes(page: Path, tmp_path: Path) -> None:
    write(tmp_path)
    for file in page.parent.iterdir():
        assert (tmp_path / file.name).read_bytes() == file.read_bytes()


def test_names_that_mean_harm_stand_there_as_text(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert "<script" not in text
    assert "&lt;script&gt;alert(1)" in text
    assert not [one for one in "\u202e\r\t" if one in text]
    assert "\\u202e" in text
    assert f"<bdi>{LONG_TOPIC[:60]} … 129 characters … {LONG_TOPIC[-60:]}</bdi>" in text
    rows = (page.parent / "access.csv").read_text(encoding="utf-8")
    assert HARMFUL[0] in rows
    assert LONG_TOPIC in rows


@pytest.mark.parametrize(
    ("size", "last", "said"),
    [
        (1_500, "2026-03-02T", "The most was read by User:a from t: 1,500 bytes, between 2026-03-01 and 2026-03-02."),
        (1, "2026-03-01T", "The most was read by User:a from t: 1 byte, on 2026-03-01."),
        (0, "2026-03-01T", "No record was read."),
    ],
)
def test_the_summary_of_access_tells_the_most_if_there_is_one(size: int, last: str, said: str) -> None:
    row = {"principal": "User:a", "topic": "t", "bytes_read": size, "first": "2026-03-01T", "last": last}
    assert access.REPORT.summary([row], 1) == f"The table has 1 pair of a user and a topic. {said}"


def test_short_words_in_a_table_are_not_broken_and_long_ones_are(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert '<bdi class="whole">payments</bdi>' in text
    assert "<bdi>User:&lt;script&gt;alert(1)&lt;/script&gt;</bdi>" in text


def test_what_is_wrong_with_the_record_is_said_before_any_figure(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    record = text[text.index('id="record"') : text.index('id="overview"')]
    for said in ("Nothing was altered", "1 place<", "events are missing", "1 line<", "4,000 events are of version 2"):
        assert said in record


def test_a_topic_that_cannot_be_verified_or_a_journal_that_was_altered_is_called_that(tmp_path: Path) -> None:
    unverified = replace(FACTS, is_verified=False, remarks=())
    text = write(tmp_path, [], Inputs(unverified)).read_text(encoding="utf-8")
    assert "A topic has no signatures: nothing here shows whether events were altered." in text
    assert "24 partitions</a> of the topic." in text
    assert "24 files<" not in text
    assert "No event is known to be missing" not in text
    altered = replace(FACTS, remarks=(replace(FACTS.remarks[0], gap=False),))
    text = write(tmp_path, [], Inputs(altered)).read_text(encoding="utf-8")
    assert "something was done to the journal" in text
    assert "Nothing was altered" not in text
    assert "No event is known to be missing" not in text
    assert "Events may be missing there" in text


def test_a_remark_says_which_events_it_is_about(tmp_path: Path) -> None:
    (remark,) = FACTS.remarks
    for last, said in ((17, ", event 17: "), (20, ", events 17 to 20: "), (None, ", events from 17 on: ")):
        facts = replace(FACTS, remarks=(replace(remark, last=last),))
        assert f"</code>{said}" in write(tmp_path, [], Inputs(facts)).read_text(encoding="utf-8")


def test_a_filter_that_finds_nothing_is_no_good_news(tmp_path: Path) -> None:
    asked = replace(INPUTS, principals=("User:alcie",), facts=replace(FACTS, asked_for=0))
    assert "0 events of them are about what was asked for. Check the names" in write(tmp_path, [], asked).read_text()
    asked = replace(INPUTS, principals=("User:alice",), facts=replace(FACTS, asked_for=1))
    assert "1 event of them is about what was asked for.<" in write(tmp_path, [], asked).read_text()
    assert "about what was asked for" not in write(tmp_path, []).read_text()


def test_whose_key_it_was_verified_with_is_said(tmp_path: Path) -> None:
    said = "the keys that the journal names"
    assert said in write(tmp_path, []).read_text("utf-8")
    assert said not in write(tmp_path, [], Inputs(replace(FACTS, is_trusted=True))).read_text("utf-8")
    assert said not in write(tmp_path, [], Inputs(replace(FACTS, is_verified=False))).read_text("utf-8")


def test_what_is_being_written_is_not_called_proven(tmp_path: Path) -> None:
    one, two, *_ = FACTS.segments
    for many, said in ((1, "1 file is being written."), (2, "2 files are being written.")):
        states = [replace(segment, state="being written") for segment in (one, two)[:many]]
        text = write(tmp_path, [], Inputs(replace(FACTS, segments=(*states, *FACTS.segments[2:])))).read_text("utf-8")
        assert said in text
    assert "being written." not in write(tmp_path, []).read_text("utf-8")


def test_the_period_is_told_as_it_was_asked_for_and_in_utc(tmp_path: Path) -> None:
    """Clocks of this zone change in the night before March 30th."""
    since, until = datetime(2025, 3, 29, 23, tzinfo=UTC), datetime(2025, 3, 30, 22, 0, 1, tzinfo=UTC)
    text = write(tmp_path, [], replace(INPUTS, zone="Europe/Berlin", since=since, until=until)).read_text("utf-8")
    assert (
        "from 2025-03-30 00:00 CET to before 2025-03-31 00:00:01 CEST; "
        "from 2025-03-29 23:00 UTC to before 2025-03-30 22:00:01 UTC<"
    ) in text
    text = write(tmp_path, [], Inputs(FACTS, since=since)).read_text("utf-8")
    assert "<bdi>from 2025-03-29 23:00 UTC to its end<" in text
    text = write(tmp_path, []).read_text("utf-8")
    assert "<bdi>from the beginning of the journal to its end<" in text


def test_what_else_was_asked_for_and_read_is_told(tmp_path: Path) -> None:
    asked = replace(INPUTS, offsets=OffsetRange("orders", 0, 1, 2), files=(("Tags", "tags.yaml, SHA-256 0123"),))
    text = write(tmp_path, [], asked).read_text("utf-8")
    assert "<bdi>orders-0, offsets 1 to 2</bdi>" in text
    assert "<dt>Tags</dt><dd><bdi>tags.yaml, SHA-256 0123</bdi></dd>" in text


def test_what_events_do_not_tell_is_said_before_any_figure(tmp_path: Path) -> None:
    text = write(tmp_path, [], replace(INPUTS, facts=replace(FACTS, unnamed=1, left_out=1_234))).read_text("utf-8")
    record = text[text.index('id="record"') : text.index('id="overview"')]
    assert "1 event of the period knows a topic by its id alone" in record
    assert "1,234 more are in no figure" in record
    assert "The journal has no event of this period." in record


def test_a_report_about_everybody_says_so_where_somebody_was_asked_for(tmp_path: Path) -> None:
    said = "This report is about everybody and about all topics, whatever was asked for."
    assert said not in write(tmp_path, []).read_text("utf-8")
    text = write(tmp_path, [], replace(INPUTS, principals=("User:alice",))).read_text("utf-8")
    assert text.count(said) == sum(report.scope.is_of_all for report in REPORTS)


def test_a_period_in_which_nothing_happened_is_a_page_too(tmp_path: Path) -> None:
    outline = Outline(write(tmp_path, []))
    assert not outline.unclosed
    assert outline.tags["svg"] == 0
    assert (
        "".join(outline.text).count("There are no rows.") == len(REPORTS) - 2
    )  # rules grant what nobody uses; files are there


def test_a_report_that_lacks_what_it_needs_says_which_option_gives_it(tmp_path: Path) -> None:
    text = write(tmp_path, [], replace(INPUTS, rules=None, tags=None)).read_text(encoding="utf-8")
    assert text.count("give one with --rules FILE") == 2 * 2
    assert text.count("give one with --tags FILE") == 2


def test_a_topic_has_no_hashes_and_the_page_says_so(tmp_path: Path) -> None:
    elsewhere = replace(FACTS, is_verified=False, segments=(replace(FACTS.segments[0], sha256=""),))
    text = write(tmp_path, [], Inputs(elsewhere)).read_text(encoding="utf-8")
    assert "which has no files to be hashed" in text
    assert "sha256sum -c" not in text
    assert not (tmp_path / "inputs.sha256").read_text()


def test_the_hashes_are_as_sha256sum_reads_them(page: Path) -> None:
    lines = (page.parent / "inputs.sha256").read_text(encoding="utf-8").splitlines()
    assert lines == [f"{one.sha256}  {one.path}" for one in INPUTS.facts.segments]


def test_a_page_for_which_the_disk_has_no_room_is_not_there_in_part(tmp_path: Path) -> None:
    (tmp_path / "large").write_bytes(bytes(4_000))
    with full_disk(tmp_path), pytest.raises(OSError, match="File too large"):
        write_page(tmp_path, INPUTS, [])
    assert {path.name for path in tmp_path.iterdir()} == {"large", "inputs.sha256"}
