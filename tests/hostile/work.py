"""Work: small or cheap requests that are expensive to decode, to authorize or to answer."""

from __future__ import annotations

import time
from base64 import urlsafe_b64encode
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from proxy.protocol import api
from proxy.protocol.api import Api
from proxy.protocol.header import request_frame, response_frame
from proxy.protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from proxy.protocol.messages.fetch import FetchRequest
from proxy.protocol.messages.list_offsets import ListOffsetsRequest
from proxy.protocol.wire import LONGEST_TOPIC
from tests.hostile.answers import HEAD, empty_answer, topic
from tests.hostile.answers import metadata as told_metadata
from tests.hostile.client import Client, NotHeldError
from tests.hostile.ground import Ground
from tests.hostile.logins import agree, show
from tests.hostile.requests import CLIENT_APIS, fetch, metadata, produce, swollen
from tests.hostile.settings import AUDITED, FAULTY, OPEN, RULED, SASL, TWO
from tests.hostile.stage import NODE, Peer, Play, brief
from tests.hostile.trial import case, cases

PEAK = 400  # MiB: decoded names take many times their bytes
LARGEST = 60.0  # seconds for a response to 50,000 elements
TOPICS = 300  # that expressions are matched with
SOON = 5.0  # seconds for the answer to a small expression
MANY = 30_000, 300_000  # names: in the short form, and in the long form


def _answered(client: Client) -> int:
    """The size of the response; 0 where the connection was closed instead."""
    client.sock.settimeout(20)
    try:
        return len(client.frame())
    except EOFError:
        return 0


def _asks(ground: Ground, frame: bytes, clients: int = 1, play: Play = brief) -> str:
    """Send a frame from so many clients, and describe the responses."""
    ground.stage.play = play
    many = [ground.client() for _ in range(clients)]
    with ThreadPoolExecutor(clients) as pool:
        for _ in pool.map(lambda client: client.send(frame), many):
            pass
    came = [_answered(client) for client in many]
    assert b"secret" not in ground.stage.heard, "what is denied reached the broker"
    what = f"answered with {max(came):,} B" if any(came) else "closed"
    return f"{clients} times {len(frame):,} B: {what}"


def _names(count: int, stem: str) -> list[str]:
    return [f"{stem}{n}" for n in range(count)]


