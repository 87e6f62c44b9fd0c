"""Operations: the table equals the checks of `acl`."""

from __future__ import annotations

import pytest

from plugins.acl.checks import Check, ElementCheck, RequestCheck
from plugins.acl.table import checks
from plugins.audit.operations import needed_right
from proxy.plugin import CREATE_ACLS, FETCH, INCREMENTAL_ALTER_CONFIGS, METADATA, PRODUCE, Api
from rules import Operation, ResourceType

ASKED = [(api, check) for api, some in checks().items() for check in some]


@pytest.mark.parametrize(("api", "check"), ASKED, ids=lambda one: getattr(one, "name", type(one).__name__))
def test_it_is_what_acl_asks(api: Api, check: Check) -> None:
    if not isinstance(check, ElementCheck | RequestCheck):
        return
    if check.kind is ResourceType.CLUSTER:
        kinds = ["topic", "broker", "user"]
        found = [right for kind in kinds if (right := needed_right(api, kind)) and right.kind is check.kind]
        assert {right.operation for right in found} <= {check.operation}
        return
    if getattr(check, "or_cluster", None) is not None and check.operation is Operation.DESCRIBE:
        return
    right = needed_right(api, check.kind.name.lower())
    assert right is not None
    assert (right.operation, right.kind) == (check.operation, check.kind)


@pytest.mark.parametrize(
    ("api", "kind", "operation", "asked"),
    [
        (PRODUCE, "topic", Operation.WRITE, "orders"),
        (FETCH, "topic", Operation.READ, "orders"),
        (METADATA, "topic", Operation.DESCRIBE, "orders"),
        (INCREMENTAL_ALTER_CONFIGS, "topic", Operation.ALTER_CONFIGS, "orders"),
        (INCREMENTAL_ALTER_CONFIGS, "broker", Operation.ALTER_CONFIGS, "kafka-cluster"),
        (CREATE_ACLS, "topic", Operation.ALTER, "kafka-cluster"),
    ],
)
def test_the_cluster_is_asked_where_it_changes(api: Api, kind: str, operation: Operation, asked: str) -> None:
    right = needed_right(api, kind)
    assert right is not None
    assert (right.operation, right.asked("orders")) == (operation, asked)


def test_of_what_rules_know_nothing_about_nothing_is_said() -> None:
    assert needed_right(METADATA, "user") is None
