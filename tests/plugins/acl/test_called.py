"""Called requests: what passes unread has topics that may be written, and begins like what was read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from plugins.acl.called import CalledProduce
from plugins.acl.law import rights
from proxy.core.context import Context
from proxy.protocol.api import PRODUCE
from proxy.protocol.header import request_frame
from proxy.protocol.messages.produce import ProduceRequest
from tests.plugins.acl.talk import Rules, Talk, topic_id
from tests.plugins.acl.test_produce import produce

Making = Callable[..., Rules]
OWN = "acls: [{allow: User:alice, to: Write, topics: [mine, ours]}]"
BODY = 4 + 10 + 3  # after the size and a header of version 1 with the client id "app"


class Known:
    """What is known after this request passed, and whether others may pass by it."""

    def __init__(self, own: Rules, version: int) -> None:
        own.acl.names.learn(
            [type("T", (), {"name": name, "topic_id": topic_id(name)}) for name in ("mine", "ours", "theirs")]
        )
        talk = Talk(own.acl)
        self.connection, self.version = talk.connection, version
        self.called = CalledProduce(own.acl.law, own.acl.names, own.acl._producing)
        request = produce(version, "mine")
        self.ctx = Context(self.connection, PRODUCE, version, 1)
        rights(own.acl.law, self.ctx)
        own.acl._producing.request(self.ctx, request)
        self.called.passed(self.ctx, self.frame(request), BODY + PRODUCE.is_flexible(version))

    def frame(self, request: ProduceRequest, client: str = "app") -> memoryview:
        return memoryview(request_frame(request, self.version, 1, client))

    def lets_pass(self, frame: memoryview, version: int | None = None) -> bool:
        api = PRODUCE.key << 16 | (self.version if version is None else version)
        length = int.from_bytes(frame[:4]) + 4
        return self.called.passes(self.connection, api, frame, length) is self.ctx

    def passes(self, request: ProduceRequest, **more: Any) -> bool:
        return self.lets_pass(self.frame(request, **more))


@pytest.mark.parametrize("version", PRODUCE.versions)
def test_only_the_names_of_topics_matter(rules: Making, version: int) -> None:
    known = Known(rules(OWN), version)
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
def test_of_a_large_request_only_the_names_need_have_come(rules: Making, version: int) -> None:
    known = Known(rules(OWN), version)
    frame = known.frame(produce(version, "mine", "ours", records=bytes(5_000)))
    passing = [end for end in range(BODY, len(frame), 50) if known.lets_pass(frame[:end])]
    assert 5_000 < min(passing) < 5_200
    assert max(passing) > 10_000


def test_with_other_rules_nothing_is_known(rules: Making) -> None:
    own = rules(OWN)
    known = Known(own, 9)
    own.become("acls: [{allow: User:alice, to: Write, topics: [mine, ours, more]}]")
    assert not known.passes(produce(9, "mine"))


def test_of_many_names_not_all_are_known(rules: Making, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plugins.acl.called.MOST", 5)
    known = Known(rules("super_users: [User:alice]"), 9)
    assert known.passes(produce(9, *map(str, range(33))))
    assert len(known.connection.notes[known.called].known) <= 5
