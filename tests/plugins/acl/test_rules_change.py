"""Rules that change while a request is checked: what the old ones allowed is not sent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from plugins.acl import CHANGED
from proxy.protocol.messages.delete_topics import DeleteTopicsRequest
from proxy.protocol.messages.metadata import MetadataRequest
from proxy.protocol.schema import Request, Response
from tests.plugins.acl.talk import Rules, Talk, metadata_of, topic_id
from tests.plugins.acl.test_subscriptions import SEES, Group

Making = Callable[..., Rules]
DELETES = """\
acls:
  - {allow: User:alice, to: Delete, topics: mine}
  - {allow: User:alice, to: Describe, topics: other*}
"""
MANY = [f"other-{number}" for number in range(5_000)]  # the proxy asks which of them exist, in several questions

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
