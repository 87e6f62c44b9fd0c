"""The recorder: numbers connections, and counts what the journal could not take."""

from __future__ import annotations

from pathlib import Path

from plugins.audit.journal import Journal
from plugins.audit.queue import QueuedEvent
from plugins.audit.recorder import EventRecorder
from plugins.audit.shared import SharedFields
from proxy.testing import FakeWorker, connection


def recorder(folder: Path, worker: FakeWorker) -> EventRecorder:
    journal = Journal(folder / "journal", folder / "key", "a", 0, worker.tell, worker.clock)
    return EventRecorder(journal, worker.services(), None)


def test_a_connection_keeps_its_number_until_it_is_forgotten(tmp_path: Path) -> None:
    events, first, second = recorder(tmp_path, FakeWorker()), connection(), connection()
    assert [events.known(one).number for one in (first, second, first)] == [1, 2, 1]
    events.forget(first)
    assert list(events.parties) == [second]
    assert events.known(first).number == 3


def test_nothing_is_known_of_connections_that_go_on_under_another_configuration(tmp_path: Path) -> None:
    events, told = recorder(tmp_path, FakeWorker()), []
    events.known(connection()).learner.when_known(lambda: told.append("it"), 1)
    events.forget_all()
    assert (told, events.parties) == (["it"], {})


def test_what_the_journal_cannot_take_is_counted_however_it_came(tmp_path: Path) -> None:
    worker, talk = FakeWorker(), connection()
    events = recorder(tmp_path, worker)
    large = QueuedEvent("request", 1.0, SharedFields({}), {}, 10**9)
    events.keep(large)
    events.keep(large)
    events.put("connection_opened", talk, {}, 10**9)
    assert worker.counts["lost_events"] == 2
