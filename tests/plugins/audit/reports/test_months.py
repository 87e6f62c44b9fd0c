"""The generated months for tests of reports: determined by a seed, valid by the schema, written by the real writer."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from pathlib import Path

import pytest

from plugins.audit.schema import KINDS
from plugins.audit.verify import verify
from tests.plugins.audit.declared import undeclared
from tests.plugins.audit.reports.journals import (
    lose_segment,
    older,
    read_journal,
    repeat_segment,
    stamped,
    write_journal,
)
from tests.plugins.audit.reports.months import EMPTY_DAY, MARCH, OCTOBER, month
from tests.plugins.audit.written import KEY


@pytest.mark.parametrize("seed", range(5))
def test_every_event_is_as_the_schema_declares_it(seed: int) -> None:
    assert not [problem for event in stamped(month(seed)) for problem in undeclared(event)]


@pytest.mark.parametrize("start", [MARCH, OCTOBER])
def test_every_month_has_every_kind_of_event_a_burst_and_an_empty_day(start: datetime) -> None:
    events = stamped(month(3, connections=10, start=start))
    assert {event["kind"] for event in events} >= KINDS.keys() - {"segment_opened", "journal_closed"}
    failed = Counter(event["time"][:13] for event in events if event["kind"] == "authentication_failed")
    assert max(failed.values()) >= 8
    days = {event["time"][8:10] for event in events}
    assert f"{EMPTY_DAY + 1:02}" not in days
    assert len(days) > 5


def test_the_same_seed_makes_the_same_month() -> None:
    assert stamped(month(1)) == stamped(month(1)) != stamped(month(2))


def test_an_older_proxy_leaves_out_what_its_schema_did_not_have() -> None:
    (event,) = older([{"kind": "denied", "schema": 9, "what comes one day": 1}], 1)
    assert event == {"kind": "denied", "schema": 1}


def test_the_journal_of_a_month_is_intact_but_for_the_losses_that_it_tells(tmp_path: Path) -> None:
    happenings = month(5, connections=30)
    write_journal(tmp_path, happenings)
    verified = verify(tmp_path, KEY.public_key())
    assert verified.is_intact
    assert {remark.gap for remark in verified.remarks} == {True}  # what was lost, and the worker that was killed
    events = read_journal(tmp_path)
    own = {"segment_opened", "journal_closed"}
    assert sum(event["kind"] not in own for event in events) == len(happenings)


def test_a_segment_that_is_lost_or_repeated_is_noticed(tmp_path: Path) -> None:
    write_journal(tmp_path, month(5, connections=5))
    before = len(read_journal(tmp_path))
    repeat_segment(tmp_path, 2)
    assert len(read_journal(tmp_path)) == before
    assert not verify(tmp_path, KEY.public_key()).is_intact
    lose_segment(tmp_path, 1)
    assert len(read_journal(tmp_path)) < before
