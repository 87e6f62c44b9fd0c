"""Produce: the topics that a client may write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from plugins.acl.produce import is_transactional
from proxy.protocol.errors import ErrorCode
from proxy.protocol.messages.metadata import MetadataRequest
from proxy.protocol.messages.produce import ProduceRequest, ProduceResponse
from tests.plugins.acl.talk import Rules, Talk, metadata_of, topic_id

WRITES = "acls: [{allow: User:alice, to: Write, topics: mine}]"
WRITES_IN_TRANSACTIONS = "acls: [{allow: User:alice, to: Write, topics: mine, transactional_ids: mine}]"
OK, REFUSED = 0, ErrorCode.TOPIC_AUTHORIZATION_FAILED
NO_TRANSACTION = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
Making = Callable[..., Rules]
ALL = range(14)
BY_ID = 13
KNOWN = {name: topic_id(name) for name in ("mine", "theirs")}


def batch(transactional: bool = False) -> bytes:
    """A batch, as far as anybody looks at it here."""
    made = bytearray(BATCH)
    made[22] |= 0x10 * transactional
    return bytes(made)


BATCH = bytes(16) + b"\2" + bytes(44)  # magic 2, and nothing else


def produce(version: int, *topics: str, acks: int = -1, records: bytes | None = BATCH, **more: Any) -> ProduceRequest:
    return ProduceRequest(
        acks=acks,
        timeout_ms=1000,
        topic_data=[
            ProduceRequest.Topic(
                partition_data=[ProduceRequest.Topic.Partition(index=0, records=records)],
                **({"topic_id": topic_id(name)} if version >= BY_ID else {"name": name}),
            )
            for name in topics
        ],
        **more,
    )


def written(version: int, *topics: str) -> ProduceResponse:
    partition = ProduceResponse.Topic.Partition(index=0, error_code=0, base_offset=4)
    about = [{"topic_id": topic_id(name)} if version >= BY_ID else {"name": name} for name in topics]
    return ProduceResponse(responses=[ProduceResponse.Topic(partition_responses=[partition], **each) for each in about])


def told(answer: ProduceResponse) -> list[tuple[str, int, int]]:
    return [
        (each.name or each.topic_id.rstrip(b"\0").decode(), part.error_code, part.base_offset)
        for each in answer.responses
        for part in each.partition_responses
    ]


class Producer(Talk):
    """Its broker answers Metadata by itself; Produce is the test's."""

    def __init__(self, rules: Rules, principal: str | None = "User:alice") -> None:
        super().__init__(
            rules.acl, principal, lambda it, v: metadata_of(KNOWN, it) if isinstance(it, MetadataRequest) else None
        )

    @property
    def written(self) -> list[list[str]]:
        """The topics of each Produce request that reached the broker."""
        return [
            [each.name or each.topic_id.rstrip(b"\0").decode() for each in request.topic_data]
            for request in self.to_broker
            if isinstance(request, ProduceRequest)
        ]


@pytest.mark.parametrize("version", ALL)
def test_what_may_be_written_is_written_and_the_rest_is_refused(rules: Making, version: int) -> None:
    talk = Producer(rules(WRITES))
    assert talk.ask(produce(version, "theirs", "mine"), version) is None
    assert talk.written == [["mine"]]
    assert told(talk.answer(written(version, "mine"))) == [("mine", OK, 4), ("theirs", REFUSED, -1)]


@pytest.mark.parametrize("version", ALL)
def test_where_nothing_may_be_written_the_broker_sees_nothing(rules: Making, version: int) -> None:
    talk = Producer(rules(WRITES))
    assert told(talk.ask(produce(version, "theirs"), version)) == [("theirs", REFUSED, -1)]
    assert talk.written == []


@pytest.mark.parametrize("version", ALL)
def test_with_acks_0_what_may_be_is_written_and_the_connection_closed(rules: Making, version: int) -> None:
    talk = Producer(rules(WRITES))
    assert talk.ask(produce(version, "mine", "theirs", acks=0), version) is None
    assert talk.written == [["mine"]]
    assert talk.closed == "some of a Produce request was refused that wants no answer"


