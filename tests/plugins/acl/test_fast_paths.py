"""Fast paths: a message that passes unread would also pass unchanged if it were read, however oddly it is written.

Two connections with the same history get the same frame; the fast path of one of them has forgotten its history.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from proxy.core.commands import Close, Emit, ToBroker, ToClient
from proxy.core.context import Context
from proxy.core.decorators import observe_topics, on_outcome
from proxy.core.events import Undecodable
from proxy.core.fetch_sessions import FetchSessions
from proxy.core.outcome import Outcome
from proxy.core.plugin import Plugin
from proxy.protocol.api import FETCH, PRODUCE
from proxy.protocol.frame import SIZE
from proxy.protocol.header import request_frame
from proxy.protocol.messages.fetch import FetchRequest
from proxy.protocol.messages.produce import ProduceRequest
from proxy.protocol.schema import Request
from proxy.testing import from_client
from proxy.testing.lending import with_turns
from tests.plugins.acl.talk import Rules, Talk, topic_id
from tests.plugins.acl.test_fetch import Consumer, fetch, records
from tests.plugins.acl.test_produce import BATCH, WRITES, produce, written
from tests.proxy.protocol.odd import Odd

Making = Callable[..., Rules]
OWN = "acls: [{allow: User:alice, to: [Read, Write], topics: [mine, 'more*'], transactional_ids: mine}]"
NAMES = ("mine", "more", "more2", "theirs")
TELLING = (0, 1, 2, 3, 5, 115, 127, 128, 255)

rounds = pytest.mark.parametrize("rounds", [20, pytest.param(500, marks=pytest.mark.long)])


def frame_of(request: Request, version: int, dice: random.Random) -> bytes:
    """The request oddly written, with some bytes changed, or just so."""
    frame = bytearray(request_frame(request, version, 1, "app"))
    body = 17 + request.api.is_flexible(version)
    how = dice.randrange(4)
    if how < 2:
        frame[body:] = Odd(dice, (0.02, 0.08)[how]).message(request, version)
    elif how == 2:
        for _ in range(dice.randint(1, 3)):
            frame[dice.randrange(12, len(frame))] = dice.choice(TELLING)
    return SIZE.pack(len(frame) - SIZE.size) + bytes(frame[SIZE.size :])


def outcome(talk: Talk, frame: bytes) -> tuple[list[Any], list[Any]]:
    """What leaves for the broker and for the client and whether the connection ends; and what is told."""
    commands, _ = with_turns(talk.link, from_client(talk.link, bytearray(frame)))
    left: list[Any] = [
        (type(command), bytes(command.data)) for command in commands if isinstance(command, ToBroker | ToClient)
    ]
    left += [Close for command in commands if isinstance(command, Close)]
    return left, [command.event for command in commands if isinstance(command, Emit)]


def compare(knowing: Talk, forgetful: Talk, frame: bytes) -> bool:
    """Both come to the same. Gives whether the frame passed."""
    forgetful.connection.samples.clear()
    forgetful.link.forget()
    left, told = outcome(knowing, frame)
    others_left, others_told = outcome(forgetful, frame)
    if left == [(ToBroker, frame)] and not told:
        # What follows the last name of a Produce request may be anything: its broker refuses it, or serves no more.
        is_bad = [*map(type, others_told)] == [Undecodable] and frame[4:6] == PRODUCE.key.to_bytes(2, "big")
        assert is_bad or (others_left, others_told) == (left, told), frame.hex()
        return True
    assert others_left == left, frame.hex()
    return False


@rounds
@pytest.mark.parametrize(
    ("api", "version"), [*((PRODUCE, v) for v in (3, 8, 9, 12, 13)), *((FETCH, v) for v in (4, 7, 11, 12, 13, 17, 18))]
)
def test_of_requests_without_a_session(rules: Making, api: Any, version: int, rounds: int) -> None:
    own = rules(OWN)
    own.acl.names.learn([type("T", (), {"name": name, "topic_id": topic_id(name)}) for name in NAMES])
    dice, ask = random.Random(f"{api.name} {version}"), produce if api is PRODUCE else fetch
    passed = 0
    for _ in range(rounds):
        talks = Talk(own.acl), Talk(own.acl)
        forgets = {"forget": some(dice, 0.2)} if api is FETCH and version >= 7 else {}
        for talk in talks:
            talk.send(request_frame(ask(version, "mine", **forgets), version, 1, "app"), api, version)
            talk.link.inflight.slots.clear()  # as if it was answered: nothing is sent behind a fetch
        names = dice.choices(NAMES, (6, 6, 3, 1), k=dice.randint(1, 3))
        passed += compare(*talks, frame_of(ask(version, *names), version, dice))
    assert rounds / 10 < passed < rounds


@rounds
@pytest.mark.parametrize("version", [7, 12, 13, 17, 18])
def test_of_requests_in_a_session(rules: Making, version: int, rounds: int) -> None:
    own, dice = rules(OWN), random.Random(version)
    passed = 0
    for _ in range(rounds):
        talks = Consumer(own, *NAMES), Consumer(own, *NAMES)
        for talk in talks:
            talk.opened(version, "mine", "more")
            for epoch in (1, 2):
                talk.ask(fetch(version, "mine", session=(7, epoch), offset=epoch), version)
                talk.answer(records(version))
        epoch = dice.choice((3, 3, 3, 3, 2, 4, 0, -1))
        request = fetch(version, "mine", session=(7, epoch), offset=dice.randrange(1 << 40))
        passed += compare(*talks, frame_of(request, version, dice))
    assert rounds / 10 < passed < rounds


@rounds
@pytest.mark.parametrize("version", [7, 12, 13])
def test_of_a_session_whatever_was_asked_before(rules: Making, version: int, rounds: int) -> None:
    own, dice = rules(OWN), random.Random(f"session {version}")
    own.acl.names.learn([type("T", (), {"name": name, "topic_id": topic_id(name)}) for name in NAMES])
    passed = 0
    for _ in range(rounds // 5):
        own.become(OWN)
        talks = Consumer(own, *NAMES), Consumer(own, *NAMES)
        for talk in talks:
            talk.opened(version, "mine", "more")
        said: list[Any] = []
        for epoch in range(1, 25):
            if epoch == 18:  # from now on less is allowed
                own.become(OWN.replace(*dice.choice((("mine", "more2"), ("more*", "more")))))
            topics, forget = dice.choice(said) if len(said) > 3 else (some(dice), some(dice, 0.2))
            said.append((topics, forget))
            asked = fetch(version, *topics, session=(7, epoch), offset=epoch, forget=forget)
            passed += compare(*talks, request_frame(asked, version, 1, "app"))
            for talk in talks:
                talk.link.inflight.slots.clear()  # as if all was answered
            (one,), (other,) = (
                [it._open.get(7) for it in talk.connection.notes.values() if isinstance(it, FetchSessions)]
                for talk in talks
            )
            if one is None or other is None:
                assert one is other
                break
            assert [{*topic} for topic in one.topics.values()] == [{*topic} for topic in other.topics.values()]
            assert (one.topics.keys(), one.refused, one.epoch) == (other.topics.keys(), other.refused, other.epoch)
    assert passed > rounds


def some(dice: random.Random, often: float = 0.5) -> list[str]:
    return [name for name in NAMES if dice.random() < often]


@pytest.mark.parametrize(("api", "version"), [(PRODUCE, 9), (PRODUCE, 12), (FETCH, 12), (FETCH, 17)])
def test_each_request_that_passes_is_shown_as_itself(rules: Making, api: Any, version: int) -> None:
    own, ask = rules(OWN), produce if api is PRODUCE else fetch
    own.acl.names.learn([type("T", (), {"name": name, "topic_id": topic_id(name)}) for name in NAMES])
    shown = Shown()
    talk = Talk(own.acl, "User:alice", None, shown)
    asked = [("mine",), ("mine",), ("mine", "more"), ("more", "mine"), ("mine",)]
    for number, topics in enumerate(asked, 1):
        talk.send(request_frame(ask(version, *topics), version, number, "app"), api, version)
        talk.link.inflight.slots.clear()  # as if it was answered
    by_id = api is FETCH and version >= 13
    told = [tuple(topic_id(name) if by_id else name for name in topics) for topics in asked]
    assert shown.seen == [*enumerate(told, 1)]
    assert len(talk.to_broker) == len(asked)


@pytest.mark.parametrize("version", [7, 12, 13, 17])
def test_each_request_of_a_session_is_shown_as_itself(rules: Making, version: int) -> None:
    own = rules(OWN)
    own.acl.names.learn([type("T", (), {"name": name, "topic_id": topic_id(name)}) for name in NAMES])
    shown = Shown()
    talk = Talk(own.acl, "User:alice", None, shown)
    asked = [("mine", "more"), *[("mine",)] * 4, ("more", "mine"), ("mine",), (), ()]
    for epoch, topics in enumerate(asked):
        session = (7, epoch) if epoch else (0, 0)
        talk.send(request_frame(fetch(version, *topics, session=session), version, epoch, "app"), FETCH, version)
        talk.answer(records(version, *topics, session=7))
    told = [tuple(topic_id(name) if version >= 13 else name for name in topics) for topics in asked]
    assert shown.seen == [*enumerate(told)]
    assert len(talk.to_broker) == len(asked)


@pytest.mark.parametrize(("api", "version"), [(PRODUCE, 9), (FETCH, 12)])
def test_no_request_passes_after_the_hours_of_its_rule(rules: Making, api: Any, version: int) -> None:
    own = rules("acls: [{allow: User:alice, to: All, topics: mine, during: {before: 2023-11-19T13:00, zone: UTC}}]")
    talk, ask = Talk(own.acl), produce if api is PRODUCE else fetch
    for _ in range(3):
        talk.send(request_frame(ask(version, "mine"), version, 1, "app"), api, version)
        talk.link.inflight.slots.clear()  # as if it was answered
    assert len(talk.to_broker) == 3
    assert not talk.denied
    own.clock.time += 7200
    talk.send(request_frame(ask(version, "mine"), version, 1, "app"), api, version)
    assert [name for _, _, name in talk.denied] == ["mine"]


LARGE = BATCH + bytes(200_000)  # its records come in many pieces


class Shown(Plugin):
    """Is shown the topics of each request."""

    def __init__(self) -> None:
        self.seen: list[tuple[int, Any]] = []

    @observe_topics(ProduceRequest, FetchRequest)
    def topics(self, ctx: Context, topics: Any) -> None:
        self.seen.append((ctx.correlation_id, topics))


class Watching(Shown):
    """Is shown them too, and is told of the outcome."""

    @on_outcome(PRODUCE)
    def ended(self, ctx: Context, outcome: Outcome) -> None: ...


@pytest.mark.parametrize("observers", [(), (Shown(),), (Watching(),)], ids=["alone", "shown", "observed"])
@pytest.mark.parametrize("version", [8, 9, 12])
@pytest.mark.parametrize(
    ("after", "may"),
    [("acls: []", False), (WRITES, True), (WRITES + " # the same", True), (WRITES.replace("mine", "other"), False)],
)
def test_a_large_request_that_began_by_other_rules_does_not_get_to_its_end(
    rules: Making, version: int, after: str, may: bool, observers: tuple[Plugin, ...]
) -> None:
    own = rules(WRITES)
    talk = Talk(own.acl, "User:alice", None, *observers)
    talk.ask(produce(version, "mine"), version)
    talk.answer(written(version, "mine"))
    frame = request_frame(produce(version, "mine", records=LARGE), version, 2, "app")
    talk.send(frame[:1000], PRODUCE, version)
    own.become(after)
    passed = len(talk.to_broker)
    talk.more(frame[1000:-1])
    assert talk.closed is None
    talk.more(frame[-1:])
    assert len(talk.to_broker) == passed + may
    assert talk.closed == (None if may else "what allowed a request changed before it was whole")


def test_a_rule_whose_hours_end_meanwhile_allowed_the_request(rules: Making) -> None:
    own = rules("acls: [{allow: User:alice, to: Write, topics: mine, during: {before: 2023-11-19T13:00, zone: UTC}}]")
    talk = Talk(own.acl)
    talk.ask(produce(9, "mine"), 9)
    talk.answer(written(9, "mine"))
    frame = request_frame(produce(9, "mine", records=LARGE), 9, 2, "app")
    talk.send(frame[:1000], PRODUCE, 9)
    own.clock.time += 7200
    talk.more(frame[1000:])
    assert (len(talk.to_broker), talk.closed) == (2, None)
