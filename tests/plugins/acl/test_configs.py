"""Config resources: an invalid change is refused before its authorization; an unknown type refuses all of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from proxy.protocol.errors import ErrorCode
from proxy.protocol.messages.alter_configs import AlterConfigsRequest
from proxy.protocol.messages.describe_configs import DescribeConfigsRequest
from proxy.protocol.messages.incremental_alter_configs import IncrementalAlterConfigsRequest
from tests.plugins.acl.talk import Rules, Talk

Making = Callable[..., Rules]
OWN = "acls: [{allow: User:alice, to: [AlterConfigs, DescribeConfigs], topics: mine}]"
TOPIC, BROKER, LOGGER = 2, 4, 8
WRONG, NO_TOPIC, NO_CLUSTER = (
    ErrorCode.INVALID_REQUEST,
    ErrorCode.TOPIC_AUTHORIZATION_FAILED,
    ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
)
A, B, NULL = ("a", "1"), ("b", "1"), ("c", None)


def altered(cls: Any, *resources: tuple[int, str, list[tuple[str, str | None]]]) -> Any:
    made = [
        cls.Resource(
            resource_type=kind,
            resource_name=name,
            configs=[cls.Resource.Config(**config(cls, *one)) for one in configs],
        )
        for kind, name, configs in resources
    ]
    return cls(resources=made, validate_only=False)


def config(cls: Any, name: str, value: str | None) -> dict[str, Any]:
    more = {"config_operation": 0} if cls is IncrementalAlterConfigsRequest else {}
    return {"name": name, "value": value, **more}


def told(answer: Any) -> list[tuple[int, str | None]]:
    return [(each.error_code, each.error_message) for each in answer.responses]


@pytest.mark.parametrize("cls", [AlterConfigsRequest, IncrementalAlterConfigsRequest])
@pytest.mark.parametrize(
    ("kind", "name", "configs", "error", "said"),
    [
        (TOPIC, "theirs", [A], NO_TOPIC, "Topic authorization failed."),
        (TOPIC, "theirs", [A, A], WRONG, "Error due to duplicate config keys"),
        (TOPIC, "theirs", [A, NULL], WRONG, "Null value not supported for : c"),
        (3, "theirs", [A], WRONG, "Unknown resource type 3"),
        (BROKER, "1", [A], NO_CLUSTER, "Cluster authorization failed."),
        (BROKER, "", [A], NO_CLUSTER, "Cluster authorization failed."),
        (BROKER, "x", [A], WRONG, "Node id must be an integer, but it is: x"),
        (BROKER, "9999999999", [A], WRONG, "Node id must be an integer, but it is: 9999999999"),
        (BROKER, "9" * 5000, [A], WRONG, f"Node id must be an integer, but it is: {'9' * 5000}"),
    ],
)
def test_what_is_wrong_with_a_change_is_said_before_who_may_make_it(
    rules: Making, cls: Any, kind: int, name: str, configs: Any, error: int, said: str
) -> None:
    answer = Talk(rules(OWN).acl).ask(altered(cls, (kind, name, configs)), 1)
    assert told(answer) == [(error, said)]


def test_another_broker_than_the_one_asked_is_told_apart(rules: Making) -> None:
    talk = Talk(rules(OWN).acl)
    talk.connection.broker_id = 7
    answer = talk.ask(altered(AlterConfigsRequest, (BROKER, "7", [A]), (BROKER, "9", [A])), 1)
    assert told(answer)[1] == (WRONG, "Unexpected broker id, expected 7, but received 9")
    assert told(answer)[0][0] == NO_CLUSTER


@pytest.mark.parametrize("name", ["+7", "00000000007", "\u0667"])
def test_a_broker_is_named_in_all_spellings_that_brokers_read(rules: Making, name: str) -> None:
    talk = Talk(rules(OWN).acl)
    talk.connection.broker_id = 7
    assert told(talk.ask(altered(AlterConfigsRequest, (BROKER, name, [A])), 1))[0][0] == NO_CLUSTER


def test_loggers_are_changed_one_by_one_alone(rules: Making) -> None:
    own = rules(OWN).acl
    assert told(Talk(own).ask(altered(AlterConfigsRequest, (LOGGER, "1", [A])), 1)) == [
        (WRONG, "Unknown resource type 8")
    ]
    assert told(Talk(own).ask(altered(IncrementalAlterConfigsRequest, (LOGGER, "1", [A])), 1)) == [(NO_CLUSTER, None)]


def test_a_setting_is_taken_away_without_a_value(rules: Making) -> None:
    request = altered(IncrementalAlterConfigsRequest, (TOPIC, "theirs", [NULL]))
    request.resources[0].configs[0].config_operation = 1
    assert told(Talk(rules(OWN).acl).ask(request, 1)) == [(NO_TOPIC, "Topic authorization failed.")]


@pytest.mark.parametrize("cls", [AlterConfigsRequest, IncrementalAlterConfigsRequest])
def test_what_is_served_reaches_the_broker_with_all_that_is_wrong_with_it(rules: Making, cls: Any) -> None:
    talk = Talk(rules(OWN).acl)
    talk.ask(altered(cls, (TOPIC, "mine", [A, A]), (TOPIC, "theirs", [A]), (TOPIC, "theirs", [B])), 1)
    (reached,) = talk.to_broker
    assert reached == altered(cls, (TOPIC, "mine", [A, A]))


@pytest.mark.parametrize("version", range(1, 5))
def test_one_unknown_type_refuses_all_settings(rules: Making, version: int) -> None:
    resources = [
        DescribeConfigsRequest.Resource(resource_type=kind, resource_name="mine", configuration_keys=None)
        for kind in (TOPIC, 3)
    ]
    talk = Talk(rules("super_users: [User:alice]").acl)
    answer = talk.ask(DescribeConfigsRequest(resources=resources), version)
    assert [(each.error_code, each.resource_type) for each in answer.results] == [(WRONG, TOPIC), (WRONG, 3)]
    assert not talk.to_broker
