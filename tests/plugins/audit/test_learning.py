"""Learning topic names: `test_audit.py` tests conversations, and this file tests the limits of memory."""

from __future__ import annotations

import json
from pathlib import Path

from plugins.audit import Audit
from plugins.audit.contents import segment_lines
from plugins.audit.learning import MOST_ASKED, MOST_WAITING, TopicLearner
from plugins.audit.segments import segments
from proxy.core.filters import Filters
from proxy.core.link import Link
from proxy.protocol.api import FETCH, PRODUCE
from proxy.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse
from proxy.protocol.messages.metadata import MetadataRequest
from proxy.protocol.schema import Request, Response
from proxy.testing import FakeClock, FakeWorker, build, connection, request_frame
from tests.plugins.acl.talk import Talk, metadata_of, topic_id
from tests.plugins.acl.test_fetch import fetch, records
from tests.plugins.acl.test_produce import produce, written
from tests.plugins.audit.written import START

V = 13  # of Produce and Fetch: topics have ids
ORDERS_ALONE = "levels: [{match: {topic: orders}, level: full}, {level: none}]\n"


class Recorded(Talk):
    """A client of a cluster with some topics, whose requests by id are recorded."""

    def __init__(self, folder: Path, levels: str = "levels: []\n") -> None:
        (folder / "levels.yaml").write_text(levels)
        self.folder = folder / "journal"
        self.clock = FakeClock()
        files = {"journal": str(self.folder), "levels": str(folder / "levels.yaml")}
        self.audit = build(Audit, FakeWorker(clock=self.clock), **files)
        self.audit.start()
        self.topics = {name: topic_id(name) for name in ("orders", "others")}
        self.pause = 0.0  # seconds until the broker tells a name
        super().__init__(self.audit, "User:alice", self.serves)

    def serves(self, request: Request, version: int) -> Response | None:
        if not isinstance(request, MetadataRequest):
            return None
        self.clock.since_1970 += self.pause
        return metadata_of(self.topics, request)

    def at_once(self, *frames: bytes) -> None:
        """Send frames of Fetch requests in one piece."""
        self._sent += [(FETCH, V)] * len(frames)
        self.more(b"".join(frames))

    def recorded(self) -> list[tuple[int, str, list[str | None]]]:
        """The number, client id and topics of each request that was recorded, in the order of their numbers."""
        self.link.client_closed()
        self.link.release("it is over")
        self.audit.stop()
        found = [json.loads(line) for path in segments(self.folder) for line in segment_lines(path)]
        return sorted(
            (it["correlation_id"], it["client_id"], [each.get("name") for each in it["resources"]])
            for it in found
            if it["kind"] == "request"
        )


def test_nothing_is_asked_where_all_is_known() -> None:
    assert not TopicLearner(FakeWorker().services()).learn(connection(), [])


def test_each_id_is_asked_for_once_and_not_more_than_so_many() -> None:
    client = connection()
    Link(client, Filters([])).begin()
    learner = TopicLearner(FakeWorker().services())
    for first in range(1, 5 * MOST_ASKED, MOST_ASKED):
        assert learner.learn(client, [number.to_bytes(16) for number in range(first, first + MOST_ASKED + 10)])
        assert len(learner._asked) == len(learner._wanted) == MOST_ASKED, "the answer is still to come"


def test_what_waits_for_a_name_is_bounded() -> None:
    learner, put = TopicLearner(FakeWorker().services()), list[int]()
    for number in range(MOST_WAITING + 1):
        learner.when_known(lambda number=number: put.append(number))
    assert len(put) == MOST_WAITING + 1
    learner.when_known(lambda: put.append(-1), MOST_WAITING)
    assert put[-1] == MOST_WAITING
    learner.when_known(lambda: put.append(-2))
    assert put[-2:] == [-1, -2], "an event of many resources takes more room"


def test_ids_that_come_while_others_are_asked_for_are_asked_for_next(tmp_path: Path) -> None:
    talk = Recorded(tmp_path, ORDERS_ALONE)
    names = ("others", "orders", "orders")
    talk.at_once(*(request_frame(fetch(V, name), V, n, "app") for n, name in enumerate(names)))
    for name in names:
        talk.answer(records(V, name))
    assert talk.recorded() == [(1, "app", ["orders"] * 2), (2, "app", ["orders"] * 2)]


def test_ids_that_nobody_has_keep_no_other_from_its_name(tmp_path: Path) -> None:
    talk = Recorded(tmp_path, ORDERS_ALONE)
    for first in range(0, 2 * MOST_ASKED, MOST_ASKED):
        talk.ask(fetch(V, *(f"none-{number}" for number in range(first, first + MOST_ASKED))), V)
        talk.answer(records(V))
    talk.ask(fetch(V, "orders"), V)
    talk.answer(records(V, "orders"))
    assert talk.recorded()[-1] == (3, "app", ["orders"] * 2)


def test_a_request_is_recorded_with_the_client_id_that_it_had_also_where_its_event_waits_for_a_name(
    tmp_path: Path,
) -> None:
    talk = Recorded(tmp_path)
    talk._sent.append((PRODUCE, V))
    first = request_frame(produce(V, "orders", acks=0), V, 1, "app")
    talk.more(first + request_frame(produce(V, "others", acks=-1), V, 2, "another"))
    talk.answer(written(V, "others"))
    assert talk.recorded() == [(1, "app", ["orders"]), (2, "another", ["others"])]


def test_a_request_is_recorded_by_the_hours_in_which_it_ended_also_where_its_event_waits_for_a_name(
    tmp_path: Path,
) -> None:
    talk = Recorded(tmp_path, "levels: [{match: {during: {hours: 08:00-09:00}}, level: full}, {level: none}]\n")
    talk.clock.since_1970 = START + 3599  # it is 8:59:59
    talk.pause = 1.0
    talk.ask(fetch(V, "orders"), V)
    talk.answer(records(V, "orders"))
    assert talk.clock.since_1970 == START + 3600, "the name came then"
    talk.ask(fetch(V, "orders"), V)
    talk.answer(records(V, "orders"))
    assert talk.recorded() == [(1, "app", ["orders"] * 2)]


def test_a_topic_that_is_deleted_by_its_id_has_the_name_that_the_answer_gives(tmp_path: Path) -> None:
    talk = Recorded(tmp_path, ORDERS_ALONE)
    talk.ask(DeleteTopicsRequest(topics=[DeleteTopicsRequest.Topic(topic_id=topic_id("orders"))], timeout_ms=9), 6)
    del talk.topics["orders"]
    deleted = DeleteTopicsResponse.Topic(name="orders", topic_id=topic_id("orders"), error_code=0)
    talk.answer(DeleteTopicsResponse(responses=[deleted]))
    assert talk.recorded() == [(1, "app", ["orders"])]
