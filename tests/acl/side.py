"""One of the two compared sides: its port for clients, and its administration.

Rules:
* A change is in force when the cluster shows it, and never because time passed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from proxy.protocol.errors import ErrorCode
from proxy.protocol.messages.metadata import MetadataRequest, MetadataResponse
from proxy.protocol.wire import NO_UUID
from rules.model import AclRule
from tests.acl.ids import Ids
from tests.acl.names import SUPER_USER
from tests.acl.nodes import Node
from tests.acl.prepare import until
from tests.acl.wire import Wire

FENCE = "fence"  # a user whose rights show that all earlier changes are in force


class Side:
    """One of the two compared sides: its port for clients, and its administration."""

    def __init__(self, name: str, node: Node, port: int) -> None:
        self.name, self.node, self.port = name, node, port
        self.trusted = Wire(node.trusted)
        self.ids = Ids(self.trusted)
        self.admin = Wire(port, SUPER_USER)
        self._fences = 0

    def close(self) -> None:
        self.trusted.close()
        self.admin.close()

    def change(self, number: int, acls: Sequence[AclRule]) -> None:
        """Put other rules in force for a scenario."""
        raise NotImplementedError

    def _wait(self, probe: Wire, fence: str) -> None:
        """Wait until the fence's user sees that its new topic is missing, and no longer that it is forbidden."""
        topic = MetadataRequest.Topic(name=fence, topic_id=NO_UUID)
        request = MetadataRequest(topics=[topic], allow_auto_topic_creation=False)

        def in_force() -> bool:
            (told,) = cast(MetadataResponse, probe.ask(request, 12)).topics
            return told.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION

        until(in_force, f"{self.name}: the rules")
