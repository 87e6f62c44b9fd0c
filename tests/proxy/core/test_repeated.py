"""An answer that begins like the last one is changed like the last one, and nobody reads it."""

from __future__ import annotations

import random
from typing import Any

import pytest

from plugins.address import Address
from proxy.core.commands import Close, ToClient, Wake
from proxy.core.context import Connection, Context
from proxy.core.decisions import Decision, Forward
from proxy.core.decorators import observe, on_response
from proxy.core.filters import Filters
from proxy.core.limits import Counters, Limits
from proxy.core.link import Link
from proxy.core.plugin import Plugin
from proxy.core.repeated import MOST
from proxy.core.topology import Endpoint, RefusedBroker, Topology
from proxy.core.wish import carrying
from proxy.protocol import messages  # noqa: F401  # makes every message known
from proxy.protocol.api import DESCRIBE_CLUSTER, FIND_COORDINATOR, METADATA, Api
from proxy.protocol.frame import SIZE
from proxy.protocol.messages.metadata import MetadataRequest, MetadataResponse
from proxy.protocol.schema import Response
from proxy.protocol.wire import Meaning
from proxy.testing import build, from_broker, from_client
from proxy.testing.lending import with_turns
from tests.proxy.core.frames import answering, asking
from tests.proxy.protocol.generate import make, structs_of

ROUNDS = 60
ADDRESS = Meaning.HOST, Meaning.PORT, Meaning.BROKER_ID
Broker = MetadataResponse.Broker


class Read(Address):
    """Counts the answers that it reads."""

    read = 0

    @on_response(carrying(Meaning.HOST))
    def endpoints(self, ctx: Context, response: Response) -> Decision:
        self.read += 1
        return super().endpoints(ctx, response)


class Known:
    """A client of a cluster whose brokers are told as `host` says."""

    def __init__(self, *plugins: Plugin, topology: Topology | None = None) -> None:
        self.host, self.refused = "proxy", list[RefusedBroker]()
        self.topology = topology or Topology(lambda node: Endpoint(self.host, 9193 + node), refused=self.refused.append)
        self.plugins = plugins

    def link(self, api: Api = METADATA) -> Link:
        connection = Connection(("192.0.2.1", 50000), "clients", "main", self.topology)
        return Link(connection, Filters(self.plugins, [api]), Limits(), Counters())


def answered(link: Link, request: bytes, *pieces: bytes) -> bytes:
    """What the client gets for the broker's answer, which comes in these pieces."""
    from_client(link, request)
    sent = b""
    for piece in pieces:
        commands, _ = with_turns(link, from_broker(link, piece))
        sent += b"".join(bytes(command.data) for command in commands if isinstance(command, ToClient))
    return sent


def asked(api: Api, version: int, number: int, dice: random.Random) -> bytes:
    return asking(make(api.request, version, dice), number, version)


def metadata(brokers: list[Broker], topics: int = 2) -> MetadataResponse:
    topic = MetadataResponse.Topic
    named = [topic(error_code=0, name=f"topic-{number}", partitions=[]) for number in range(topics)]
    return MetadataResponse(brokers=brokers, cluster_id="c", controller_id=1, topics=named)


def brokers(*hosts: str) -> list[Broker]:
    return [Broker(node_id=number, host=host, port=9092) for number, host in enumerate(hosts)]


def asked_for(some: list[Broker], number: int) -> tuple[bytes, bytes]:
    """A request for metadata, and an answer with these brokers."""
    return asking(MetadataRequest(topics=[]), number, 12), answering(metadata(some), number, 12)


CASES = [(api, version) for api in (METADATA, FIND_COORDINATOR, DESCRIBE_CLUSTER) for version in api.versions]


@pytest.mark.parametrize(("api", "version"), CASES, ids=str)
def test_a_client_gets_the_same_as_if_every_answer_was_read(api: Api, version: int) -> None:
    dice = random.Random(version)
    plugin = build(Read)
    known = Known(plugin)
    link = known.link(api)
    pool: list[Any] = []
    for number in range(3):
        response = make(api.response, version, dice)
        for struct in structs_of(response):
            for field in struct.fields:
                if field.present(version) and field.meaning in ADDRESS and not field.is_array:
                    value = {Meaning.HOST: f"kafka-{number}", Meaning.PORT: 9092, Meaning.BROKER_ID: dice.randint(0, 2)}
                    setattr(struct, field.name, value[field.meaning])
        pool.append(response)
    response = pool[0]
    for number in range(ROUNDS):
        if dice.random() < 0.2:
            response = dice.choice(pool)
        if dice.random() < 0.1:
            known.host = dice.choice(["proxy", "another-proxy"])
            for node in known.topology.brokers:
                known.topology.readvertise(node)
        request, frame = asked(api, version, number, dice), answering(response, number, version)
        cut = dice.choice([len(frame), dice.randrange(len(frame))])
        one = answered(link, request, frame[:cut], frame[cut:])
        other = answered(Known(build(Address), topology=known.topology).link(api), request, frame)
        assert one == other
    assert plugin.read < ROUNDS


