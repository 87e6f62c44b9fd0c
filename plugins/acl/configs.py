"""Config resources: settings of topics, of groups, and of brokers and the like, which need rights on the cluster.

Rules:
* A resource of an unknown type refuses all of a DescribeConfigs request.
* Brokers validate a change before they ask for the right to make it. A refused change never reaches them, so the proxy
  gives the errors of that validation. It does not validate the new values.

Source: handleDescribeConfigsRequest and ConfigAdminManager.preprocess of Kafka 4.3, and what a 4.3.1 broker answered.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from plugins.acl.checked_request import ApiError, CheckedRequest
from plugins.acl.checks import ElementCheck
from plugins.acl.errors import CLUSTER, ERRORS, GROUP, TOPIC, refusal
from proxy.plugin import ALTER_CONFIGS, INCREMENTAL_ALTER_CONFIGS, ErrorCode, Request, read_node_id, turns
from rules import Operation

BROKER, BROKER_LOGGER = 4, 8
# The settings of brokers need a right on the cluster.
KINDS = {2: TOPIC, BROKER: CLUSTER, BROKER_LOGGER: CLUSTER, 16: CLUSTER, 32: GROUP}
OPERATIONS = range(4)  # of an incremental change: set, delete, append, subtract
DELETE = 1  # needs no value


class ConfigsCheck(ElementCheck):
    """A right on each resource: on the topic or the group of its name, or on the cluster."""

    def __init__(self, operation: Operation, *, ordered: bool) -> None:
        super().__init__(operation, CLUSTER, ordered=ordered, says=True)

    def paths(self, request: type[Request]) -> tuple[str, ...]:
        return ("resources",)

    def verdict(self, checked: CheckedRequest, element: Any) -> ApiError | None:
        kind = KINDS[element.resource_type]
        name = () if kind is CLUSTER else (element.resource_name,)
        return self.said(ERRORS[kind]) if checked.authorizer.refuses(checked.api, self.operation, kind, *name) else None


class DescribeConfigsCheck(ConfigsCheck):
    """DescribeConfigs."""

    def __init__(self) -> None:
        super().__init__(Operation.DESCRIBE_CONFIGS, ordered=False)

    def apply(self, checked: CheckedRequest) -> Any:
        if any(resource.resource_type not in KINDS for resource in turns(checked.request.resources)):
            return refusal(checked, ErrorCode.INVALID_REQUEST)
        return super().apply(checked)


class AlterConfigsCheck(ConfigsCheck):
    """AlterConfigs and IncrementalAlterConfigs."""

    def __init__(self) -> None:
        super().__init__(Operation.ALTER_CONFIGS, ordered=True)

    def errors(self, checked: CheckedRequest, elements: Sequence[Any]) -> dict[int, ApiError]:
        times = Counter((element.resource_type, element.resource_name) for element in turns(elements))
        errors = super().errors(checked, elements)
        for index in turns(errors):
            element = elements[index]
            twice = times[element.resource_type, element.resource_name] > 1
            fact = "Each resource must appear at most once." if twice else _wrong(checked, element)
            if fact is not None:
                errors[index] = ApiError(ErrorCode.INVALID_REQUEST, fact)
        return errors

    def verdict(self, checked: CheckedRequest, element: Any) -> ApiError | None:
        if element.resource_type not in KINDS:
            return ApiError(ErrorCode.INVALID_REQUEST)
        if element.resource_type == BROKER_LOGGER and checked.api is ALTER_CONFIGS:
            return ApiError(ErrorCode.INVALID_REQUEST)
        error = super().verdict(checked, element)
        if error is not None and element.resource_type == BROKER_LOGGER:
            return ApiError(error.error)  # the broker that is asked gives this error, without a message
        return error


def _wrong(checked: CheckedRequest, resource: Any) -> str | None:
    """The mistake in a change that a broker finds before it asks for any right; None if there is none."""
    incremental = checked.api is INCREMENTAL_ALTER_CONFIGS
    names = [config.name for config in turns(resource.configs)]
    if len(set(names)) < len(names):
        return "Error due to duplicate config keys"
    nulls = [
        config.name
        for config in turns(resource.configs)
        if config.value is None and not (incremental and config.config_operation == DELETE)
    ]
    if nulls:
        return f"Null value not supported for : {', '.join(nulls)}"
    if resource.resource_type not in KINDS or (resource.resource_type == BROKER_LOGGER and not incremental):
        return f"Unknown resource type {resource.resource_type}"
    if resource.resource_type != BROKER:
        return None
    operations = (config.config_operation for config in turns(resource.configs)) if incremental else ()
    unknown = next((it for it in operations if it not in OPERATIONS), None)
    wrong = _wrong_broker(checked, resource.resource_name)
    return wrong if wrong or unknown is None else f"Unknown operations type {unknown}"


def _wrong_broker(checked: CheckedRequest, name: str) -> str | None:
    """What is wrong with the broker named: only the one that is asked, or all (an empty name), can be changed."""
    if not name:
        return None
    asked, own = read_node_id(name), checked.connection.broker_id
    if asked is None:
        return f"Node id must be an integer, but it is: {name}"
    return None if own is None or asked == own else f"Unexpected broker id, expected {own}, but received {name}"
