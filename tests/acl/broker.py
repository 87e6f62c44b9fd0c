"""The side with Kafka's own authorizer: rules are ACLs, created and deleted as an administrator does it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from proxy.protocol.messages.create_acls import CreateAclsRequest
from proxy.protocol.messages.delete_acls import DeleteAclsRequest
from rules.bindings import Binding, bindings
from rules.model import AclRule
from tests.acl.nodes import Node
from tests.acl.prepare import checked
from tests.acl.side import FENCE, Side
from tests.acl.wire import Wire


class Broker(Side):
    """Kafka's own authorizer."""

    def __init__(self, node: Node) -> None:
        super().__init__("the broker", node, node.clients)
        self._in_force: dict[int, frozenset[Binding]] = {}

    def change(self, number: int, acls: Sequence[AclRule]) -> None:
        self.load({number: acls})

    def load(self, rules: Mapping[int, Sequence[AclRule]]) -> None:
        """Replace the rules of these scenarios, and wait until they are in force."""
        new = {
            number: frozenset(binding for acl in acls for binding in bindings(acl)) for number, acls in rules.items()
        }
        wanted = frozenset().union(*new.values())
        had = frozenset().union(*(self._in_force.get(number, frozenset()) for number in rules))
        self._in_force |= new
        self._fences += 1
        fence = f"{FENCE}-{self._fences}"
        may_see = AclRule.model_validate({"allow": f"User:{FENCE}", "to": "Describe", "topics": fence})
        if had - wanted:
            checked(self.trusted.ask(DeleteAclsRequest(filters=[*map(_filter, had - wanted)]), 3))
        checked(self.trusted.ask(CreateAclsRequest(creations=[*map(_creation, wanted - had)]), 3))
        checked(self.trusted.ask(CreateAclsRequest(creations=[*map(_creation, bindings(may_see))]), 3))
        with Wire(self.port, FENCE) as probe:
            self._wait(probe, fence)


def _creation(binding: Binding) -> Any:
    return CreateAclsRequest.Creation(
        resource_type=binding.kind,
        resource_name=binding.pattern.name,
        resource_pattern_type=binding.pattern.type,
        principal=binding.principal,
        host=binding.host,
        operation=binding.operation,
        permission_type=binding.permission,
    )


def _filter(binding: Binding) -> Any:
    return DeleteAclsRequest.Filter(
        resource_type_filter=binding.kind,
        resource_name_filter=binding.pattern.name,
        pattern_type_filter=binding.pattern.type,
        principal_filter=binding.principal,
        host_filter=binding.host,
        operation=binding.operation,
        permission_type=binding.permission,
    )