@pytest.mark.parametrize("version", METADATA.versions)
def test_the_same_brokers_are_read_once_whatever_the_topics(version: int) -> None:
    plugin = build(Read)
    link = Known(plugin).link()
    for number in range(10):
        response = metadata(brokers("kafka-1", "kafka-2"), topics=number)
        sent = answered(link, asking(MetadataRequest(topics=[]), number, version), answering(response, number, version))
        assert b"kafka" not in sent
        assert sent == answering(
            metadata([Broker(node_id=n, host="proxy", port=9193 + n) for n in range(2)], topics=number), number, version
        )
    assert plugin.read == 2, "the first answer changed the topology"


def test_an_answer_of_which_only_the_beginning_came_is_passed_on_at_once() -> None:
    plugin = build(Read)
    link = Known(plugin).link()
    frames = [answering(metadata(brokers("kafka-1"), topics=1_000), number, 12) for number in range(3)]
    request = MetadataRequest(topics=[])
    for number in range(2):
        answered(link, asking(request, number, 12), frames[number])
    part = answered(link, asking(request, 2, 12), frames[2][:1_000])
    assert len(part) > 900
    rest = from_broker(link, frames[2][1_000:])
    left = len(part) + sum(len(command.data) for command in rest if isinstance(command, ToClient))
    assert left == len(frames[2]) - len("kafka-1") + len("proxy")
    assert plugin.read == 2


def test_a_broker_that_is_refused_is_told_of_each_time() -> None:
    known = Known(build(Read))
    link = known.link()
    for number in range(3):
        answered(link, *asked_for([Broker(node_id=-7, host="kafka-1", port=9092)], number))
    assert len(known.refused) == 3


def test_a_broker_that_comes_back_is_announced_again() -> None:
    known = Known(build(Read))
    link = known.link()
    for number in range(3):
        answered(link, *asked_for(brokers("kafka-1"), number))
    known.topology.forget(0)
    answered(link, *asked_for(brokers("kafka-1"), 3))
    assert known.topology.brokers[0].real == Endpoint("kafka-1", 9092)


def test_many_brokers_are_read_each_time() -> None:
    plugin = build(Read)
    link = Known(plugin).link()
    many = brokers(*(f"{number}.{'long' * 15}.example.com" for number in range(MOST // 60)))
    for number in range(3):
        answered(link, *asked_for(many, number))
    assert plugin.read == 3


class Watching(Plugin):
    """Sees all brokers."""

    seen = 0

    @observe(MetadataResponse, fields="brokers")
    def metadata(self, ctx: Context, response: MetadataResponse) -> None:
        self.seen += 1


class Judging(Plugin):
    """Handles all brokers, and says nothing of repeating."""

    seen = 0

    @on_response(MetadataResponse, fields="brokers")
    def metadata(self, ctx: Context, response: MetadataResponse) -> Decision:
        self.seen += 1
        return Forward(response)


@pytest.mark.parametrize("kind", [Watching, Judging])
def test_where_another_plugin_looks_every_answer_is_read(kind: type[Watching | Judging]) -> None:
    plugin, other = build(Read), kind()
    link = Known(plugin, other).link()
    for number in range(3):
        answered(link, *asked_for(brokers("kafka-1"), number))
    assert (plugin.read, other.seen) == (3, 3)


def test_an_answer_that_says_it_ends_within_the_known_bytes_is_read() -> None:
    plugin = build(Read)
    link = Known(plugin).link()
    for number in range(2):
        answered(link, *asked_for(brokers("kafka-1"), number))
    request, frame = asked_for(brokers("kafka-1"), 2)
    from_client(link, request)
    commands = from_broker(link, SIZE.pack(20) + frame[SIZE.size :])
    assert not any(isinstance(command, ToClient) for command in commands)
    assert isinstance(commands[-1], Close)


def test_a_turn_ends_once_before_an_answer_like_the_last() -> None:
    link = Known(build(Read)).link()
    wakes: list[Wake] = []
    for number in range(1_000):
        request, frame = asked_for(brokers("kafka-1"), number)
        from_client(link, request)
        wakes += [command for command in from_broker(link, frame) if isinstance(command, Wake)]
        if wakes:
            break
    assert len(wakes) == 1
    assert b"proxy" in b"".join(
        bytes(command.data) for command in link.wake(wakes[0].token) if isinstance(command, ToClient)
    )
