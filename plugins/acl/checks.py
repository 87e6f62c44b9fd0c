"""Checks: which rights a request needs, and what happens where its client lacks one.

    RequestCheck(READ, GROUP)                         refuse all of it
    AllOrNothingCheck(DESCRIBE, TOPIC, ("names",))    refuse all of it if one of these is refused
    ElementCheck(WRITE, TOPIC)                        take out what is refused, serve the others
    RequiredFieldsCheck(INCONSISTENT, ("name",), 5)   refuse all of it where a field is missing

Checks of answers are in `answers.py`.

Rules:
* The schema says which fields of a request name resources: see `subjects.py`. A path is given only where brokers check
  fewer fields than that.
* A check returns None if the next check follows, or the decision that ends the checks. It may be a generator of steps.
* `or_cluster`: a client that may do this operation on the cluster needs no other right.
* A topic id without a name is unknown to the broker: that error comes before any right is asked for (as with brokers).
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from types import GeneratorType
from typing import Any

from plugins.acl.checked_request import ApiError, CheckedRequest
from plugins.acl.errors import CLUSTER, ERRORS, MESSAGES, TOPIC, refusal
from plugins.acl.subjects import array_paths, name_field, subjects
from proxy.plugin import Decision, ErrorCode, Request, Step, StepDriver, values
from proxy.plugin.schema import Array, arrays
from rules import Operation, ResourceType


class Check:
    """One check of a request."""

    answers = False  # whether it may change the answer
    may_apply_again = True  # to the same request, if the rules changed meanwhile

    def apply(self, checked: CheckedRequest) -> Any:
        """None, a decision, or a generator of steps that returns one of these."""
        raise NotImplementedError

    def ids(self, checked: CheckedRequest) -> Iterator[bytes]:
        """The ids of topics in the request whose names this check needs."""
        return iter(())

    def remembered(self, checked: CheckedRequest) -> int:
        """The number of elements from earlier requests (of a session) that this check goes over."""
        return 0


def apply_all(asked: Iterable[Check], checked: CheckedRequest) -> Generator[Step, Any, tuple[Decision, bool]]:
    """Apply these checks. Returns the decision that ended them, and whether others had their turn meanwhile."""
    waited = False
    for check in asked:
        decision = check.apply(checked)
        if type(decision) is GeneratorType:
            driver: StepDriver[Decision] = StepDriver(decision)
            while driver.advance():
                waited = True
                yield from driver.hand_on()
            decision = driver.result
        if decision is not None:
            return decision, waited
    return None, waited


@dataclass(frozen=True)
class RequestCheck(Check):
    """A right on the one resource that the request names, or on the cluster. Without it the request is refused."""

    operation: Operation
    kind: ResourceType

    def apply(self, checked: CheckedRequest) -> Decision:
        names: tuple[str, ...] = ()
        if self.kind is not CLUSTER:
            field = name_field(checked.api.request, self.kind)
            if not field.present(checked.version):
                return None
            names = (getattr(checked.request, field.name) or "",)
        refused = checked.authorizer.refuses(checked.api, self.operation, self.kind, *names)
        return refusal(checked, ERRORS[self.kind]) if refused else None


OF_BROKERS = RequestCheck(Operation.CLUSTER_ACTION, CLUSTER)  # the right that only brokers need


@dataclass(frozen=True)
class RequiredFieldsCheck(Check):
    """Fields that must be set, which brokers check before any right. `since`: the version that must have them."""

    error: ErrorCode
    paths: tuple[str, ...]
    since: int

    def apply(self, checked: CheckedRequest) -> Decision:
        if checked.version < self.since or all(getattr(checked.request, path) is not None for path in self.paths):
            return None
        return checked.refuse(self.error)


@dataclass(frozen=True)
class AllOrNothingCheck(Check):
    """A right on each of several resources. Where one right is missing, the request is refused."""

    operation: Operation
    kind: ResourceType
    paths: tuple[str, ...]

    def apply(self, checked: CheckedRequest) -> Decision:
        for path in self.paths:
            for name in values(path, checked.version, checked.request):
                if checked.authorizer.refuses(checked.api, self.operation, self.kind, name):
                    return refusal(checked, ERRORS[self.kind])
        return None


@dataclass(frozen=True)
class ElementCheck(Check):
    """A right on the resource that each element of an array names. Refused elements are taken out.

    `ordered`: brokers answer in the order of the request. `says`: the error has its message. `anyway`: the broker is
    asked even if no element is left.
    """

    operation: Operation
    kind: ResourceType
    _: KW_ONLY
    or_cluster: Operation | None = None
    ordered: bool = False
    says: bool = False
    anyway: bool = False
    answers = True

    def paths(self, request: type[Request]) -> tuple[str, ...]:
        """The paths of the arrays of such a request that are checked. Paths of other versions lead to nothing."""
        return array_paths(request, self.kind)

    def arrays(self, checked: CheckedRequest) -> Iterator[Array]:
        """The arrays of one request that are checked."""
        for path in self.paths(checked.api.request):
            yield from arrays(path, checked.version, checked.request)

    def ids(self, checked: CheckedRequest) -> Iterator[bytes]:
        if self.kind is TOPIC:
            for array in self.arrays(checked):
                for element in array.elements:
                    yield from (it for it in subjects(element, TOPIC, checked.version) if isinstance(it, bytes))

    def apply(self, checked: CheckedRequest) -> Any:
        for array in self.arrays(checked):
            checked.take_out(array, self.errors(checked, array.elements), ordered=self.ordered, anyway=self.anyway)
        return None

    def errors(self, checked: CheckedRequest, elements: Sequence[Any]) -> dict[int, ApiError]:
        """The errors of the refused elements, by index."""
        verdicts = ((index, self.verdict(checked, element)) for index, element in enumerate(elements))
        return {index: error for index, error in verdicts if error is not None}

    def verdict(self, checked: CheckedRequest, element: Any) -> ApiError | None:
        """The error for one element; None: it may be served."""
        for asked in subjects(element, self.kind, checked.version):
            name = checked.names.of(asked)
            if name is None:
                return self.said(ErrorCode.UNKNOWN_TOPIC_ID)
            if checked.authorizer.refuses(checked.api, self.operation, self.kind, name, or_cluster=self.or_cluster):
                return self.said(ERRORS[self.kind])
        return None

    def said(self, error: ErrorCode) -> ApiError:
        """An error, with a broker's message where brokers give one."""
        return ApiError(error, MESSAGES[error] if self.says else None)
