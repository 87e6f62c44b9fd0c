"""Real clients get the same results behind Doorkeeper as at a broker with Kafka's own authorizer: each job runs twice.

Each client has a thread on each side, and all work at once. The table has the result of each job in Kafka's words; the
library's own words must be the same on both sides.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from typing import Any, NamedTuple

import pytest

from tests.acl.clients import NAMES, Client, Read, Sent, Told
from tests.acl.clients_aiokafka import Aiokafka
from tests.acl.clients_java import JavaClient
from tests.acl.clients_python import KafkaPython, Librdkafka
from tests.acl.everybody import own
from tests.acl.names import Names
from tests.acl.nodes import HOST, PASSWORD
from tests.acl.play import Player
from tests.acl.side import Side
from tests.acl.sides import Sides
from tests.real.secured import clients as drivers
from tests.real.secured.clients import As

# kafka-python and aiokafka leave sockets of broken connections to the garbage collector.
pytestmark = [pytest.mark.real, pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")]

TOPIC = "TOPIC_AUTHORIZATION_FAILED"
GROUP = "GROUP_AUTHORIZATION_FAILED"
TRANSACTION = "TRANSACTIONAL_ID_AUTHORIZATION_FAILED"
CLUSTER = "CLUSTER_AUTHORIZATION_FAILED"
NEWEST, OLD, OLDEST, LIBRDKAFKA, KAFKA_PYTHON, AIOKAFKA = NAMES
KINDS: dict[str, Callable[[As, Names], Client]] = {
    NEWEST: partial(JavaClient, "4.4.0"),
    OLD: partial(JavaClient, "2.3.1"),
    OLDEST: partial(JavaClient, "0.11.0.3"),
    LIBRDKAFKA: Librdkafka,
    KAFKA_PYTHON: KafkaPython,
    AIOKAFKA: Aiokafka,
}
# Not every client supports or reports everything:
# * kafka-python waits silently for a topic that it may not see; for altered configurations it has no error code;
# * aiokafka stops reading after a refusal, and has no ACLs; librdkafka lists no ACLs where it may not ask, without an
#   error;
# * the oldest Java client has no calls about groups, and brokers have dropped its versions for configurations and ACLs.
TELLING = (NEWEST, OLD, OLDEST, LIBRDKAFKA, AIOKAFKA)
GOING_ON = (NEWEST, OLD, LIBRDKAFKA)
ASKING = (NEWEST, OLD, KAFKA_PYTHON)
RULING = (NEWEST, OLD, LIBRDKAFKA, KAFKA_PYTHON)
ALTERING = (NEWEST, OLD, LIBRDKAFKA, AIOKAFKA)
GROUPING = (NEWEST, OLD, LIBRDKAFKA, KAFKA_PYTHON, AIOKAFKA)
CONFIGURING = (NEWEST, OLD, LIBRDKAFKA)
NEWER = (NEWEST, LIBRDKAFKA)  # clients with the group protocol of KIP-848


class Job(NamedTuple):
    """One job of clients and its result: nothing, names, values, or Kafka's names of errors.

    `worded`: the library's words are equal on both sides too. They are not where chance decides which of several
    responses refuses first, or where a broker's message has internals.
    """

    name: str
    work: Callable[[Client], object]
    comes: object = None
    by: Collection[str] = NAMES
    worded: bool = True


def produces(name: str, topic: str, value: str, comes: str | None = None, **more: Any) -> Job:
    return Job(f"produces {name}", lambda client: client.produce(Sent(topic, value, **more)), comes)


def consumes(
    name: str,
    group: str,
    topics: str,
    comes: Sequence[str],
    by: Collection[str] = NAMES,
    worded: bool = True,
    **more: Any,
) -> Job:
    """A consumer that reads until it has all expected values and refusals."""
    refused = comes[-1] in (TOPIC, GROUP)
    count = len(comes) - refused
    read = partial(Client.consume, group=group, topics=topics.split(), count=count, refused=refused, **more)
    return Job(f"consumes {name}", read, list(comes), by, worded)


newer = partial(consumes, by=NEWER, group_protocol="consumer")
shares = partial(consumes, by=[NEWEST], share=True)
takes = partial(consumes, assigned=True)
matches = partial(consumes, matching=True)


def commits(name: str, group: str, comes: str | None = None) -> Job:
    sent = Sent("orders", "4", transaction="payments", group=group)
    return Job(f"commits {name}, in a transaction", lambda client: client.produce(sent), comes)


def alters(name: str, topic: str, comes: str | None = None) -> Job:
    return Job(f"alters {name}", lambda client: client.alter(topic, "retention.ms", "86400000"), comes, ALTERING)


BEGIN = ("share.auto.offset.reset", "earliest")

LISTED = ["announced", "archive", "eu-closed", "eu-orders", "new-produced", "orders", "refunds"]
JOBS = [
    produces("what it may", "orders", "1"),
    produces("by a rule about a prefix", "eu-orders", "1"),
    produces("to a topic that it may not see", "secrets", "1", TOPIC),
    produces("to a topic that it may only read", "archive", "1", TOPIC),
    produces("where a deny stands over an allow", "eu-closed", "1", TOPIC),
    produces("to a topic that is not there", "nowhere", "1", TOPIC),
    produces("to a topic that is not there and may not be made", "eu-nowhere", "1", TOPIC),
    produces("to a topic that is made by that", "new-produced", "1"),
    produces("idempotently", "orders", "2", idempotent=True),
    produces("idempotently where it may not", "archive", "2", TOPIC, idempotent=True),
    produces("in a transaction", "orders", "3", transaction="payments"),
    produces("in a transaction where it may not", "archive", "3", TOPIC, transaction="payments"),
    produces("in another's transaction", "orders", "3", TRANSACTION, transaction="theirs"),
    Job("has a share group begin with the first", lambda client: client.alter("workers-share", *BEGIN), None, [NEWEST]),
    consumes("what it may", "workers", "archive", "ab"),
    consumes("what it produced", "workers", "orders", "123"),
    consumes("by a rule about a prefix", "workers-eu", "eu-orders eu-closed", "1cd"),
    consumes("what it may not see", "workers", "secrets", [TOPIC], TELLING),
    consumes("what it may only see", "workers", "announced", [TOPIC]),
    consumes("two topics, one of them refused", "workers-eu", "archive secrets", ["a", "b", TOPIC], GOING_ON),
    consumes("two topics, one of them refused, and ends", "workers-eu", "archive secrets", [TOPIC], [AIOKAFKA]),
    consumes("in a group that it may not use", "others", "archive", [GROUP]),
    consumes("in a group that it may only see", "watched", "archive", [GROUP]),
    takes("a partition", "workers-apart", "archive", "ab"),
    takes("a partition that it may not see", "workers-apart", "secrets", [TOPIC], TELLING),
    takes("a partition that it may only see", "workers-apart", "announced", [TOPIC]),
    takes("a partition for a group that it may not use", "others", "archive", [GROUP]),
    Job("lists topics", lambda client: client.topics(), LISTED),
    Job("lists groups", lambda client: client.groups(), ["watched", "workers", "workers-eu"], GROUPING),
    matches("what an expression matches", "workers-matching", "eu-.*|secrets", "1cd"),
    matches("what an expression matches, which it may only see", "workers-matching", "secrets|announced", [TOPIC]),
    newer("by the newer protocol", "workers-new", "archive", "ab"),
    newer("what it may not see, by the newer protocol", "workers-new", "secrets", [TOPIC], worded=False),
    newer("what it may only see, by the newer protocol", "workers-new", "announced", [TOPIC]),
    newer("in a group that it may not use, by the newer protocol", "others", "archive", [GROUP]),
    matches(
        "what an expression matches, by the newer protocol",
        "workers-new",
        "eu-.*|secrets",
        "1cd",
        NEWER,
        group_protocol="consumer",
    ),
    shares("what it may, in a share group", "workers-share", "archive", "ab"),
    shares("what it may not see, in a share group", "workers-share", "secrets", [TOPIC], worded=False),
    shares("what it may only see, in a share group", "workers-share", "announced", [TOPIC]),
    shares("in a share group that it may not use", "others", "archive", [GROUP]),
    commits("what it may", "workers"),
    commits("to a group that it may not use", "others", GROUP),
    commits("to a group that it may only see", "watched", GROUP),
    Job("creates a topic", lambda client: client.create("new-created")),
    Job("creates a topic that it may not", lambda client: client.create("eu-created"), TOPIC),
    Job("deletes a topic", lambda client: client.delete("new-produced")),
    Job("deletes a topic that it may not", lambda client: client.delete("orders"), TOPIC),
    Job("deletes a topic that it may not see", lambda client: client.delete("secrets"), TOPIC),
    Job("describes a group", lambda client: client.describe("watched"), None, GROUPING),
    Job("describes a group that it may not see", lambda client: client.describe("hidden"), GROUP, GROUPING),
    Job("describes a configuration", lambda client: client.configs("eu-orders"), None, CONFIGURING),
    Job("describes a configuration that it may not", lambda client: client.configs("orders"), TOPIC, CONFIGURING),
    alters("a configuration", "eu-orders"),
    alters("a configuration that it may not", "orders", TOPIC),
    alters("a configuration of what it may not see", "secrets", TOPIC),
    Job("asks for the rules", lambda client: client.rules(), CLUSTER, ASKING, worded=False),
    Job("makes a rule", lambda client: client.allow("orders"), CLUSTER, RULING, worded=False),
    Job("removes a rule", lambda client: client.disallow("orders"), CLUSTER, RULING, worded=False),
]


class AtWork:
    """One client on one side: all its jobs, one after the other, in its own thread."""

    def __init__(self, name: str, side: Side, names: Names) -> None:
        who = As(f"{HOST}:{side.port}", "PLAIN", names.wire("alice"), PASSWORD)
        self._client = KINDS[name](who, names)
        self._thread = ThreadPoolExecutor(1)
        self.came: dict[str, Future[object]] = {
            job.name: self._thread.submit(self._do, job.work) for job in JOBS if name in job.by
        }

    def close(self) -> None:
        self._thread.shutdown(cancel_futures=True)

    def _do(self, work: Callable[[Client], object]) -> object:
        try:
            return work(self._client)
        except self._client.errors as error:
            return self._client.told(error)


@pytest.fixture(scope="module")
def at_work(sides: Sides) -> Iterator[dict[str, list[AtWork]]]:
    """Every client, on both sides."""
    with ExitStack() as stack:
        stack.callback(gc.collect)  # sockets left open are collected here, where their warnings are ignored
        stack.callback(drivers.close)
        working: dict[str, list[AtWork]] = {name: [] for name in NAMES}
        for name in NAMES:
            scenario = own(name)
            for side in sides:
                Player(scenario, side, {}).play()  # the scenario has no steps: this only prepares what is given
                working[name].append(AtWork(name, side, Names(scenario.number)))
                stack.callback(working[name][-1].close)
        yield working


def in_kafkas_words(came: object) -> object:
    if isinstance(came, Told):
        return came.name
    if isinstance(came, Read):
        return [*came.values, *(told.name for told in came.refusals)]
    return came


@pytest.mark.parametrize(
    ("name", "job"),
    [pytest.param(name, job, id=f"{name}-{job.name}") for name in NAMES for job in JOBS if name in job.by],
)
def test_a_client_meets_the_same_on_both_sides(at_work: dict[str, list[AtWork]], name: str, job: Job) -> None:
    direct, proxied = (each.came[job.name].result() for each in at_work[name])
    assert in_kafkas_words(direct) == job.comes
    assert in_kafkas_words(proxied) == job.comes
    assert direct == proxied or not job.worded
