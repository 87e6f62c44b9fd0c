"""Bindings: ACLs as Kafka keeps them, each one principal, one host, one operation and one pattern.

Rules:
* A rule of ours stands for every combination of the values that it lists. `rules` finds a few rules that stand for
  exactly the given bindings.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any, NamedTuple

from rules.hosts import HostPattern
from rules.model import OPTION, AclRule
from rules.values import Pattern
from rules.vocabulary import WILDCARD, Operation, Permission, ResourceType

BindingResource = tuple[ResourceType, Pattern]


class Binding(NamedTuple):
    """One ACL of Kafka's."""

    kind: ResourceType
    pattern: Pattern
    principal: str
    host: str
    operation: Operation
    permission: Permission


def bindings(acl: AclRule) -> Iterator[Binding]:
    """The ACLs of Kafka that a rule stands for. A condition of ours (`acl.ours`) has no counterpart in them."""
    hosts = [host.text for host in acl.from_ or (HostPattern(WILDCARD),)]
    for (kind, pattern), principal, host, operation in product(acl.resources(), acl.principals, hosts, acl.to):
        yield Binding(kind, pattern, principal, host, operation, acl.permission)


def rules(of: Iterable[Binding]) -> list[AclRule]:
    """The rules that stand for exactly these bindings, in the order of their principals."""
    return [
        _rule(permission, principal, operations, resources, hosts)
        for (permission, principal, operations, resources), hosts in _by_hosts(_by_operations(of)).items()
    ]


BindingKind = tuple[Permission, str, frozenset[Operation], frozenset[BindingResource]]


def _by_operations(
    of: Iterable[Binding],
) -> dict[tuple[Permission, str, str, frozenset[Operation]], set[BindingResource]]:
    """Resources grouped by permission, principal, host and set of operations."""
    operations: defaultdict[tuple[Permission, str, str, BindingResource], set[Operation]] = defaultdict(set)
    for one in sorted(of, key=_order):
        operations[one.permission, one.principal, one.host, (one.kind, one.pattern)].add(one.operation)
    result: defaultdict[tuple[Permission, str, str, frozenset[Operation]], set[BindingResource]] = defaultdict(set)
    for (permission, principal, host, resource), some in operations.items():
        result[permission, principal, host, frozenset(some)].add(resource)
    return result


def _by_hosts(
    of: dict[tuple[Permission, str, str, frozenset[Operation]], set[BindingResource]],
) -> dict[BindingKind, list[str]]:
    """Hosts grouped by permission, principal, set of operations and set of resources."""
    result: defaultdict[BindingKind, list[str]] = defaultdict(list)
    for (permission, principal, host, operations), resources in of.items():
        result[permission, principal, operations, frozenset(resources)].append(host)
    return result


def _rule(
    permission: Permission,
    principal: str,
    operations: frozenset[Operation],
    resources: frozenset[BindingResource],
    hosts: list[str],
) -> AclRule:
    options: dict[str, Any] = {permission.word.lower(): (principal,), "to": tuple(sorted(operations))}
    for kind, pattern in sorted(resources):
        options[OPTION[kind]] = (*options.get(OPTION[kind], ()), pattern)
    if hosts != [WILDCARD]:
        options["from_"] = tuple(HostPattern(host) for host in hosts)
    return AclRule.model_construct(**options)


def _order(one: Binding) -> tuple[Any, ...]:
    return (one.principal, one.permission, one.kind, one.pattern.name, one.pattern.type, one.host, one.operation)
