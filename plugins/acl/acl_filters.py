"""Filters: which ACLs match, when a client describes or deletes ACLs.

Rules:
* A part of a filter that is open (null, ANY) matches every ACL. A number that is newer than ours matches none.
* A number 0 (UNKNOWN) is an error: brokers close the connection before they ask for any right, and so does the proxy.
* With ANY, LITERAL or PREFIXED the name is that of the pattern itself. With MATCH it is that of a resource, and the
  filter matches every pattern that matches the resource, the `*` too.

Source: AclBindingFilter, ResourcePatternFilter and AccessControlEntryFilter of Kafka 4.3.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from plugins.acl.checked_request import CheckedRequest
from plugins.acl.checks import Check
from proxy.plugin import CreateAclsRequest, Decision, DeleteAclsRequest, DescribeAclsRequest, Disconnect, turns
from rules import Operation, ResourceType
from rules.bindings import Binding
from rules.values import Pattern
from rules.vocabulary import WILDCARD, PatternType, Permission

UNKNOWN, ANY, MATCH = 0, 1, 2  # Kafka's numbers that stand in no ACL; MATCH is a pattern type
Filter = DescribeAclsRequest | DeleteAclsRequest.Filter
FilterWords = tuple[int, int, int, int]  # resource type, pattern type, operation, permission


def words(of: Filter | CreateAclsRequest.Creation) -> FilterWords:
    """The numbers in a filter or an ACL."""
    if isinstance(of, CreateAclsRequest.Creation):
        return of.resource_type, of.resource_pattern_type, of.operation, of.permission_type
    return of.resource_type_filter, of.pattern_type_filter, of.operation, of.permission_type


class AclWordsCheck(Check):
    """DescribeAcls, CreateAcls and DeleteAcls: no number in them may be UNKNOWN."""

    def apply(self, checked: CheckedRequest) -> Decision:
        request = checked.request
        if isinstance(request, DescribeAclsRequest):
            said: list[Any] = [request]
        else:
            said = request.creations if isinstance(request, CreateAclsRequest) else request.filters
        unknown = any(UNKNOWN in words(each) for each in turns(said))
        return Disconnect(f"a {checked.api.name} request with an UNKNOWN in it") if unknown else None


def too_new(pattern: FilterWords) -> tuple[bool, bool]:
    """Whether the resource of a filter, and whether its rest, has a number that the proxy does not know."""
    kind, pattern_type, operation, permission = pattern
    of_resource = kind not in (ANY, *ResourceType) or pattern_type not in (ANY, MATCH, *PatternType)
    return of_resource, operation not in (ANY, *Operation) or permission not in (ANY, *Permission)


def matching(one: Filter, there: Iterable[Binding]) -> Iterator[Binding]:
    """The ACLs that a filter matches."""
    kind, _, operation, permission = words(one)
    principal, host = one.principal_filter, one.host_filter
    for binding in there:
        if (
            (principal is None or principal == binding.principal)
            and kind in (ANY, binding.kind)
            and operation in (ANY, binding.operation)
            and permission in (ANY, binding.permission)
            and (host is None or host == binding.host)
            and _about(one, binding.pattern)
        ):
            yield binding


def _about(one: Filter, pattern: Pattern) -> bool:
    name, wanted = one.resource_name_filter, one.pattern_type_filter
    if wanted not in (ANY, MATCH, pattern.type):
        return False
    if name is None or wanted != MATCH:
        return name in (None, pattern.name)
    if pattern.type is PatternType.PREFIXED:
        return name.startswith(pattern.name)
    return pattern.name in (name, WILDCARD)
