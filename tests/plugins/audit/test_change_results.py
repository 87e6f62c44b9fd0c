"""Results of changes: a change that was not made is told with its error, and all others without one."""

from __future__ import annotations

import pytest

from plugins.audit.change_results import QuotaResults
from proxy.plugin import (
    ALTER_CLIENT_QUOTAS,
    ALTER_SHARE_GROUP_OFFSETS,
    DELETE_SHARE_GROUP_OFFSETS,
    OFFSET_COMMIT,
    OFFSET_DELETE,
    AlterClientQuotasRequest,
    AlterClientQuotasResponse,
    AlterShareGroupOffsetsRequest,
    AlterShareGroupOffsetsResponse,
    Api,
    DeleteShareGroupOffsetsRequest,
    DeleteShareGroupOffsetsResponse,
    ErrorCode,
    Message,
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    refuse,
)
from tests.plugins.audit.test_changes import TOPIC_ID, changes

REFUSED = ErrorCode["GROUP_SUBSCRIBED_TO_TOPIC"]
COMMIT, COMMITTED = OffsetCommitRequest.Topic, OffsetCommitResponse.Topic
FORGET, FORGOTTEN = OffsetDeleteRequest.Topic, OffsetDeleteResponse.Topic
MOVE, MOVED = AlterShareGroupOffsetsRequest.Topic, AlterShareGroupOffsetsResponse.Topic
DROP, DROPPED = DeleteShareGroupOffsetsRequest.Topic, DeleteShareGroupOffsetsResponse.Topic

RESET = OffsetCommitRequest(
    group_id="g",
    member_id="",
    topics=[
        COMMIT(
            topic_id=TOPIC_ID,
            partitions=[
                COMMIT.Partition(partition_index=n, committed_offset=5, committed_metadata=None) for n in (0, 1)
            ],
        )
    ],
)
DELETED = OffsetDeleteRequest(
    group_id="g", topics=[FORGET(name="orders", partitions=[FORGET.Partition(partition_index=n) for n in (0, 1)])]
)
SHARED = AlterShareGroupOffsetsRequest(
    group_id="g",
    topics=[MOVE(topic_name="orders", partitions=[MOVE.Partition(partition_index=n, start_offset=5) for n in (0, 1)])],
)
UNSHARED = DeleteShareGroupOffsetsRequest(group_id="g", topics=[DROP(topic_name="orders"), DROP(topic_name="others")])


def results(kind: type, *codes: int) -> list[Message]:
    return [kind(partition_index=number, error_code=code) for number, code in enumerate(codes)]


@pytest.mark.parametrize(
    ("api", "version", "request_", "answer"),
    [
        (
            OFFSET_COMMIT,
            10,
            RESET,
            OffsetCommitResponse(
                topics=[COMMITTED(topic_id=TOPIC_ID, partitions=results(COMMITTED.Partition, REFUSED, 0))]
            ),
        ),
        (
            OFFSET_DELETE,
            0,
            DELETED,
            OffsetDeleteResponse(
                error_code=0,
                throttle_time_ms=0,
                topics=[FORGOTTEN(name="orders", partitions=results(FORGOTTEN.Partition, REFUSED, 0))],
            ),
        ),
        (
            ALTER_SHARE_GROUP_OFFSETS,
            0,
            SHARED,
            AlterShareGroupOffsetsResponse(
                throttle_time_ms=0,
                error_code=0,
                responses=[
                    MOVED(topic_name="orders", topic_id=TOPIC_ID, partitions=results(MOVED.Partition, REFUSED, 0))
                ],
            ),
        ),
        (
            DELETE_SHARE_GROUP_OFFSETS,
            0,
            UNSHARED,
            DeleteShareGroupOffsetsResponse(
                throttle_time_ms=0,
                error_code=0,
                responses=[
                    DROPPED(topic_name=name, topic_id=TOPIC_ID, error_code=code)
                    for name, code in (("orders", REFUSED), ("others", 0))
                ],
            ),
        ),
    ],
)
def test_an_offset_of_a_group_has_the_error_of_its_topic_and_partition(
    api: Api, version: int, request_: Message, answer: Message
) -> None:
    told = changes(api, version, request_, answer)
    assert [change.get("error") for change in told] == ["GROUP_SUBSCRIBED_TO_TOPIC", None]
    assert {change["type"] for change in told} == {"group"}


def test_an_error_of_the_group_is_that_of_all_its_offsets() -> None:
    answer = refuse(OFFSET_DELETE, 0, DELETED, ErrorCode["GROUP_AUTHORIZATION_FAILED"])
    assert answer is not None
    told = changes(OFFSET_DELETE, 0, DELETED, answer)
    assert [change["error"] for change in told] == ["GROUP_AUTHORIZATION_FAILED"] * 2


ENTITIES: tuple[tuple[tuple[str, str | None], ...], ...] = (
    (("user", "alice"),),
    (("user", "alice"), ("client-id", None)),
    (("client-id", None),),
)


def quotas() -> AlterClientQuotasRequest:
    made = AlterClientQuotasRequest.Entry
    ops = [made.Op(key="producer_byte_rate", value=1.0, remove=False), made.Op(key="x", value=0.0, remove=True)]
    entries = [
        made(entity=[made.Entity(entity_type=kind, entity_name=name) for kind, name in entity], ops=ops)
        for entity in ENTITIES
    ]
    return AlterClientQuotasRequest(entries=entries, validate_only=False)


def test_quotas_have_the_error_of_their_entity_in_whatever_order_the_answer_is() -> None:
    made = AlterClientQuotasResponse.Entry
    entries = [
        made(
            error_code=code,
            error_message=None,
            entity=[made.Entity(entity_type=kind, entity_name=name) for kind, name in entity],
        )
        for code, entity in ((0, ENTITIES[2]), (ErrorCode["INVALID_REQUEST"], ENTITIES[1][::-1]), (0, ENTITIES[0]))
    ]
    told = changes(ALTER_CLIENT_QUOTAS, 1, quotas(), AlterClientQuotasResponse(throttle_time_ms=0, entries=entries))
    assert [change.get("error") for change in told] == [None] * 2 + ["INVALID_REQUEST"] * 4 + [None] * 2


def test_what_is_noted_of_quotas_is_bounded() -> None:
    results_, request = QuotaResults(), quotas()
    results_.asked(request, 2)
    assert results_._sizes == [2, 4]
