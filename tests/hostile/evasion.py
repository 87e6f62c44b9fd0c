"""Evasion: requests about denied resources, written in ways that the rules might miss.

The rules deny clients everything on topics, groups and transactions whose names begin with `secret`. So no such name,
and no id of such a topic, may reach the broker; and no response may reveal that the topic exists. Nor may a response
reveal where a broker is, however a client writes its node id.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

from proxy.protocol.api import (
    APIS,
    CONSUMER_GROUP_HEARTBEAT,
    DESCRIBE_CONFIGS,
    FETCH,
    PRODUCE,
    SHARE_FETCH,
    STREAMS_GROUP_TOPOLOGY_DESCRIPTION_UPDATE,
    Api,
)
from proxy.protocol.header import request_frame, response_frame
from proxy.protocol.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResponse
from proxy.protocol.messages.fetch import FetchRequest
from proxy.protocol.messages.metadata import MetadataRequest
from proxy.protocol.schema import Struct, StructType
from proxy.protocol.wire import Meaning
from tests.hostile.answers import topic_id
from tests.hostile.canary import REAL
from tests.hostile.client import NotHeldError
from tests.hostile.ground import Ground
from tests.hostile.requests import any_request, beat, by_id, fetch, metadata, names, produce, resized
from tests.hostile.settings import AUDITED, OPEN, RULED
from tests.hostile.stage import Peer, brief
from tests.hostile.trial import case, cases

SECRET = "secret"  # as long as "orders", which is allowed
DENIED = (SECRET, "secrets", topic_id("secrets"), topic_id(SECRET))
NEVER = (b"secret", topic_id("secrets"), topic_id(SECRET))
OURS = bytes(4)
NAMES: dict[Meaning, object] = {
    Meaning.TOPIC_NAME: "secrets",
    Meaning.TOPIC_ID: topic_id("secrets"),
    Meaning.GROUP_ID: "secret-g",
    Meaning.TRANSACTIONAL_ID: "secret-t",
    Meaning.COORDINATOR_KEY: "secret-g",
    Meaning.RESOURCE_NAME: "secrets",
}
ALLOWED: dict[Meaning, object] = {
    Meaning.TOPIC_NAME: "orders",
    Meaning.TOPIC_ID: topic_id("orders"),
    Meaning.GROUP_ID: "open-g",
    Meaning.TRANSACTIONAL_ID: "open-t",
    Meaning.COORDINATOR_KEY: "open-g",
    Meaning.RESOURCE_NAME: "orders",
}


def _nothing_passed(ground: Ground) -> None:
    """No denied name or id reached the broker, except in the proxy's own requests for topic ids (correlation id 0)."""
    for frame in ground.stage.asked:
        for name in NEVER:
            if name in frame and frame[4:8] != OURS and not _forgets_it(frame):
                raise NotHeldError(f"what is denied reached the broker: {frame[:100]!r}")


def _forgets_it(frame: bytes) -> bool:
    """Does the request drop a denied topic from a fetch session, and fetch no denied topic?"""
    forgets = int.from_bytes(frame[:2], "big") in (FETCH.key, SHARE_FETCH.key)
    return forgets and not names(frame).intersection(DENIED)


def _tries(ground: Ground, *frames: bytes) -> str:
    """Send all frames on one connection."""
    client = ground.client()
    client.send(b"".join(frames))
    client.half_close()
    client.ends()
    _nothing_passed(ground)
    return f"{len(frames)} requests, {len(client.told)} bytes of answers"


def _named(request: Struct, version: int, by_meaning: dict[Meaning, object] = NAMES) -> None:
    """Put these names into every field that takes a name, by the field's meaning. Each array has one element: brokers
    refuse duplicates in some arrays for every client, so the proxy passes these on.
    """
    for field in type(request).fields:
        if not request.has(field.name) or not field.present(version):
            continue
        value: Any = getattr(request, field.name)
        if field.is_array and value:
            del value[1:]
        if isinstance(field.kind, StructType):
            for each in value if field.is_array and value else [value]:
                if isinstance(each, Struct):
                    _named(each, version, by_meaning)
        elif field.meaning in by_meaning:
            name = by_meaning[field.meaning]
            setattr(request, field.name, [name] if field.is_array else name)