@pytest.mark.parametrize("version", ALL)
def test_with_acks_0_and_nothing_allowed_the_connection_is_closed(rules: Making, version: int) -> None:
    talk = Producer(rules(WRITES))
    assert talk.ask(produce(version, "theirs", acks=0), version) is None
    assert talk.written == []
    assert talk.closed == "all of a Produce request is refused that wants no answer"


@pytest.mark.parametrize("version", range(3, 14))
@pytest.mark.parametrize(
    ("own", "transactional", "identity", "fine"),
    [
        (WRITES, True, "mine", False),
        (WRITES, False, "mine", True),  # a plain batch needs no right to the id
        (WRITES, True, None, True),  # its broker refuses that
        (WRITES_IN_TRANSACTIONS, True, "mine", True),
        (WRITES_IN_TRANSACTIONS, True, "theirs", False),
        (WRITES_IN_TRANSACTIONS, False, "theirs", True),
    ],
)
def test_a_transactional_batch_needs_the_right_to_its_transactional_id(
    rules: Making, version: int, own: str, transactional: bool, identity: str | None, fine: bool
) -> None:
    talk = Producer(rules(own))
    request = produce(version, "mine", records=batch(transactional), transactional_id=identity)
    answer = talk.ask(request, version)
    assert (answer is None, talk.written) == ((True, [["mine"]]) if fine else (False, []))
    if not fine:
        assert told(answer) == [("mine", NO_TRANSACTION, -1)]


@pytest.mark.parametrize("records", [b"\0", BATCH[:60], bytes(16) + b"\1" + bytes(44)])
def test_what_is_no_batch_may_be_transactional(rules: Making, records: bytes) -> None:
    request = produce(9, "mine", records=records, transactional_id="theirs")
    assert is_transactional(request)
    assert told(Producer(rules(WRITES)).ask(request, 9)) == [("mine", NO_TRANSACTION, -1)]


@pytest.mark.parametrize("records", [None, b""])
def test_where_no_record_is_there_is_no_transaction(rules: Making, records: bytes | None) -> None:
    talk = Producer(rules(WRITES))
    talk.ask(produce(9, "mine", records=records, transactional_id="theirs"), 9)
    assert talk.written == [["mine"]]


@pytest.mark.parametrize("version", [3, 9, 13])
def test_a_transactional_batch_without_an_id_refuses_what_else_is_refused_too(rules: Making, version: int) -> None:
    request = produce(version, "mine", "theirs", records=batch(True), transactional_id=None)
    talk = Producer(rules(WRITES))
    assert told(talk.ask(request, version)) == [("mine", NO_TRANSACTION, -1), ("theirs", NO_TRANSACTION, -1)]
    assert talk.written == []


def test_a_refused_transaction_without_an_answer_closes_the_connection(rules: Making) -> None:
    talk = Producer(rules(WRITES))
    talk.ask(produce(9, "mine", acks=0, records=batch(True), transactional_id="theirs"), 9)
    assert talk.written == []
    assert talk.closed == f"{NO_TRANSACTION.name} on a Produce request that wants no answer"


def test_an_id_that_nobody_knows_is_refused_as_unknown(rules: Making) -> None:
    talk = Producer(rules("super_users: [User:alice]"))
    answer = talk.ask(produce(BY_ID, "gone"), BY_ID)
    assert told(answer) == [("gone", ErrorCode.UNKNOWN_TOPIC_ID, -1)]


def test_in_shadow_all_is_written_and_every_time_told(rules: Making) -> None:
    talk = Producer(rules(WRITES, shadow=True))
    for _ in range(3):
        talk.ask(produce(9, "mine", "theirs"), 9)
    assert talk.written == [["mine", "theirs"]] * 3
    assert talk.denied == [("Write", "Topic", "theirs")] * 3
    assert talk.closed is None
