"""The topics fast path: a request that passes unread has only writable topics, and begins like one that was read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from plugins.acl.request_authorizer import authorizer_of
from plugins.acl.topics_fast_path import FETCH_TOPICS, LOOKED_AT, NEW, PRODUCE_TOPICS, TopicsFastPath
from proxy.core.context import Context
from proxy.core.fast_path import Certain
from proxy.core.fetch_sessions import FetchSessions
from proxy.core.interest import interest
from proxy.protocol.api import FETCH, PRODUCE
from proxy.protocol.codec import encode
from proxy.protocol.header import request_frame
from proxy.protocol.messages.fetch import FetchRequest
from proxy.protocol.messages.produce import ProduceRequest
from proxy.protocol.records import CompressionType, Record, write_batch
from proxy.protocol.schema import Request
from tests.plugins.acl.talk import Rules, Talk, topic_id
from tests.plugins.acl.test_fetch import fetch, records
from tests.plugins.acl.test_produce import produce, written

Making = Callable[..., Rules]
OWN = "acls: [{allow: User:alice, to: [Read, Write], topics: [mine, ours]}]"
BODY = 4 + 10 + 3  # after the size and a header of version 1 with the client id "app"


class Known:
    """What is known after this request passed and after those that were `read` since, and whether others may pass.

    `become`: the rules that came into force between its check and its way to the broker.
    """

    def __init__(self, own: Rules, request: Request, version: int, become: str | None = None) -> None:
        own.acl.names.learn(
            [type("T", (), {"name": name, "topic_id": topic_id(name)}) for name in ("mine", "ours", "theirs")]
        )
        kind, handlers = (
            (PRODUCE_TOPICS, own.acl._produce) if request.api is PRODUCE else (FETCH_TOPICS, own.acl._fetch)
        )
        talk = Talk(own.acl)
        self.connection, self.version, self.api = talk.connection, version, request.api
        self.authorizer, self.handlers = own.acl.authorizer, handlers
        self.fast_path = TopicsFastPath(kind, handlers)
        self.ctx = self.judged(request)
        if become is not None:  # while a plugin behind this one has the request wait
            own.become(become)
            talk.connection.notes[own.acl.authorizer.name].current()
        self.passed(self.ctx, request)

    def judged(self, request: Request) -> Context:
        ctx = Context(self.connection, request.api, self.version, 1)
        authorizer_of(self.authorizer, ctx)
        self.handlers.request(ctx, request)
        return ctx

    def passed(self, ctx: Context, request: Request) -> None:
        self.fast_path.learn(ctx, self.frame(request), BODY + request.api.is_flexible(self.version))

    def read(self, request: Request) -> None:
        self.passed(self.judged(request), request)

    def certain(self, request: Request) -> Certain | None:
        """Which requests are certain to pass, once this one was read."""
        begins = self.fast_path.learn(
            self.judged(request), self.frame(request), BODY + request.api.is_flexible(self.version)
        )
        assert begins is not None
        return begins.certain

    def frame(self, request: Request, client: str = "app") -> memoryview:
        return memoryview(request_frame(request, self.version, 1, client))

    def lets_pass(self, frame: memoryview, version: int | None = None) -> bool:
        api = self.api.key << 16 | (self.version if version is None else version)
        length = int.from_bytes(frame[:4]) + 4
        sample = self.fast_path.passes(self.connection, api, frame, length)
        return sample is not None and sample.notes == self.ctx.notes

    def passes(self, request: Request, **more: Any) -> bool:
        return self.lets_pass(self.frame(request, **more))


@pytest.mark.parametrize("version", PRODUCE.versions)
def test_of_a_produce_request_only_the_names_matter(rules: Making, version: int) -> None:
    known = Known(rules(OWN), produce(version, "mine"), version)
    assert not known.passes(produce(version, "ours"))
    known.read(produce(version, "ours"))
    assert known.passes(produce(version, "ours", "mine", "ours", records=b"other"))
    assert known.passes(produce(version))
    assert not known.passes(produce(version, "ours", "theirs"))
    assert not known.passes(produce(version, "ours", "nobodys"))
    assert not known.passes(produce(version, "mine", acks=0))
    assert not known.passes(produce(version, "mine"), client="other")
    assert not known.lets_pass(known.frame(produce(version, "mine")), version + 1)
    if version >= 3:
        assert not known.passes(produce(version, "mine", transactional_id="t"))
    assert known.passes(produce(version, "mine"))


@pytest.mark.parametrize("version", PRODUCE.versions)
def test_a_produce_request_of_one_topic_is_certain_as_far_as_its_name(rules: Making, version: int) -> None:
    known = Known(rules(OWN), produce(version, "mine"), version)
    name = topic_id("ours") if version >= 13 else b"ours"
    for request in (produce(version, "ours"), produce(version, "ours", records=b"other")):
        certain = known.certain(request)
        assert certain is not None
        assert (certain.varying, certain.exact) == ((), False)
        assert bytes(known.frame(request)[: certain.end]).endswith(name)
    assert known.certain(produce(version)) is known.certain(produce(version, "ours", "mine")) is None


@pytest.mark.parametrize("version", FETCH.versions)
def test_a_fetch_request_is_certain_but_for_its_offsets(rules: Making, version: int) -> None:
    request = fetch(version, "ours", "mine")
    certain = Known(rules(OWN), fetch(version, "mine"), version).certain(request)
    assert certain is not None
    assert certain.exact
    asked = request, fetch(version, "ours", "mine", offset=-1)
    frame, other = (request_frame(each, version, 1, "app") for each in asked)
    assert len(frame) == len(other) == certain.end
    differs = {at for at in range(len(frame)) if frame[at] != other[at]}
    assert differs < {at for start, stop in certain.varying for at in range(start, stop)}
    partitions, fields = 4, 2 + (version >= 5) + (version >= 9) + (version >= 12)
    assert len(certain.varying) == partitions * fields


@pytest.mark.parametrize("version", range(3, PRODUCE.newest + 1))
def test_what_other_rules_allowed_is_no_sample(rules: Making, version: int) -> None:
    asked = produce(version, "mine", transactional_id="t")
    with_t = OWN.replace("topics:", "transactional_ids: [t], topics:")
    assert Known(rules(with_t), asked, version).passes(asked)
    assert not Known(rules(with_t), asked, version, become=OWN).passes(asked)


@pytest.mark.parametrize("version", FETCH.versions)
def test_of_a_fetch_without_a_session_too(rules: Making, version: int) -> None:
    known = Known(rules(OWN), fetch(version, "mine"), version)
    assert not known.passes(fetch(version, "ours"))
    known.read(fetch(version, "ours"))
    assert known.passes(fetch(version, "ours", "mine", offset=77))
    assert not known.passes(fetch(version, "mine", "theirs"))
    assert not known.passes(fetch(version, "mine", "nobodys"))
    assert not known.passes(fetch(version, "mine", replica_id=1, replica_state=FetchRequest.ReplicaState(replica_id=1)))
    assert not known.passes(fetch(version, "mine"), client="other")
    frame = known.frame(fetch(version, "mine"))
    assert not any(known.lets_pass(frame[:end]) for end in range(BODY, len(frame)))
    if version >= 7:
        assert not known.passes(fetch(version, "mine", session=(0, 0)))
        assert not known.passes(fetch(version, "mine", session=(7, 1)))
        assert not known.passes(fetch(version, "mine", forget=["theirs"]))
    if version >= 12:
        assert not known.passes(fetch(version, "mine", cluster_id="c"))
    assert known.passes(fetch(version, "mine"))


def test_a_name_that_is_no_utf_8_does_not_pass_unread(rules: Making) -> None:
    known = Known(rules("acls: [{allow: User:alice, to: Write, topics: m*}]"), produce(9, "more"), 9)
    frame = known.frame(produce(9, "more"))
    assert known.lets_pass(frame)
    assert not known.lets_pass(memoryview(bytes(frame).replace(b"more", b"mor\xff")))


@pytest.mark.parametrize("version", PRODUCE.versions)
def test_of_a_large_request_only_the_names_need_have_come(rules: Making, version: int) -> None:
    known = Known(rules(OWN), produce(version, "mine", "ours"), version)
    frame = known.frame(produce(version, "mine", "ours", records=bytes(5_000)))
    passing = [end for end in range(BODY, len(frame), 50) if known.lets_pass(frame[:end])]
    assert 5_000 < min(passing) < 5_200
    assert max(passing) > 10_000


def test_with_other_rules_nothing_is_known(rules: Making) -> None:
    own = rules(OWN)
    known = Known(own, produce(9, "mine"), 9)
    own.become("acls: [{allow: User:alice, to: Write, topics: [mine, ours, more]}]")
    assert not known.passes(produce(9, "mine"))


@pytest.mark.parametrize(("after", "may"), [(None, True), ("acls: []", False)])
@pytest.mark.parametrize("ask", [produce, fetch])
def test_rules_that_come_right_after_the_check_let_nothing_pass_by_its_beginning(
    rules: Making, ask: Callable[..., Any], after: str | None, may: bool
) -> None:
    own, request = rules(OWN), ask(9, "mine")
    known = Known(own, request, 9)
    known.connection.samples.clear()
    ctx, frame = known.judged(request), known.frame(request)
    if after is not None:
        own.become(after)  # in a thread, so that nobody has noticed yet
    begins = known.fast_path.learn(ctx, frame, BODY + request.api.is_flexible(9))
    assert begins is not None
    assert begins.rest is not None
    assert begins.rest(frame, begins.end, len(frame)) is may


@pytest.mark.parametrize("version", [7, 9, 11, 12, 13, 17, 18])
@pytest.mark.parametrize("session", [(0, -1), (7, -1)])
@pytest.mark.parametrize("before", [0, 1])
def test_a_topic_that_a_request_without_a_session_forgets_was_not_allowed(
    rules: Making, version: int, session: tuple[int, int], before: int
) -> None:
    own = rules("acls: [{allow: User:alice, to: Read, topics: mine}]")
    own.acl.names.learn([type("T", (), {"name": name, "topic_id": topic_id(name)}) for name in ("mine", "theirs")])
    talk = Talk(own.acl)
    for forget in [[], ["theirs"]][1 - before :]:
        talk.ask(fetch(version, "mine", session=session, forget=forget), version)
        talk.answer(records(version, "mine"))
    answer = talk.ask(fetch(version, "theirs", session=session), version) or talk.answer(records(version))
    assert talk.denied == [("Read", "Topic", "theirs")]
    assert [partition.error_code for topic in answer.responses for partition in topic.partitions] == [29] * 2


def test_a_request_that_ends_a_session_is_read_each_time(rules: Making) -> None:
    talk = Talk(rules(OWN).acl)
    for epoch in ((7, -1), (0, 0), (7, -1)):
        talk.ask(fetch(9, "mine", session=epoch), 9)
        talk.answer(records(9, "mine", session=7 if epoch == (0, 0) else 0))
    (sessions,) = [note for note in talk.connection.notes.values() if isinstance(note, FetchSessions)]
    assert not sessions._open


def test_names_of_a_sample_that_another_replaced_are_let_go(rules: Making) -> None:
    talk = Talk(rules("super_users: [User:alice]").acl)
    for version in (8, 9):
        talk.ask(produce(version, "mine", "ours"), version)
        talk.answer(written(version, "mine", "ours"))
    begun = [known[-1].rest.__self__ for known in talk.link.requests._heads.passing.values()]
    assert [len(sample.known.values) for sample in begun] == [0, 2]


def test_of_many_names_not_all_are_known(rules: Making, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plugins.acl.topics_fast_path.MOST", 5)
    known = Known(rules("super_users: [User:alice]"), produce(9, "mine"), 9)
    many = produce(9, *map(str, range(33)))
    known.read(many)
    assert not known.passes(many)
    assert len(known.connection.samples[known.fast_path].known.values) <= 5


def test_a_name_of_a_request_that_was_refused_is_not_known(rules: Making) -> None:
    known = Known(rules(OWN), produce(9, "mine"), 9)
    known.read(produce(9, "ours", "theirs"))
    assert not known.passes(produce(9, "ours"))
    assert not known.passes(produce(9, "theirs"))


def test_names_of_a_request_that_begins_otherwise_are_of_another_sample(rules: Making) -> None:
    own = rules(OWN.replace("topics:", "transactional_ids: [t], topics:"))
    known = Known(own, produce(9, "mine", transactional_id="t"), 9)
    known.read(produce(9, "ours"))
    assert known.passes(produce(9, "ours"))
    assert not known.passes(produce(9, "mine"))
    assert not known.passes(produce(9, "ours", transactional_id="t"))


def test_of_many_new_names_some_become_known_with_each_request(rules: Making) -> None:
    own = rules("acls: [{allow: User:alice, to: Write, topics: t-*}]")
    known = Known(own, produce(9, "t-0"), 9)
    many = produce(9, *(f"t-{number}" for number in range(NEW + 10)))
    known.read(many)
    assert not known.passes(many)
    known.read(many)
    assert known.passes(many)


def test_what_is_so_large_that_calling_it_takes_long_is_read(rules: Making) -> None:
    known = Known(rules(OWN), produce(9, "mine"), 9)
    assert known.passes(produce(9, "mine", records=b"r" * 1000))
    assert not known.passes(produce(9, "mine", records=b"r" * LOOKED_AT))


def test_a_request_with_compressed_records_takes_no_slices(rules: Making) -> None:
    """Otherwise the next ones like it would not be certain to pass, and their answers would be read in slices."""
    wanted = interest(ProduceRequest, 9, rules(OWN).acl.handlers())
    assert wanted is not None
    zipped = write_batch([Record(None, b"a")], compression=CompressionType.ZSTD)
    request = produce(9, "mine")
    request.topic_data[0].partition_data[0].records = zipped
    assert not wanted.has_many_records(wanted.read(encode(request, 9)))
