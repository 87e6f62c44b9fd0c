"""kafkajs, direct and through Doorkeeper; and through one that demands TLS and SCRAM, and has rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.real.client_programs import ClientProgram, NoClientProgramError, guarded
from tests.real.cluster import Cluster
from tests.real.kafkajs import Kafkajs, find_kafkajs
from tests.real.records import some_records
from tests.real.topics import create
from tests.real.way import Way

pytestmark = pytest.mark.real

RULES = """\
acls:
  - {allow: User:alice, to: [Read, Write, Describe], topics: kafkajs-allowed*, groups: alice, transactional_ids: alice}
"""


@pytest.fixture(scope="module")
def program() -> Kafkajs:
    try:
        return find_kafkajs()
    except NoClientProgramError as error:
        pytest.skip(str(error))


@pytest.fixture
def kafkajs(program: Kafkajs, way: Way) -> ClientProgram:
    return ClientProgram(program.command, way.bootstrap, environment=program.environment)


@pytest.fixture(scope="module")
def alice(program: Kafkajs, cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClientProgram]:
    """Alice's clients, of a Doorkeeper that lets her use the topics `kafkajs-allowed*` alone."""
    with guarded(tmp_path_factory.mktemp("guarded"), cluster, RULES) as reached:
        yield ClientProgram(program.command, environment=program.environment, **reached)


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy"])  # it has no others without packages in C
def test_every_codec_arrives_as_it_was_sent(
    way: Way, kafkajs: ClientProgram, same: Callable[[object], None], codec: str
) -> None:
    topic = create(way, f"kafkajs-{codec}", partitions=1)
    records = some_records(80)
    assert kafkajs.run("produce", topic, codec, given=records) == 1
    taken = kafkajs.consume(topic, 80, topic)
    assert taken == records
    same(taken)


def test_committed_transactions_are_read_and_aborted_ones_are_not(
    way: Way, kafkajs: ClientProgram, same: Callable[[object], None]
) -> None:
    topic = create(way, "kafkajs-tx")
    assert kafkajs.run("transact", topic, topic) is None
    values = sorted(record.value or b"" for record in kafkajs.consume(topic, 18, topic))
    assert values == [b"1"] * 9 + [b"3"] * 9
    same(values)


def test_members_come_and_go_and_share_the_partitions(way: Way, kafkajs: ClientProgram) -> None:
    topic = create(way, "kafkajs-members", partitions=6)
    assert kafkajs.run("members", topic, topic) == [6, 3, 6]


def test_what_the_rules_refuse_is_named_to_the_client(cluster: Cluster, alice: ClientProgram) -> None:
    secret = create(cluster.way, "kafkajs-secret")
    assert alice.run("produce", secret, "none", given=some_records(10)) == "TOPIC_AUTHORIZATION_FAILED"
    assert alice.run("consume", secret, 1, "alice") == "TOPIC_AUTHORIZATION_FAILED"


def test_what_the_rules_allow_works_over_tls_and_scram(cluster: Cluster, alice: ClientProgram) -> None:
    topic = create(cluster.way, "kafkajs-allowed")
    assert alice.run("transact", topic, "alice") is None
    assert alice.run("produce", topic, "gzip", given=some_records(10)) > 0
    assert len(alice.consume(topic, 28, "alice")) == 28
