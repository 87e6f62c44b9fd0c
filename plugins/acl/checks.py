"""Checks: what kinds of questions the rules are asked about a request, and what follows from a no.

    Whole(READ, GROUP)                  refuse all of it
    Every(DESCRIBE, TOPIC, ("names",))  one no among these refuses all of it
    Each(WRITE, TOPIC)                  take out what is refused, serve the others
    Required(INCONSISTENT, ("name",))   refuse all of it where something is missing

Those about what an answer shows are in `answers.py`.

# Where a request names what is asked about, the schema says: see `subjects.py`. A path is given only where brokers ask
# about less than that.
# A check judges a case: it answers None to go on, or with the decision that ends it. It may be a generator of steps.
# `or_cluster`: who may do that to the cluster needs nothing else.
# A topic id without a name is unknown to the broker: that is said before anything is asked (as brokers do).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from plugins.acl.case import ApiError, Case
from plugins.acl.subjects import array_paths, name_field, subjects
from proxy.core.decisions import Decision
from proxy.protocol import api
from proxy.protocol.errors import ErrorCode
from proxy.protocol.schema import Request
from proxy.protocol.walk import Array, arrays, values
from rules import Operation, ResourceType

CLUSTER = ResourceType.CLUSTER
GROUP = ResourceType.GROUP
TOPIC = ResourceType.TOPIC
TRANSACTIONAL_ID = ResourceType.TRANSACTIONAL_ID

ERRORS = {
    TOPIC: ErrorCode.TOPIC_AUTHORIZATION_FAILED,
    GROUP: ErrorCode.GROUP_AUTHORIZATION_FAILED,
    CLUSTER: ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
    TRANSACTIONAL_ID: ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
    ResourceType.USER: ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED,
}
# What a broker says beside an error, where it says anything.
MESSAGES: dict[int, str] = {
    ErrorCode.TOPIC_AUTHORIZATION_FAILED: "Topic authorization failed.",
    ErrorCode.GROUP_AUTHORIZATION_FAILED: "Group authorization failed.",
    ErrorCode.CLUSTER_AUTHORIZATION_FAILED: "Cluster authorization failed.",
    ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED: "Transactional Id authorization failed.",
    ErrorCode.UNKNOWN_TOPIC_ID: "This server does not host this topic ID.",
    ErrorCode.INVALID_REQUEST: "This most likely occurs because of a request being malformed by the client library "
    "or the message was sent to an incompatible broker. See the broker logs for more details.",
}
# Where a broker refuses these as a whole it says nothing beside the error.
SILENT = frozenset(
    {
        api.CONSUMER_GROUP_HEARTBEAT,
        api.DESCRIBE_CLIENT_QUOTAS,
        api.DESCRIBE_USER_SCRAM_CREDENTIALS,
        api.SHARE_ACKNOWLEDGE,
        api.SHARE_FETCH,
        api.SHARE_GROUP_HEARTBEAT,
        api.STREAMS_GROUP_HEARTBEAT,
    }
)


def refusal(case: Case, error: ErrorCode) -> Decision:
    """Refuse the whole request, in a broker's words."""
    return case.refuse(error, None if case.api in SILENT else MESSAGES[error])


class Check:
    """One question, and what follows."""

    answers = False  # may it have something to do to the answer?

    def judge(self, case: Case) -> Any:
        """None, a decision, or a generator of steps that returns one of these."""
        raise NotImplementedError

    def ids(self, case: Case) -> Iterator[bytes]:
        """The topics of the request whose names must be known."""
        return iter(())

    def remembered(self, case: Case) -> int:
        """How many elements of earlier requests this one goes on with."""
        return 0


@dataclass(frozen=True)
class Whole(Check):
    """All or nothing: the one resource that the request names, or the cluster."""

    operation: Operation
    kind: ResourceType

    def judge(self, case: Case) -> Decision:
        names: tuple[str, ...] = ()
        if self.kind is not CLUSTER:
            field = name_field(case.api.request, self.kind)
            if not field.present(case.version):
                return None
            names = (getattr(case.request, field.name) or "",)
        refused = case.rights.refuses(case.api, self.operation, self.kind, *names)
        return refusal(case, ERRORS[self.kind]) if refused else None


@dataclass(frozen=True)
class Required(Check):
    """What brokers miss in a request before they ask who sent it. `since`: the version in which it must be there."""

    error: ErrorCode
    paths: tuple[str, ...]
    since: int

    def judge(self, case: Case) -> Decision:
        if case.version < self.since or all(getattr(case.request, path) is not None for path in self.paths):
            return None
        return case.refuse(self.error)


@dataclass(frozen=True)
class Every(Check):
    """One no refuses all."""

    operation: Operation
    kind: ResourceType
    paths: tuple[str, ...]
    or_cluster: Operation | None = None

    def judge(self, case: Case) -> Decision:
        for path in self.paths:
            for name in values(path, case.version, case.request):
                if case.rights.refuses(case.api, self.operation, self.kind, name, or_cluster=self.or_cluster):
                    return refusal(case, ERRORS[self.kind])
        return None


class Each(Check):
    """What is refused is taken out. `paths` are the arrays where the schema does not say them; those of other versions
    lead to nothing.

    `kept`: brokers answer in the order of the request. `says`: beside the error stands its text. `anyway`: the broker
    is asked also when nothing is left.
    """

    answers = True

    def __init__(
        self,
        operation: Operation,
        kind: ResourceType,
        *paths: str,
        or_cluster: Operation | None = None,
        kept: bool = False,
        says: bool = False,
        anyway: bool = False,
    ) -> None:
        self.operation = operation
        self.kind = kind
        self._paths = paths
        self.or_cluster = or_cluster
        self.kept = kept
        self.says = says
        self.anyway = anyway

    def paths(self, request: type[Request]) -> tuple[str, ...]:
        """Which arrays of such a request are asked about."""
        return self._paths or array_paths(request, self.kind)

    def arrays(self, case: Case) -> Iterator[Array]:
        """These of one request."""
        for path in self.paths(case.api.request):
            yield from arrays(path, case.version, case.request)

    def ids(self, case: Case) -> Iterator[bytes]:
        if self.kind is TOPIC:
            for array in self.arrays(case):
                for element in array.elements:
                    yield from (it for it in subjects(element, TOPIC, case.version) if isinstance(it, bytes))

    def judge(self, case: Case) -> Any:
        for array in self.arrays(case):
            case.take_out(array, self.errors(case, array.elements), kept=self.kept, anyway=self.anyway)
        return None

    def errors(self, case: Case, elements: Sequence[Any]) -> dict[int, ApiError]:
        """What is said of those that are refused, by index."""
        verdicts = ((index, self.verdict(case, element)) for index, element in enumerate(elements))
        return {index: error for index, error in verdicts if error is not None}

    def verdict(self, case: Case, element: Any) -> ApiError | None:
        """What to say of one element; None: it may be served."""
        for asked in subjects(element, self.kind, case.version):
            name = case.names.of(asked)
            if name is None:
                return self.said(ErrorCode.UNKNOWN_TOPIC_ID)
            if case.rights.refuses(case.api, self.operation, self.kind, name, or_cluster=self.or_cluster):
                return self.said(ERRORS[self.kind])
        return None

    def said(self, error: ErrorCode) -> ApiError:
        """An error, in a broker's words where it has some."""
        return ApiError(error, MESSAGES[error] if self.says else None)
