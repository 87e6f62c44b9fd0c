"""Rules that change while a request is checked: what the old ones allowed is not sent, and is checked once more."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from plugins.acl.request_authorizer import CHANGED
from plugins.acl.share_fetch import ShareAcknowledgeCheck, ShareFetchCheck
from proxy.core.commands import Command
from proxy.protocol.errors import ErrorCode
from proxy.protocol.messages.delete_topics import DeleteTopicsRequest
from proxy.protocol.messages.metadata import MetadataRequest
from proxy.protocol.messages.produce import ProduceRequest
from proxy.protocol.schema import Request, Response
from proxy.protocol.wire import NO_UUID
from tests.plugins.acl.talk import Rules, Talk, metadata_of, topic_id
from tests.plugins.acl.test_produce import BATCH
from tests.plugins.acl.test_subscriptions import SEES, Group

Making = Callable[..., Rules]
DELETES = """\
acls:
  - {allow: User:alice, to: Delete, topics: mine}
  - {allow: User:alice, to: Describe, topics: other*}
"""
REFUSED = ErrorCode.TOPIC_AUTHORIZATION_FAILED
MANY = [f"other-{number}" for number in range(5_000)]  # the proxy asks which of them exist, in several questions


class Interrupted(Talk):
    """A client. `meanwhile` happens when others have had so many turns."""

    turn, meanwhile = 0, staticmethod(lambda: None)

    def _happens(self, commands: list[Command]) -> None:
        self._carry_out(commands)
        while self._waiting:
            if self.turns == self.turn:
                self.meanwhile()
            self._carry_out(self._waiting.pop(0)())


changes = pytest.mark.parametrize(("after", "is_sent"), [("acls: []", False), (None, True)], ids=["taken", "the same"])


@changes
def test_while_an_expression_is_matched(rules: Making, after: str | None, is_sent: bool) -> None:
    own = rules(SEES)

    class Matching(Group):
        def _perform(self, perform: Any) -> Any:
            own.become(after or SEES)
            return super()._perform(perform)

    talk = Matching(own)
    talk.beat(0, subscribed_topic_regex="a-.*")
    assert talk.told == ([(["a-1", "a-2"], None)] if is_sent else [])
    assert talk.closed == (None if is_sent else CHANGED)


@changes
@pytest.mark.parametrize("refused", [False, True])
def test_while_the_topics_of_a_produce_request_are_judged(
    rules: Making, after: str | None, is_sent: bool, refused: bool
) -> None:
    writes = "acls: [{allow: User:alice, to: Write, topics: t-*}]"
    part = ProduceRequest.Topic.Partition(index=0, records=BATCH)
    names = [f"t-{number}" for number in range(3_000)] + ["theirs"] * refused
    topics = [ProduceRequest.Topic(name=name, partition_data=[part]) for name in names]
    results = []
    for turn in (30, 50, 70):  # of 80 and more
        own = rules(writes)
        talk = Interrupted(own.acl)
        talk.turn, talk.meanwhile = turn, partial(own.become, after or writes)
        answer = talk.ask(ProduceRequest(acks=-1, timeout_ms=1, topic_data=topics), 9)
        assert talk.turns > 80 or talk.closed
        errors = [part.error_code for topic in answer.responses for part in topic.partition_responses] if answer else []
        results.append((len(talk.to_broker), talk.closed, errors))
    # Nothing was refused so far, so that it is checked by the new rules; or the connection ends.
    otherwise = (0, CHANGED, []) if refused else (0, None, [REFUSED] * len(topics))
    assert results == [(1, None, []) if is_sent else otherwise] * 3


@changes
@pytest.mark.parametrize("shadow", [False, True])
def test_while_the_broker_is_asked_which_topics_exist(
    rules: Making, after: str | None, is_sent: bool, shadow: bool
) -> None:
    own = rules(DELETES, shadow=shadow)

    def broker(request: Request, version: int) -> Response | None:
        if not isinstance(request, MetadataRequest):
            return None
        own.become(after or DELETES)
        return metadata_of({name: topic_id(name) for name in MANY}, request)

    talk = Talk(own.acl, "User:alice", broker)
    talk.ask(DeleteTopicsRequest(topic_names=["mine", *MANY], timeout_ms=9), 4)
    sent = [request for request in talk.to_broker if isinstance(request, DeleteTopicsRequest)]
    assert len(sent) == (is_sent or shadow)
    assert talk.closed == (None if is_sent or shadow else CHANGED)


@pytest.mark.parametrize(
    ("after", "error"),
    [("Describe, topics: [t, u]", ErrorCode.NONE), ("Describe, topics: u", REFUSED)],
    ids=["wider", "another"],
)
def test_a_request_that_is_as_it_came_is_checked_by_the_new_rules(rules: Making, after: str, error: int) -> None:
    own = rules("acls: [{allow: User:alice, to: Describe, topics: t}]")

    def broker(request: Request, version: int) -> Response:
        assert isinstance(request, MetadataRequest)
        if len(talk.to_broker) == 1:  # does it exist? The client may not create it
            own.become(f"acls: [{{allow: User:alice, to: {after}}}]")
        return metadata_of({"t": topic_id("t")}, request)

    talk = Talk(own.acl, "User:alice", broker)
    topic = MetadataRequest.Topic(name="t")
    answer = talk.ask(MetadataRequest(topics=[topic], allow_auto_topic_creation=True), 12)
    assert [each.error_code for each in answer.topics] == [error]
    assert talk.denied == ([("Describe", "Topic", "t")] if error else [])
    assert len(talk.to_broker) == (2 if error else 3)  # the question, once more, and what is left of the request
    assert talk.closed is None


def test_a_request_that_waits_for_nothing_is_decided_by_the_rules_under_which_it_began(rules: Making) -> None:
    own = rules("acls: []")
    talk = Talk(own.acl, "User:alice", lambda request, version: metadata_of({}, request))
    topic = MetadataRequest.Topic(name="mine", topic_id=NO_UUID)
    asked = MetadataRequest(topics=[topic], allow_auto_topic_creation=False)
    talk.ask(asked, 12)

    def read_by_a_thread() -> float:
        own.become("acls: []")  # as a thread does at any moment
        return own.clock.time

    own.become("acls: [{allow: User:alice, to: Describe, topics: mine}]")
    own.acl.authorizer.now = read_by_a_thread  # the moment when the request begins to be checked
    talk.ask(asked, 12)
    assert not own.acl.rules.value.rules
    assert talk.closed is None
    assert [request.topics for request in talk.to_broker] == [[], [topic]]


def test_a_request_of_which_nothing_was_allowed_is_answered(rules: Making) -> None:
    own = rules(DELETES)

    def broker(request: Request, version: int) -> Response:
        assert isinstance(request, MetadataRequest)  # which of them exist
        own.become("acls: []")
        return metadata_of({name: topic_id(name) for name in MANY}, request)

    talk = Talk(own.acl, "User:alice", broker)
    answer = talk.ask(DeleteTopicsRequest(topic_names=MANY, timeout_ms=9), 4)
    assert {topic.error_code for topic in answer.responses} == {REFUSED}
    assert talk.closed is None


def test_a_request_that_makes_a_step_of_a_session_is_not_checked_twice() -> None:
    assert not ShareFetchCheck().may_apply_again
    assert not ShareAcknowledgeCheck().may_apply_again
