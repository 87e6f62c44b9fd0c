"""Managed: the proxy keeps Kafka's ACLs itself, in the file of rules, and Kafka's own tools administer them.

DescribeAcls, CreateAcls and DeleteAcls are answered here, as a 4.3 broker with StandardAuthorizer answers them; brokers
see nothing of them.

# Who may: ALTER of the cluster, or DESCRIBE, by the rules. In shadow too: whoever may change the rules may do anything.
# The file is what is described, as it is at that moment: so what one worker or proxy was told, all tell at once.
# The answer to a change leaves when it is on the disk and in force here. A change that cannot be made is an error
# (UNKNOWN_SERVER_ERROR) with the reason, and a line in the log.
# A rule with a condition that Kafka's ACLs lack is none of them: it is not described, and not deleted. A filter that
# would mean it but for that gets POLICY_VIOLATION with its place, beside what was deleted: nobody takes it for gone.

Source: AclApis and AclControlManager of Kafka 4.3, and what a 4.3.1 broker answered.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from functools import partial
from itertools import groupby
from typing import Any

from plugins.acl.filters import ANY, MATCH, Filter, acls, conditioned, matching, too_new, words
from plugins.acl.law import Law, rights
from proxy.core.context import Context
from proxy.core.decisions import Call, Decision, Reply, Step, Steps
from proxy.core.events import AclsChanged, AclsNotChanged
from proxy.core.plugin import Plugin, on_request
from proxy.protocol.errors import ErrorCode
from proxy.protocol.fiber import turns
from proxy.protocol.messages.create_acls import CreateAclsRequest, CreateAclsResponse
from proxy.protocol.messages.delete_acls import DeleteAclsRequest, DeleteAclsResponse
from proxy.protocol.messages.describe_acls import DescribeAclsRequest, DescribeAclsResponse
from proxy.protocol.refuse import refuse
from proxy.protocol.schema import Request
from rules import Operation, ResourceType, Snapshot
from rules.bindings import Binding
from rules.store import AclChange, Changed, Store, StoreError
from rules.values import Pattern
from rules.vocabulary import CLUSTER_NAME, PatternType, Permission

Creation = CreateAclsRequest.Creation
Created = CreateAclsResponse.Result
Deleted = DeleteAclsResponse.FilterResult
Described = DescribeAclsResponse.Resource


class Managed(Plugin):
    """Answer what is asked about ACLs."""

    def __init__(self, law: Law) -> None:
        self._law = law
        self._store = Store(law.rules)

    @on_request(DescribeAclsRequest)
    def describe(self, ctx: Context, request: DescribeAclsRequest) -> Steps:
        """The ACLs that match a filter."""
        if (no := self._refused(ctx, request, Operation.DESCRIBE)) is not None:
            return no
        resources = yield Call(lambda: _described(request, self._law.rules.current()))
        return Reply(DescribeAclsResponse(throttle_time_ms=0, error_code=0, error_message="", resources=resources))

    @on_request(CreateAclsRequest)
    def create(self, ctx: Context, request: CreateAclsRequest) -> Steps:
        """New ACLs, each with its own outcome."""
        if (no := self._refused(ctx, request, Operation.ALTER)) is not None:
            return no
        if any(
            ANY in words(creation) or creation.resource_pattern_type == MATCH for creation in turns(request.creations)
        ):
            failed = Created(error_code=ErrorCode.UNKNOWN_SERVER_ERROR, error_message=None)
            return Reply(CreateAclsResponse(throttle_time_ms=0, results=[failed] * len(request.creations)))
        wrong = [_wrong(creation) for creation in turns(request.creations)]
        new = [
            _binding(creation) for creation, fact in zip(turns(request.creations), wrong, strict=True) if fact is None
        ]
        outcome = yield from self._changed(ctx, lambda there: AclChange(added=new))
        results = [
            _created(outcome) if fact is None else Created(error_code=ErrorCode.INVALID_REQUEST, error_message=fact)
            for fact in turns(wrong)
        ]
        return Reply(CreateAclsResponse(throttle_time_ms=0, results=results))

    @on_request(DeleteAclsRequest)
    def delete(self, ctx: Context, request: DeleteAclsRequest) -> Steps:
        """No ACLs any more that match one of these filters."""
        if (no := self._refused(ctx, request, Operation.ALTER)) is not None:
            return no
        known = [one for one in turns(request.filters) if not any(too_new(words(one)))]

        def decide(there: Snapshot) -> AclChange:
            every = acls(there)
            return AclChange(removed={binding for one in known for binding in matching(one, every)})

        outcome = yield from self._changed(ctx, decide)
        results = yield Call(lambda: [self._deleted(one, outcome) for one in request.filters])
        return Reply(DeleteAclsResponse(throttle_time_ms=0, filter_results=results))

    def _refused(self, ctx: Context, request: Request, operation: Operation) -> Decision:
        if rights(self._law, ctx).may(operation, ResourceType.CLUSTER, CLUSTER_NAME):
            return None
        answer = refuse(ctx.api, ctx.version, request, ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
        assert answer is not None, "only Produce goes without an answer"
        return Reply(answer)

    def _changed(
        self, ctx: Context, decide: Callable[[Snapshot], AclChange]
    ) -> Generator[Step, Any, Changed | StoreError]:
        """What was changed, or why nothing was."""
        tell = ctx.connection.gate.tell
        try:
            changed: Changed = yield Call(partial(self._store.change, decide))
        except StoreError as error:
            tell(AclsNotChanged(str(error)))
            return error
        if changed.added or changed.removed:
            tell(AclsChanged(len(changed.added), len(changed.removed)))
        return changed

    def _deleted(self, one: Filter, outcome: Changed | StoreError) -> Deleted:
        of_resource, of_rest = too_new(words(one))
        if of_resource or of_rest:
            fact = f"Unknown {'patternFilter' if of_resource else 'entryFilter'}."
            return Deleted(error_code=ErrorCode.INVALID_REQUEST, error_message=fact, matching_acls=[])
        if isinstance(outcome, StoreError):
            return Deleted(error_code=ErrorCode.UNKNOWN_SERVER_ERROR, error_message=str(outcome), matching_acls=[])
        found = [_matched(binding) for binding in matching(one, sorted(outcome.removed))]
        for rule, binding in conditioned(one, outcome.rules):
            place = f"{self._law.rules.file}:{rule.place.line}:{rule.place.column}"
            options = " and ".join(f'"{option}"' for option in rule.acl.ours)
            fact = f"{place}: not deleted: Kafka's ACLs cannot say {options}; edit the file"
            found.append(_matched(binding, ErrorCode.POLICY_VIOLATION, fact))
        return Deleted(error_code=0, error_message=None, matching_acls=found)


def _described(request: DescribeAclsRequest, snapshot: Snapshot) -> list[Described]:
    found = matching(request, acls(snapshot))
    return [
        Described(
            resource_type=kind,
            resource_name=pattern.name,
            pattern_type=pattern.type,
            acls=[
                Described.Acl(
                    principal=one.principal, host=one.host, operation=one.operation, permission_type=one.permission
                )
                for one in some
            ],
        )
        for (kind, pattern), some in groupby(found, lambda one: (one.kind, one.pattern))
    ]


def _wrong(creation: Creation) -> str | None:
    """What a broker says is wrong with an ACL to create: the first that there is."""
    return next(_all_wrong(creation), None)


def _all_wrong(creation: Creation) -> Iterator[str]:
    if creation.resource_type == ResourceType.CLUSTER and creation.resource_name != CLUSTER_NAME:
        yield f"The only valid name for the CLUSTER resource is {CLUSTER_NAME}"
    if not creation.resource_name:
        yield "Invalid empty resource name"
    names = ("resourceType", "patternType", "operation", "permissionType")
    for name, known, number in zip(names, KNOWN, words(creation), strict=True):
        if number not in known:
            yield f"Invalid {name} UNKNOWN"
    if ":" not in creation.principal:
        separated = "no colon is present separating the principal type from the principal name"
        yield f"Could not parse principal from `{creation.principal}` ({separated})"


KNOWN = tuple(frozenset(map(int, kind)) for kind in (ResourceType, PatternType, Operation, Permission))


def _binding(creation: Creation) -> Binding:
    return Binding(
        ResourceType(creation.resource_type),
        Pattern(PatternType(creation.resource_pattern_type), creation.resource_name),
        creation.principal,
        creation.host,
        Operation(creation.operation),
        Permission(creation.permission_type),
    )


def _created(outcome: Changed | StoreError) -> Created:
    if isinstance(outcome, StoreError):
        return Created(error_code=ErrorCode.UNKNOWN_SERVER_ERROR, error_message=str(outcome))
    return Created(error_code=0, error_message="")


def _matched(one: Binding, error: ErrorCode | None = None, fact: str | None = None) -> Deleted.MatchingAcl:
    return Deleted.MatchingAcl(
        error_code=error or 0,
        error_message=fact,
        resource_type=one.kind,
        resource_name=one.pattern.name,
        pattern_type=one.pattern.type,
        principal=one.principal,
        host=one.host,
        operation=one.operation,
        permission_type=one.permission,
    )
