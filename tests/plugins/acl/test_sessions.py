"""Sessions: the broker's session has exactly the allowed topics of the client's, whatever clients and rules do."""

from __future__ import annotations

from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from plugins.acl.sessions import AuthorizedSession
from proxy.core.fetch_session import PARTITION, TOPIC, FetchedTopic
from proxy.core.fetch_sessions import FetchSessions
from proxy.protocol.errors import ErrorCode
from proxy.protocol.messages.fetch import FetchRequest

TOPICS = ("a", "b", "c")
REFUSED = 29

asks = st.dictionaries(st.sampled_from(TOPICS), st.sets(st.integers(0, 2), min_size=1), max_size=3)
step = st.tuples(asks, asks, st.sets(st.sampled_from(TOPICS)), st.booleans())


@given(st.lists(step, max_size=8))
def test_the_brokers_session_has_what_is_allowed(steps: list[tuple[dict[str, set[int]], ...]]) -> None:
    """The rules are others only where the edition is."""
    session, edition = AuthorizedSession(by_id=False), object()
    wanted: dict[tuple[str, int], int] = {}  # by partition: the offset that the client asked for last
    broker: dict[tuple[str, int], int] = {}
    refused: set[str] = set()
    for number, (asked, forgotten, now_refused, changes) in enumerate(steps):
        if changes:
            edition, refused = object(), set(now_refused)  # type: ignore[arg-type]
        change = session.step(
            [FetchedTopic(topic, dict.fromkeys(partitions, number)) for topic, partitions in asked.items()],
            [FetchedTopic(topic, dict.fromkeys(partitions)) for topic, partitions in forgotten.items()],
            lambda topic, refused=refused: REFUSED if topic in refused else None,
            edition,
        )
        wanted.update({(topic, partition): number for topic, partitions in asked.items() for partition in partitions})
        for topic, kept in change.topics:
            broker.update({(str(topic), partition): offset for partition, offset in kept.items()})
        for topic, partitions in forgotten.items():
            for partition in partitions:
                wanted.pop((topic, partition), None)
                broker.pop((topic, partition), None)
        for topic, kept in change.forgotten:
            for partition in kept:
                del broker[str(topic), partition]
        assert broker == {at: offset for at, offset in wanted.items() if at[0] not in refused}
        assert session.refused == {topic: REFUSED for topic, _ in wanted if topic in refused}
        assert session.size == len(wanted)
        assert session.held - PARTITION * session.size == (TOPIC + 4) * len({topic for topic, _ in wanted})
        if not change.changed:
            assert change.topics == [FetchedTopic(topic, dict.fromkeys(each, number)) for topic, each in asked.items()]
            assert not change.forgotten


def test_what_a_session_keeps_is_counted_by_its_names_and_partitions_and_unknown_tags_are_not_kept() -> None:
    asked = FetchRequest.Topic.Partition(partition=1, fetch_offset=7, partition_max_bytes=9, unknown_tags=[(99, b"x")])
    session, sessions, name = AuthorizedSession(by_id=False), FetchSessions(AuthorizedSession), "n" * 30_000
    change = session.step([FetchedTopic(name, {1: asked})], [], lambda topic: None, object())
    sessions.open(1, session)
    assert sessions.held == PARTITION + TOPIC + 4 * len(name)
    kept = session.topics[name][1]
    assert (kept.fetch_offset, kept.partition_max_bytes, kept.unknown_tags) == (7, 9, ())
    assert change.topics[0].partitions[1].unknown_tags, "the broker is told what was asked"
    session.step([], [FetchedTopic(name, {1: None})], lambda topic: None, object())
    assert sessions.held == 0


class Unwalked(dict[str, int]):
    """A mapping that may be asked for a key, but not gone over."""

    def __iter__(self) -> Iterator[str]:
        raise AssertionError("all of it was gone over")

    keys = values = items = __iter__  # type: ignore[assignment]


def test_a_small_request_does_not_go_over_all_that_is_refused_in_its_session() -> None:
    session, edition = AuthorizedSession(by_id=False), object()
    session.step([FetchedTopic(topic, {0: None}) for topic in TOPICS], [], lambda topic: REFUSED, edition)
    session.refused = Unwalked(session.refused)
    session.topics = Unwalked(session.topics)  # type: ignore[assignment,arg-type]
    asked, forgotten = [FetchedTopic("a", {1: None})], [FetchedTopic("b", {0: None})]
    change = session.step(asked, forgotten, lambda topic: REFUSED, edition)
    assert change.refused == {"a": REFUSED}
    assert session.refused == {"a": REFUSED, "c": REFUSED}
    change = session.step(asked, [], lambda topic: None, edition)
    assert change.restored
    assert session.refused == {"c": REFUSED}


def test_a_topic_whose_name_is_not_known_is_checked_again_with_each_request() -> None:
    session, edition, known = AuthorizedSession(by_id=True), object(), False
    asked = FetchedTopic(b"id", {0: None})

    def verdict(topic: str | bytes) -> int | None:
        return None if known else ErrorCode.UNKNOWN_TOPIC_ID

    assert session.step([asked], [], verdict, edition).refused == {b"id": ErrorCode.UNKNOWN_TOPIC_ID}
    assert not session.step([], [], verdict, edition).restored
    known = True
    assert session.step([], [], verdict, edition).topics == [asked]
    assert not session.refused