def _surrounded(request: Struct, version: int) -> None:
    """Every array whose elements have names has one that is denied, between two that are allowed."""
    for field in type(request).fields:
        value: Any = getattr(request, field.name) if request.has(field.name) and field.present(version) else None
        if not value:
            continue
        if isinstance(field.kind, StructType) and field.is_array:
            first, second, third = (deepcopy(value[0]) for _ in range(3))
            for each, by_meaning in ((first, ALLOWED), (second, NAMES), (third, ALLOWED)):
                _named(each, version, by_meaning)
            setattr(request, field.name, [first, second, third])
        elif isinstance(value, Struct):
            _surrounded(value, version)
        elif field.is_array and field.meaning in NAMES:
            allowed = ALLOWED[field.meaning]
            setattr(request, field.name, [allowed, NAMES[field.meaning], allowed])


def _about_secrets(api: Api, version: int, dice: random.Random) -> bytes:
    request: Any = any_request(api, version, dice)
    _named(request, version)
    if api is PRODUCE:  # brokers authorize a transactional id only where there are transactional records
        request.transactional_id = None
    return request_frame(request, version, 1, "hostile")


def _every(least: bool) -> Iterator[tuple[Api, int]]:
    for each in APIS.values():
        for version in each.versions if not least else {each.versions[0], each.newest}:
            yield each, version


@cases(
    {
        "the oldest and newest version of every API, about what is denied": True,
        "every version, about what is denied": False,
    },
    on=RULED,
    log=200,
)
def everywhere(ground: Ground, least: bool) -> str:
    """Every API, with a denied name in every field that takes one; some other values are odd, too."""
    dice, count = random.Random(7), 0
    for each, version in _every(least):
        for _ in range(ground.times(1, 10)):
            client = ground.client()
            client.send(_about_secrets(each, version, dice))
            client.half_close()
            client.ends()
            client.close()
            count += 1
        _nothing_passed(ground)
    return f"{count} requests"


def _everywhere_but(*denied: Meaning) -> Callable[[Struct, int], None]:
    """What is denied stands in places of these kinds; what is allowed in all others."""
    by_meaning = ALLOWED | {meaning: NAMES[meaning] for meaning in denied}
    return lambda request, version: _named(request, version, by_meaning)


MIXED: dict[str, Callable[[Struct, int], None]] = {
    "allowed names, and ids that are denied": _everywhere_but(Meaning.TOPIC_ID),
    "names that are denied, and allowed ids": _everywhere_but(Meaning.TOPIC_NAME),
    "a group that is denied": _everywhere_but(Meaning.GROUP_ID, Meaning.COORDINATOR_KEY),
    "a transactional id that is denied": _everywhere_but(Meaning.TRANSACTIONAL_ID),
    "a resource that is denied": _everywhere_but(Meaning.RESOURCE_NAME),
    "what is denied between what is allowed": _surrounded,
}


@cases({f"every API, with {what}": how for what, how in MIXED.items()}, on=RULED, log=200)
def mixed(ground: Ground, how: Callable[[Struct, int], None]) -> str:
    """For what a member says that it has, and for the topology that it describes (KIP-1331), brokers ask no right."""
    dice, count = random.Random(8), 0
    for each, version in _every(least=not ground.long):
        if each is STREAMS_GROUP_TOPOLOGY_DESCRIPTION_UPDATE and how is not MIXED["a group that is denied"]:
            continue
        request: Any = any_request(each, version, dice)
        _named(request, version, ALLOWED)
        how(request, version)
        if each is PRODUCE:
            request.transactional_id = None
        if each is CONSUMER_GROUP_HEARTBEAT:
            request.topic_partitions = None
        with ground.client() as client:
            client.send(request_frame(request, version, 1, "hostile"))
            client.half_close()
            client.ends()
        count += 1
    _nothing_passed(ground)
    return f"{count} requests"


