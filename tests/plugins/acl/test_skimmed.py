"""Skimmed fetches: what passes unread has good names only, and is otherwise like what was read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from plugins.acl.law import Rights, rights
from plugins.acl.skimmed import Skimmed
from proxy.core.context import Context
from proxy.protocol.api import FETCH
from proxy.protocol.header import request_frame
from proxy.protocol.messages.fetch import FetchRequest
from proxy.protocol.schema import Request
from tests.plugins.acl.talk import Rules, Talk, topic_id
from tests.plugins.acl.test_fetch import fetch

Making = Callable[..., Rules]
OWN = "acls: [{allow: User:alice, to: [Read, Write], topics: [mine, ours]}]"
BODY = 4 + 10 + 3  # after the size and a header of version 1 with the client id "app"


class Known:
    """What is known after this request passed, and whether others may pass by it."""

    def __init__(self, own: Rules, request: Request, version: int) -> None:
        talk = Talk(own.acl)
        self.version = version
        self.body = BODY + request.api.is_flexible(version)
        self.ctx = Context(talk.connection, request.api, version, 1)
        self.rights: Rights = rights(own.acl.law, self.ctx)
        own.acl.names.learn(
            [type("T", (), {"name": name, "topic_id": topic_id(name)}) for name in ("mine", "ours", "theirs")]
        )
        self.skimmed = Skimmed(self.ctx, None, self.frame(request), self.body, own.acl.names)

    def frame(self, request: Request, client: str = "app") -> memoryview:
        return memoryview(request_frame(request, self.version, 1, client))

    def passes(self, request: Request, **more: Any) -> bool:
        return self.skimmed.passes(self.frame(request, **more), self.rights)


@pytest.mark.parametrize("version", FETCH.versions)
def test_fetching_is_skimmed(rules: Making, version: int) -> None:
    known = Known(rules(OWN), fetch(version, "mine"), version)
    assert known.passes(fetch(version, "ours", "mine", offset=77))
    assert not known.passes(fetch(version, "mine", "theirs"))
    assert not known.passes(fetch(version, "mine", "nobodys"))
    assert not known.passes(fetch(version, "mine", replica_id=1, replica_state=FetchRequest.ReplicaState(replica_id=1)))
    assert not known.passes(fetch(version, "mine"), client="other")
    if version >= 7:
        assert not known.passes(fetch(version, "mine", session=(0, 0)))
        assert not known.passes(fetch(version, "mine", session=(7, 1)))
        assert not known.passes(fetch(version, "mine", forget=["theirs"]))
    if version >= 12:
        assert not known.passes(fetch(version, "mine", cluster_id="c"))


def test_of_many_names_not_all_are_remembered(rules: Making, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plugins.acl.skimmed.MOST", 5)
    known = Known(rules("super_users: [User:alice]"), fetch(9, "mine"), 9)
    assert known.passes(fetch(9, *map(str, range(33))))
    assert len(known.skimmed._good) <= 5


def test_a_debugging_consumer_is_one(rules: Making) -> None:
    known = Known(rules(OWN), fetch(11, "mine"), 11)
    assert known.passes(fetch(11, "mine", replica_id=-2))
    assert not known.passes(fetch(11, "mine", replica_id=-3))