NAMING: dict[str, Callable[[int], bytes]] = {
    "topics in Metadata, none of them allowed": lambda many: metadata(_names(many, "secret-")),
    "topics in Metadata, all of them allowed": lambda many: metadata(_names(many, "open-")),
    "times the same topic in Metadata": lambda many: metadata(["secrets"] * many),
    "topics in Produce, none of them allowed": lambda many: produce(_names(many // 3, "secret-"), size=1),
    "topics in Produce, every other one allowed": lambda many: produce(_mixed(many // 3), size=1),
    "times the same topic in Produce": lambda many: produce(["orders"] * (many // 3), size=1),
    "topics in Fetch, every other one allowed": lambda many: fetch(_mixed(many // 3)),
    "times the same topic in Fetch": lambda many: fetch(["orders"] * (many // 3)),
    "partitions of a topic in ListOffsets": lambda many: _offsets(many * 3),
    "long names in Metadata": lambda many: metadata([f"secret-{n:05}" * 2_500 for n in range(many // 300)]),
}


@cases({f"very many {what}": of for what, of in NAMING.items()}, on=RULED, peak=PEAK)
@cases({f"very many {what}": of for what, of in NAMING.items()}, on=AUDITED, peak=PEAK)
@cases({f"very many {what}": of for what, of in NAMING.items()}, on=FAULTY, peak=PEAK)
def names(ground: Ground, of: Callable[[int], bytes]) -> str:
    """One client sends one request, with up to 300,000 names in the long form."""
    return _asks(ground, of(ground.times(*MANY)))


def _mixed(count: int) -> list[str]:
    return [name for n in range(count // 2) for name in (f"open-{n}", f"secret-{n}")]


def _offsets(count: int) -> bytes:
    topic = ListOffsetsRequest.Topic
    partition = topic.Partition(partition_index=0, timestamp=-1)
    asked = ListOffsetsRequest(replica_id=-1, topics=[topic(name="secrets", partitions=[partition] * count)])
    return request_frame(asked, 5, 1, "hostile")


@case("very many topics in Metadata, from five clients at once", on=RULED, peak=800)
@case("very many topics in Metadata, from five clients at once", on=TWO, peak=800)
@case("very many topics in Metadata, from five clients at once", on=OPEN, peak=800)
def names_from_five(ground: Ground) -> str:
    return _asks(ground, metadata(_names(ground.times(*MANY), "other-")), 5)


GROUPS: dict[str, tuple[Api, ...]] = {
    "topics and configs": (api.CREATE_TOPICS, api.DELETE_TOPICS, api.CREATE_PARTITIONS, api.DELETE_RECORDS,
                           api.DESCRIBE_CONFIGS, api.ALTER_CONFIGS, api.INCREMENTAL_ALTER_CONFIGS,
                           api.DESCRIBE_TOPIC_PARTITIONS, api.OFFSET_FOR_LEADER_EPOCH, api.LIST_OFFSETS),
    "groups": (api.OFFSET_COMMIT, api.OFFSET_FETCH, api.OFFSET_DELETE, api.JOIN_GROUP, api.SYNC_GROUP,
               api.LEAVE_GROUP, api.DESCRIBE_GROUPS, api.DELETE_GROUPS, api.LIST_GROUPS, api.FIND_COORDINATOR,
               api.CONSUMER_GROUP_HEARTBEAT, api.CONSUMER_GROUP_DESCRIBE),
    "transactions": (api.ADD_PARTITIONS_TO_TXN, api.TXN_OFFSET_COMMIT, api.DESCRIBE_PRODUCERS,
                     api.DESCRIBE_TRANSACTIONS, api.LIST_TRANSACTIONS, api.WRITE_TXN_MARKERS),
    "ACLs, tokens and users": (api.CREATE_ACLS, api.DELETE_ACLS, api.DESCRIBE_ACLS, api.CREATE_DELEGATION_TOKEN,
                               api.DESCRIBE_DELEGATION_TOKEN, api.ALTER_CLIENT_QUOTAS, api.DESCRIBE_CLIENT_QUOTAS,
                               api.ALTER_USER_SCRAM_CREDENTIALS, api.DESCRIBE_USER_SCRAM_CREDENTIALS),
    "share and streams groups": (api.SHARE_GROUP_HEARTBEAT, api.SHARE_GROUP_DESCRIBE, api.SHARE_FETCH,
                                 api.SHARE_ACKNOWLEDGE, api.STREAMS_GROUP_HEARTBEAT, api.STREAMS_GROUP_DESCRIBE),
}  # fmt: skip
NAMED = frozenset(each for group in GROUPS.values() for each in group)
GROUPS["all others"] = tuple(each for each in CLIENT_APIS if each not in NAMED)


@cases({f"huge arrays in APIs of {name}": apis for name, apis in GROUPS.items()}, on=RULED, peak=PEAK)
@cases({f"huge arrays in APIs of {name}": apis for name, apis in GROUPS.items()}, on=AUDITED, peak=PEAK)
@cases({f"huge arrays in APIs of {name}": apis for name, apis in GROUPS.items()}, on=FAULTY, peak=PEAK)
def arrays(ground: Ground, apis: tuple[Api, ...]) -> str:
    """Each API in its oldest and its newest version, one after the other."""
    count, came = ground.times(1_000, 50_000), 0
    ground.stage.play = brief
    for each in apis:
        for version in {each.versions[0], each.newest}:
            client = ground.client()
            client.send(swollen(each, version, count))
            client.half_close()
            client.sock.settimeout(LARGEST)
            try:
                came += bool(client.ends(LARGEST).told)
            except NotHeldError as error:
                raise NotHeldError(f"{each.name} v{version}: {error}") from None
            client.close()
    return f"{len(apis)} APIs, {count:,} elements each: {came} answers"


REGEXES = {
    "groups in groups": "(" * 20_000 + "a" + ")" * 20_000,
    "repetitions of repetitions": "((((a{0,1000}){0,1000}){0,1000}){0,1000})",
    "what backtracks": "(a+)+" * 30 + "b",
    "10,000 alternatives": "|".join(f"open-{n}" for n in range(10_000)),
    "all of Unicode": r"\pL{1000}" * 100,
    "half an expression": "[a-",
    "a million characters": "a" * 1_000_000,
    "more states than it has memory for": "(.?){500}",
    "one that matches": "open-.*",
}


def _with_topics(count: int) -> Play:
    """A broker with so many topics, of the longest names; it gives blank responses to all but Metadata."""

    def play(peer: Peer) -> None:
        names = (f"open-{n}-".ljust(LONGEST_TOPIC, "a") for n in range(count))
        response = told_metadata(peer.stage.told, [topic(name, NODE) for name in names])
        for frame in peer.frames():
            key, version, number = HEAD.unpack_from(frame)
            is_metadata = key == api.METADATA.key
            peer.send(response_frame(response, version, number) if is_metadata else empty_answer(frame))

    return play


def _subscription(expression: str, member: str = "m") -> bytes:
    request = ConsumerGroupHeartbeatRequest(
        group_id="open-g", member_id=member, member_epoch=0, subscribed_topic_regex=expression
    )
    return request_frame(request, 1, 1, "hostile")


@cases({f"a regular expression: {name}": text for name, text in REGEXES.items()}, on=RULED, peak=PEAK)
def regexes(ground: Ground, text: str) -> str:
    """The proxy matches clients' regular expressions against topics, in linear time."""
    return _asks(ground, _subscription(text), ground.times(3, 20), _with_topics(TOPICS))


@case("expressions that take long on very many connections, and another client's", on=RULED, peak=PEAK)
def queued_regexes(ground: Ground) -> str:
    """The other client does not wait for all of them."""
    ground.stage.play = _with_topics(TOPICS)
    many = [ground.client() for _ in range(ground.times(20, 100))]
    for number, client in enumerate(many):
        client.send(_subscription(f"(.?){{{400 + number}}}", f"m-{number}"))
    assert many[0].frame()
    began, other = time.monotonic(), ground.stranger("clients")
    other.send(_subscription("open-1.*", "other"))
    assert other.frame()
    waited = time.monotonic() - began
    assert waited < SOON, f"it waited for {waited:.1f} s"
    return f"{len(many)} connections; the other client waited for {waited:.1f} s"


@case("1 MiB of names from eight clients at the same moment, in a Fetch that begins like one that passed", on=RULED)
def names_at_once(ground: Ground) -> str:
    """The fast path looks at names in one go, but not at so many."""
    ground.stage.play = brief
    passed, topic = fetch(["orders"]), FetchRequest.Topic
    many = [ground.client() for _ in range(8)]
    for client in many:
        client.send(passed)
        client.frame()
    topics = [topic(topic=f"{n:x}", partitions=[]) for n in range(90_000)]
    request = FetchRequest(max_wait_ms=0, min_bytes=0, session_epoch=-1, topics=topics)
    frame = request_frame(request, 11, 1, "hostile")
    with ThreadPoolExecutor(len(many)) as pool:
        for _ in pool.map(lambda client: client.send(frame), many):
            pass
    came = sum(bool(_answered(client)) for client in many)
    return f"{len(many)} times {len(frame):,} B: {came} answers"


DEEP = {"100,000 lists": b'{"a":' + b"[" * 100_000, "50,000 objects": b'{"a":' * 50_000}


@cases({f"claims of a token that nest: {what}": text for what, text in DEEP.items()}, on=SASL)
def nested(ground: Ground, text: bytes) -> str:
    """A token of OAUTHBEARER whose claims nest deeply."""
    parts = [urlsafe_b64encode(part).rstrip(b"=") for part in (b'{"alg":"none"}', text)]
    many = ground.times(3, 30)
    for _ in range(many):
        client = ground.stranger("clients")
        agree(client, "OAUTHBEARER")
        answer = show(client, b"n,,\x01auth=Bearer " + b".".join(parts) + b".\x01\x01")
        assert answer is None or answer.error_code or answer.auth_bytes, "somebody came in"
    return f"{many} refused"
