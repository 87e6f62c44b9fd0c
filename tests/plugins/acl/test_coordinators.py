"""A client sees a coordinator if it may describe the group or transactional id."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from proxy.protocol.errors import ErrorCode
from proxy.protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from tests.plugins.acl.talk import Rules, Talk

Making = Callable[..., Rules]
OWN = "acls: [{allow: User:alice, to: Describe, groups: mine}, {allow: User:alice, to: Write, transactional_ids: tx}]"
NO_GROUP, NO_ID = ErrorCode.GROUP_AUTHORIZATION_FAILED, ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED


@pytest.mark.parametrize("version", range(4))
@pytest.mark.parametrize(
    ("kind", "key", "error"), [(0, "mine", None), (0, "tx", NO_GROUP), (1, "tx", None), (1, "mine", NO_ID)]
)
def test_of_one_key(rules: Making, version: int, kind: int, key: str, error: int | None) -> None:
    if version == 0 and kind:
        return  # it knows of groups only
    talk = Talk(rules(OWN).acl)
    answer = talk.ask(FindCoordinatorRequest(key=key, key_type=kind), version)
    assert len(talk.to_broker) == (error is None)
    if error is not None:
        assert (answer.error_code, answer.node_id, answer.host, answer.port) == (error, -1, "", -1)


@pytest.mark.parametrize("version", [4, 5, 6])
@pytest.mark.parametrize(("kind", "mine", "error"), [(0, "mine", NO_GROUP), (1, "tx", NO_ID)])
def test_of_many_keys_in_the_order_in_which_they_were_asked(
    rules: Making, version: int, kind: int, mine: str, error: int
) -> None:
    talk = Talk(rules(OWN).acl)
    talk.ask(FindCoordinatorRequest(key_type=kind, coordinator_keys=["a", mine, "b"]), version)
    assert [request.coordinator_keys for request in talk.to_broker] == [[mine]]
    known = FindCoordinatorResponse.Coordinator(
        key=mine, node_id=1, host="broker", port=9092, error_code=0, error_message=None
    )
    answer = talk.answer(FindCoordinatorResponse(coordinators=[known]))
    assert [(each.key, each.error_code, each.node_id, each.port) for each in answer.coordinators] == [
        ("a", error, -1, -1),
        (mine, 0, 1, 9092),
        ("b", error, -1, -1),
    ]
    assert [each.error_message for each in answer.coordinators] == ["", None, ""]


@pytest.mark.parametrize("may", [False, True])
def test_of_share_partitions_to_brokers_alone(rules: Making, may: bool) -> None:
    talk = Talk(rules("acls: [{allow: User:alice, to: ClusterAction, cluster: true}]" if may else OWN).acl)
    answer = talk.ask(FindCoordinatorRequest(key_type=2, coordinator_keys=["k"]), 6)
    assert (answer is None) == may
    if not may:
        assert [each.error_code for each in answer.coordinators] == [ErrorCode.CLUSTER_AUTHORIZATION_FAILED]


@pytest.mark.parametrize("version", range(1, 6))
def test_versions_that_know_no_share_partitions_do_not_tell_of_them(rules: Making, version: int) -> None:
    talk = Talk(rules("super_users: [User:alice]").acl)
    answer = talk.ask(FindCoordinatorRequest(key="k", key_type=2, coordinator_keys=["k"]), version)
    said = answer.coordinators[0].error_code if version >= 4 else answer.error_code
    assert (said, talk.to_broker) == (ErrorCode.INVALID_REQUEST, [])
