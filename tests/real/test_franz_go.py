"""franz-go, direct and through Doorkeeper; and through one that demands TLS and SCRAM, and has rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.real.client_programs import ClientProgram, NoClientProgramError, guarded
from tests.real.cluster import Cluster
from tests.real.franz import find_franz_go
from tests.real.records import CODECS, some_records
from tests.real.topics import create
from tests.real.way import Way

pytestmark = pytest.mark.real

RULES = """\
acls:
  - {allow: User:alice, to: [Read, Write, Describe], topics: franz-allowed*, groups: alice*, transactional_ids: alice*}
"""


@pytest.fixture(scope="module")
def program() -> Path:
    try:
        return find_franz_go()
    except NoClientProgramError as error:
        pytest.skip(str(error))


@pytest.fixture
def franz(program: Path, way: Way) -> ClientProgram:
    return ClientProgram([str(program)], way.bootstrap)


@pytest.fixture(scope="module")
def alice(program: Path, cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClientProgram]:
    """Alice's clients, of a Doorkeeper that lets her use the topic `franz-allowed` alone."""
    with guarded(tmp_path_factory.mktemp("guarded"), cluster, RULES) as reached:
        yield ClientProgram([str(program)], **reached)


@pytest.mark.parametrize("codec", CODECS)
def test_every_codec_arrives_as_it_was_sent(
    way: Way, franz: ClientProgram, same: Callable[[object], None], codec: str
) -> None:
    topic = create(way, f"franz-{codec}", partitions=1)
    records = some_records(80)
    assert franz.run("produce", topic, codec, given=records) == [None] * 80
    taken = franz.consume(topic, 80)
    assert taken == records
    same(taken)


def test_committed_transactions_are_read_and_aborted_ones_are_not(
    way: Way, franz: ClientProgram, same: Callable[[object], None]
) -> None:
    topic = create(way, "franz-tx")
    assert franz.run("transact", topic, way.unique("franz-tx")) is None
    values = sorted(record.value or b"" for record in franz.consume(topic, 18))
    assert values == [b"1"] * 9 + [b"3"] * 9
    same(values)


@pytest.mark.parametrize("protocol", ["range", "cooperative", "consumer"])
def test_members_come_and_go_and_share_the_partitions(way: Way, franz: ClientProgram, protocol: str) -> None:
    topic = create(way, f"franz-{protocol}", partitions=6)
    assert franz.run("members", topic, way.unique(f"franz-{protocol}"), protocol) == [6, 3, 6]


def test_a_share_group_gets_each_record_and_a_released_one_again(way: Way, franz: ClientProgram) -> None:
    topic = create(way, "franz-share", partitions=2)
    accepted = franz.run("share", topic, way.unique("franz-share"))
    assert accepted == {str(number): 1 for number in range(100)}


def test_the_admin_client_does_its_work(way: Way, franz: ClientProgram, same: Callable[[object], None]) -> None:
    outcome = franz.run("admin", way.unique("franz-admin"), way.unique("franz-admin"))
    assert outcome["brokers"] == [1, 2, 3]
    assert outcome["offsets"] == [4, 10]
    assert outcome["deleted"] == [None, "UNKNOWN_TOPIC_OR_PARTITION"]
    same(way.plain(str(outcome)))


def test_what_the_rules_refuse_is_named_to_the_client(cluster: Cluster, alice: ClientProgram) -> None:
    allowed, secret = create(cluster.way, "franz-allowed"), create(cluster.way, "franz-secret")
    records = some_records(10)
    assert alice.run("produce", secret, "none", given=records) == ["TOPIC_AUTHORIZATION_FAILED"] * 10
    assert alice.run("consume", secret, 1) == "TOPIC_AUTHORIZATION_FAILED"
    assert alice.run("consume", allowed, 1, "bobs-group") == "GROUP_AUTHORIZATION_FAILED"
    assert alice.run("transact", allowed, "bobs-id") == "TRANSACTIONAL_ID_AUTHORIZATION_FAILED"


def test_what_the_rules_allow_works_over_tls_and_scram(cluster: Cluster, alice: ClientProgram) -> None:
    topic = create(cluster.way, "franz-allowed-tx")
    assert alice.run("transact", topic, "alice-tx") is None
    assert alice.run("produce", topic, "zstd", given=some_records(10)) == [None] * 10
    assert len(alice.consume(topic, 28)) == 28