BY_ID = by_id(["secrets"], 3)
HIDDEN: dict[str, Callable[[], list[bytes]]] = {
    "between allowed ones in Produce": lambda: [produce(["orders", "secrets", "orders"])],
    "between allowed ones in Fetch": lambda: [fetch(["orders", "secrets", "orders"])],
    "between allowed ones in Metadata": lambda: [metadata(["orders", "secrets", "orders"])],
    "behind 1,000 times the same allowed one": lambda: [metadata(["orders"] * 1_000 + ["secrets"])],
    "in Produce without acknowledgement": lambda: [produce(["secrets"], acks=0), beat()],
    "in Produce without acknowledgement, in part": lambda: [produce(["orders", "secrets"], acks=0), beat()],
    "in Produce with acks 17": lambda: [produce(["secrets"], acks=17)],
    "by its id in Fetch": lambda: [by_id(["secrets"])],
    "by its id in Fetch, learnt before": lambda: [metadata(["secrets"], 1, 12), metadata(None, 2, 12), BY_ID],
    "by its id in Metadata": lambda: [_told("secrets", None)],
    "by its id in Metadata, beside an allowed name": lambda: [_told("secrets", "orders")],
    "by its name in Metadata, beside an allowed id": lambda: [_told("orders", "secrets")],
    "by its id in Metadata v10": lambda: [_told("secrets", "orders", 10)],
    "with a NUL behind an allowed name": lambda: [metadata(["orders\0secrets"]), produce(["orders\0secrets"])],
    "in a session, added later": lambda: [fetch(["orders"], 1, 0, 0), fetch(["secrets"], 2, 1, 1), fetch([], 3, 1, 2)],
    "in a session of another": lambda: [fetch(["secrets"], n, session, 1) for n, session in enumerate(range(1, 30))],
    "in a session, out of turn": lambda: [fetch(["orders"], 1, 0, 0), fetch(["secrets"], 2, 1, 7), fetch([], 3, 1, 8)],
    "in a session that ends": lambda: [fetch(["orders"], 1, 0, 0), fetch(["secrets"], 2, 1, -1)],
    "in a full request of a session": lambda: [fetch(["orders"], 1, 0, 0), fetch(["secrets"], 2, 1, 0)],
    "forgotten and asked for at once": lambda: [fetch(["orders"], 1, 0, 0), _forgets("secrets", "secrets")],
    "forgotten alone": lambda: [fetch(["orders"], 1, 0, 0), _forgets("secrets")],
    "by an id that was sent beside an allowed name": lambda: [
        *(_told("secrets", "orders", version) for version in (10, 11, 12)), by_id(["secrets"])
    ],
    "in a name of 32,000 letters": lambda: [metadata(["secret" * 5_300]), produce(["secret" * 5_300])],
    "as a name within an allowed prefix, and beside it": lambda: [metadata(["open-secrets"[5:], "open-"])],
}  # fmt: skip


@cases({f"what is denied {where}": frames for where, frames in HIDDEN.items()}, on=RULED)
@cases({f"what is denied {where}": frames for where, frames in HIDDEN.items()}, on=AUDITED)
def hidden(ground: Ground, frames: Callable[[], list[bytes]]) -> str:
    return _tries(ground, *frames())


def _told(by: str, name: str | None, version: int = 12) -> bytes:
    asked = MetadataRequest.Topic(topic_id=topic_id(by), name=name)
    return request_frame(MetadataRequest(topics=[asked]), version, 1, "hostile")


def _forgets(name: str, *asked: str) -> bytes:
    topic = FetchRequest.Topic
    partition = topic.Partition(partition=0, fetch_offset=0, partition_max_bytes=1)
    request = FetchRequest(
        max_wait_ms=0,
        min_bytes=0,
        session_id=1,
        session_epoch=1,
        topics=[topic(topic=each, partitions=[partition]) for each in asked],
        forgotten_topics_data=[FetchRequest.ForgottenTopic(topic=name, partitions=[0])],
    )
    return request_frame(request, 11, 9, "hostile")


WARM: dict[str, Callable[[list[str]], bytes]] = {
    "Produce": lambda names: produce(names),
    "Produce without acknowledgement": lambda names: produce(names, acks=0),
    "Produce v3": lambda names: produce(names, version=3),
    "Fetch": lambda names: fetch(names),
    "Fetch v4": lambda names: fetch(names, version=4),
    "Metadata": lambda names: metadata(names),
}


@cases({f"{what}, again and again, then with another name": of for what, of in WARM.items()}, on=RULED)
def warmed(ground: Ground, of: Callable[[list[str]], bytes]) -> str:
    """After a hundred equal requests the fast path knows their bytes; it must not accept one with a changed name."""
    usual = of(["orders", "open-1", "orders"])
    frames = [usual] * 100
    for asked in (["orders", SECRET, "orders"], [SECRET, "open-1", "orders"], ["orders", "open-1", SECRET], [SECRET]):
        frames += [of(asked), usual]
    return _tries(ground, *frames)


