"""Checks of answers: what of them a client may see.

    Listed(DESCRIBE, GROUP)     leave out what the client may not see
    ListedOfAll(...)            likewise, where null asks for all
    Assigned((path, ...))       a group that has a topic which the client may not see is refused
    Operations()                say what the client may do by the rules, not by the broker's

# They judge nothing of the request: they see to it that its answer is read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from plugins.acl.case import Case
from plugins.acl.checks import CLUSTER, GROUP, TOPIC, Check
from plugins.acl.subjects import array_paths, naming, subject
from proxy.core.decisions import Decision
from proxy.protocol.errors import ErrorCode
from proxy.protocol.fiber import turns
from proxy.protocol.schema import NEWEST, Response, Struct
from proxy.protocol.walk import arrays, holders, values
from proxy.protocol.wire import Meaning
from rules import Operation, ResourceType
from rules.vocabulary import CLUSTER_NAME

UNASKED = -(2**31)  # authorized operations that nobody asked for


@dataclass(frozen=True)
class Listed(Check):
    """What the client may not see is not in the answer."""

    operation: Operation
    kind: ResourceType
    path: str = ""  # where it is not all that the answer says of them
    or_cluster: Operation | None = None
    answers = True

    def judge(self, case: Case) -> Decision:
        if self.or_cluster is None or not case.rights.may(self.or_cluster, CLUSTER):
            case.after.append(self.filter)
        return None

    def filter(self, case: Case, response: Response) -> None:
        for path in (self.path,) if self.path else array_paths(case.api.response, self.kind):
            for array in arrays(path, case.version, response):
                seen = [element for element in array.elements if not self.hides(case, element)]
                setattr(array.chain[-1], array.field.name, seen)

    def hides(self, case: Case, element: Any) -> bool:
        name = case.names.of(subject(element, self.kind, case.version))
        return name is None or case.rights.hides(case.api, self.operation, self.kind, name)


@dataclass(frozen=True)
class ListedOfAll(Listed):
    """Likewise, where the request asks for all with null. From `ids_since` on the answer speaks of topics by id."""

    ids_since: int = NEWEST

    def judge(self, case: Case) -> Any:
        *way, last = self.path.split(".")
        holders = values(".".join(way), case.version, case.request) if way else (case.request,)
        if not any(holder.field[last].present(case.version) and getattr(holder, last) is None for holder in holders):
            return None
        if case.version >= self.ids_since:
            yield from case.names.ask_all()
        return super().judge(case)


@dataclass(frozen=True)
class Assigned(Check):
    """A group of the answer with a topic that the client may not see is refused, and nothing more is told of it."""

    paths: tuple[str, ...]  # from the group
    message: str = "The group has described topic(s) that the client is not authorized to describe."
    answers = True
    TOLD = ("error_code", "error_message", "group_id")  # even so

    def judge(self, case: Case) -> Decision:
        case.after.append(self.check)
        return None

    def check(self, case: Case, response: Any) -> None:
        for group in turns(response.groups):
            if not group.error_code and self.shows_refused(case, group):
                group.error_code, group.error_message = ErrorCode.TOPIC_AUTHORIZATION_FAILED, self.message
                for field in group.fields:
                    if field.name not in self.TOLD:
                        setattr(group, field.name, field.default())

    def shows_refused(self, case: Case, group: Struct) -> bool:
        names = {name for path in self.paths for name in turns(values(path, case.version, group))}
        return any(case.rights.refuses(case.api, Operation.DESCRIBE, TOPIC, name) for name in sorted(names))


class Operations(Check):
    """Which operations the client may do: those that the broker names, as far as the rules allow them.

    Where a request cannot ask for them, the answer always has them.
    """

    answers = True
    KINDS = (TOPIC, GROUP)

    def judge(self, case: Case) -> Decision:
        asked = [field.name for field in case.request.fields if field.name.endswith("_authorized_operations")]
        if not asked or any(getattr(case.request, name) for name in asked):
            case.after.append(self.narrow)
        return None

    def narrow(self, case: Case, response: Response) -> None:
        for struct in holders(response, Meaning.AUTHORIZED_OPERATIONS):
            for field in struct.fields:
                if field.meaning is Meaning.AUTHORIZED_OPERATIONS and field.present(case.version):
                    setattr(struct, field.name, self.left(case, struct, getattr(struct, field.name)))

    def left(self, case: Case, struct: Struct, theirs: int) -> int:
        if theirs == UNASKED or case.rights.is_shadow:
            return theirs
        kind, name = self.about(case, struct)
        if name is None:
            return 0
        if kind is CLUSTER and not case.rights.may(Operation.DESCRIBE, CLUSTER):
            return 0
        allowed = (1 << operation for operation in Operation if case.rights.may(operation, kind, name))
        return theirs & sum(allowed)

    def about(self, case: Case, struct: Struct) -> tuple[ResourceType, str | None]:
        for kind in self.KINDS:
            if naming(type(struct), kind, case.version):
                return kind, case.names.of(subject(struct, kind, case.version))
        return CLUSTER, CLUSTER_NAME
