"""Checks of answers: which parts of an answer a client may see.

    ListFilter(DESCRIBE, GROUP)        leave out what the client may not see
    ListAllFilter(...)                 likewise, where null asks for all
    AssignedTopicsCheck()              refuse a group that has a topic which the client may not see
    AuthorizedOperationsCheck()        say what the client may do by the proxy's rules, not the broker's

Rules:
* They refuse nothing in the request. They change its answer, which is read for that.
* What may be seen is decided by the rules in force when the answer comes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from plugins.acl.checked_request import CheckedRequest
from plugins.acl.checks import Check
from plugins.acl.errors import CLUSTER, GROUP, TOPIC
from plugins.acl.subjects import array_paths, naming, subject
from proxy.plugin import Decision, ErrorCode, Meaning, Response, Struct, structs_with, turns, values
from proxy.plugin.schema import NEWEST, arrays, paths
from rules import Operation, ResourceType
from rules.vocabulary import CLUSTER_NAME

UNASKED = -(2**31)  # the value where the client did not ask for authorized operations


@dataclass(frozen=True)
class ListFilter(Check):
    """Leave resources that the client may not see out of the answer."""

    operation: Operation
    kind: ResourceType
    or_cluster: Operation | None = None
    answers = True

    def apply(self, checked: CheckedRequest) -> Decision:
        checked.judging.append(self.filter)
        return None

    def filter(self, checked: CheckedRequest, response: Response) -> None:
        if self.or_cluster is not None and checked.authorizer.may(self.or_cluster, CLUSTER):
            return
        for path in array_paths(checked.api.response, self.kind):
            for array in arrays(path, checked.version, response):
                seen = [element for element in array.elements if not self.hides(checked, element)]
                setattr(array.chain[-1], array.field.name, seen)

    def hides(self, checked: CheckedRequest, element: Any) -> bool:
        name = checked.names.of(subject(element, self.kind, checked.version))
        return name is None or checked.authorizer.hides(checked.api, self.operation, self.kind, name)


@dataclass(frozen=True)
class ListAllFilter(ListFilter):
    """A ListFilter for requests that ask for all with null. From version `ids_since` on the answer has topic ids."""

    ids_since: int = NEWEST

    def apply(self, checked: CheckedRequest) -> Any:
        for path in array_paths(checked.api.request, self.kind):
            *way, last = path.split(".")
            asked = values(".".join(way), checked.version, checked.request) if way else (checked.request,)
            if any(struct.field[last].present(checked.version) and getattr(struct, last) is None for struct in asked):
                if checked.version >= self.ids_since:
                    yield from checked.names.ask_all()
                return super().apply(checked)
        return None


@dataclass(frozen=True)
class AssignedTopicsCheck(Check):
    """Replace a group of the answer by an error if it has a topic that the client may not see.

    As at brokers, topics that its members only subscribe to do not count.
    """

    message: str = "The group has described topic(s) that the client is not authorized to describe."
    answers = True
    SUBSCRIBED = "members.subscribed_topic_names"
    TOLD = ("error_code", "error_message", "group_id")  # fields that such a group keeps

    def apply(self, checked: CheckedRequest) -> Decision:
        checked.judging.append(self.check)
        return None

    def check(self, checked: CheckedRequest, response: Any) -> None:
        for group in turns(response.groups):
            if not group.error_code and self.shows_refused(checked, group):
                group.error_code, group.error_message = ErrorCode.TOPIC_AUTHORIZATION_FAILED, self.message
                for field in group.fields:
                    if field.name not in self.TOLD:
                        setattr(group, field.name, field.default())

    def shows_refused(self, checked: CheckedRequest, group: Struct) -> bool:
        counted = (path for path in paths(type(group), Meaning.TOPIC_NAME) if path != self.SUBSCRIBED)
        names = {name for path in counted for name in turns(values(path, checked.version, group))}
        return any(checked.authorizer.refuses(checked.api, Operation.DESCRIBE, TOPIC, name) for name in sorted(names))


class AuthorizedOperationsCheck(Check):
    """The operations that the client may do: those that the broker names and the rules allow.

    Where a request has no field to ask for them, the answer always has them.
    """

    answers = True
    KINDS = (TOPIC, GROUP)

    def apply(self, checked: CheckedRequest) -> Decision:
        asked = [field.name for field in checked.request.fields if field.name.endswith("_authorized_operations")]
        if not asked or any(getattr(checked.request, name) for name in asked):
            checked.judging.append(self.narrow)
        return None

    def narrow(self, checked: CheckedRequest, response: Response) -> None:
        for struct in structs_with(response, Meaning.AUTHORIZED_OPERATIONS):
            for field in struct.fields:
                if field.meaning is Meaning.AUTHORIZED_OPERATIONS and field.present(checked.version):
                    setattr(struct, field.name, self.left(checked, struct, getattr(struct, field.name)))

    def left(self, checked: CheckedRequest, struct: Struct, theirs: int) -> int:
        if theirs == UNASKED or checked.authorizer.is_shadow:
            return theirs
        kind, name = self.about(checked, struct)
        if name is None:
            return 0
        if kind is CLUSTER and not checked.authorizer.may(Operation.DESCRIBE, CLUSTER):
            return 0
        allowed = (1 << operation for operation in Operation if checked.authorizer.may(operation, kind, name))
        return theirs & sum(allowed)

    def about(self, checked: CheckedRequest, struct: Struct) -> tuple[ResourceType, str | None]:
        for kind in self.KINDS:
            if naming(type(struct), kind, checked.version):
                return kind, checked.names.of(subject(struct, kind, checked.version))
        return CLUSTER, CLUSTER_NAME