@cases(
    {f"a session used 100 times, then {what}": how for what, how in {"another name": 0, "one more": 1}.items()},
    on=RULED,
)
def repeated(ground: Ground, more: int) -> str:
    client = ground.client()
    client.send(fetch(["orders", "open-1"], 1, 0, 0))
    client.frame()
    names = ["orders", SECRET] if not more else ["orders", "open-1", SECRET]
    for epoch in range(1, 100):
        client.send(fetch(["orders", "open-1"], epoch, 1, epoch))
    client.send(fetch(names, 100, 1, 100))
    client.half_close()
    client.ends()
    _nothing_passed(ground)
    return f"{len(client.told)} bytes of answers"


SHOWN = {f"Metadata v{version} for all topics": metadata_all for version, metadata_all in (
    (version, request_frame(MetadataRequest(topics=None if version else []), version, 1, "hostile"))
    for version in (0, 1, 4, 9, 12, 13)
)}  # fmt: skip


@cases(SHOWN, on=RULED)
def shown(ground: Ground, frame: bytes) -> str:
    """No client sees a topic that it may not describe."""
    client = ground.client()
    told = client.ask_quietly(frame)
    assert b"orders" in told, "what is allowed is not told"
    assert b"secrets" not in told, "what is denied is told"
    assert topic_id("secrets") not in told, "the id of what is denied is told"
    return f"{len(told)} bytes"


@case("a request within the bytes that are left over of another", on=RULED)
def left_over(ground: Ground) -> str:
    """Extra bytes after a message in its frame are not read as a request."""
    frame = resized(metadata(["orders"]) + metadata([SECRET], 9))
    ground.stage.play = brief
    client = ground.client()
    client.send(frame + beat(2))
    answered = [_number(client.frame()) for _ in range(2)]
    client.half_close()
    client.ends()
    asked = [frame for frame in ground.stage.asked if frame[4:8] != OURS]
    assert answered == [_number(each[4:]) for each in asked] == [1, 2], f"answers to {answered}"
    assert [names(each) for each in asked] == [{"orders"}, set()], "another topic was asked for"
    return "two requests, two answers"


def _number(frame: bytes) -> int:
    """The correlation id, the first field of a response."""
    return int.from_bytes(frame[:4], "big")


SPELLINGS = {
    "with a sign": "+2",
    "in 11 digits": "00000000002",
    "in 5,000 digits": "0" * 4_999 + "2",
    "in Arabic digits": "\u0662",
    "as -0": "-0",
    "by no name": "",
    "by what is no number": "x",
}


@cases({f"the configuration of a broker, named {how}": name for how, name in SPELLINGS.items()}, on=OPEN)
def spelt(ground: Ground, name: str) -> str:
    """The broker answers as for its own node id, which Java finds in most of these texts."""
    config = DescribeConfigsResponse.Result.Config
    listeners = config(
        name="advertised.listeners",
        value=f"PLAINTEXT://{REAL}:9092",
        read_only=True,
        is_sensitive=False,
        config_source=4,
    )
    result = DescribeConfigsResponse.Result(
        error_code=0, error_message=None, resource_type=4, resource_name=name, configs=[listeners]
    )
    shown = DescribeConfigsResponse(throttle_time_ms=0, results=[result])

    def play(peer: Peer) -> None:
        for frame in peer.frames():
            about = int.from_bytes(frame[:2], "big") == DESCRIBE_CONFIGS.key
            peer.send(response_frame(shown, 4, 1) if about else peer.answer(frame))

    ground.stage.play = play
    asked = DescribeConfigsRequest.Resource(resource_type=4, resource_name=name, configuration_keys=None)
    answer = ground.client().ask(DescribeConfigsRequest(resources=[asked]), 4)
    (told,) = answer.results[0].configs
    assert REAL not in told.value, f"a client was told {told.value}"
    return f"told {told.value}"


INTERNAL = [api for api in APIS.values() if api.inter_broker]


@case("what only brokers and controllers say to each other", on=RULED)
def internal(ground: Ground) -> str:
    """No client may use these APIs."""
    dice = random.Random(9)
    for each in INTERNAL:
        for version in each.versions:
            client = ground.client()
            client.send(_about_secrets(each, version, dice))
            client.half_close()
            client.ends()
            client.close()
    _nothing_passed(ground)
    return f"{len(INTERNAL)} APIs"
