"""ACL messages: conversions between ACLs and the structs of DescribeAcls, CreateAcls and DeleteAcls."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from plugins.acl.acl_filters import words
from proxy.plugin import (
    CreateAclsRequest,
    CreateAclsResponse,
    DeleteAclsResponse,
    DescribeAclsResponse,
    ErrorCode,
)
from rules import Operation, ResourceType
from rules.bindings import Binding
from rules.store import Changed, StoreError
from rules.values import Pattern
from rules.vocabulary import CLUSTER_NAME, PatternType, Permission

Creation = CreateAclsRequest.Creation
Created = CreateAclsResponse.Result
Deleted = DeleteAclsResponse.FilterResult
Described = DescribeAclsResponse.Resource


def described(found: Iterable[Binding]) -> list[Described]:
    """ACLs by their resources; those about one resource come one after the other."""
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


def wrong(creation: Creation) -> str | None:
    """The first mistake in an ACL to create, in a broker's words; None if there is none."""
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


def binding(creation: Creation) -> Binding:
    return Binding(
        ResourceType(creation.resource_type),
        Pattern(PatternType(creation.resource_pattern_type), creation.resource_name),
        creation.principal,
        creation.host,
        Operation(creation.operation),
        Permission(creation.permission_type),
    )


def created(outcome: Changed | StoreError) -> Created:
    if isinstance(outcome, StoreError):
        return Created(error_code=ErrorCode.UNKNOWN_SERVER_ERROR, error_message=str(outcome))
    return Created(error_code=0, error_message="")


def matched(one: Binding, error: ErrorCode | None = None, fact: str | None = None) -> Deleted.MatchingAcl:
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
