"""Rules that change while a request is checked: what the old ones allowed is not sent."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from plugins.acl.request_authorizer import CHANGED
from proxy.core.commands import Command
from proxy.protocol.messages.delete_topics import DeleteTopicsRequest
from proxy.protocol.messages.metadata import MetadataRequest
from proxy.protocol.messages.produce import ProduceRequest
from proxy.protocol.schema import Request, Response
from tests.plugins.acl.talk import Rules, Talk, metadata_of, topic_id
from tests.plugins.acl.test_produce import BATCH
from tests.plugins.acl.test_subscriptions import SEES, Group

Making = Callable[..., Rules]
DELETES = """\
acls:
  - {allow: User:alice, to: Delete, topics: mine}
  - {allow: User:alice, to: Describe, topics: other*}
"""
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
        talk.ask(ProduceRequest(acks=-1, timeout_ms=1, topic_data=topics), 9)
        assert talk.turns > 80 or talk.closed
        results.append((len(talk.to_broker), talk.closed))
    assert results == [(1, None) if is_sent else (0, CHANGED)] * 3


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
