"""Requests about ACLs to a proxy that keeps them: a link with only this plugin, which runs its thread work at once.

The broker sees nothing of ACLs. It answers the proxy's question whether it serves the client.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from plugins.acl import Acl
from plugins.acl.acl_filters import ANY
from proxy.core.commands import Close, Command, Emit, Perform, ToBroker, ToClient, Wake
from proxy.core.events import Event
from proxy.core.filters import Filters
from proxy.core.link import Link
from proxy.protocol.api import METADATA
from proxy.protocol.codec import decode
from proxy.protocol.header import SIZE, read_request_header, read_response_header, request_frame, response_frame
from proxy.protocol.messages.create_acls import CreateAclsRequest
from proxy.protocol.messages.delete_acls import DeleteAclsRequest
from proxy.protocol.messages.describe_acls import DescribeAclsRequest
from proxy.protocol.messages.metadata import MetadataRequest, MetadataResponse
from proxy.protocol.schema import Request, Response
from proxy.testing import build, connection

NEWEST = 3
CLOSED = None


class Keeper:
    """A proxy that keeps ACLs in a file, and one of its clients."""

    def __init__(
        self, file: Path, *, shadow: bool = False, principal: str | None = "User:admin", serves: bool = True
    ) -> None:
        acl = build(Acl, rules=str(file), managed=True, shadow=shadow)
        self.rules = acl.rules
        self.events: list[Event] = []
        self.apart: list[str] = []  # what was computed apart, for each call in a thread
        self._filters = Filters([acl])
        self._principal = principal
        self._serves = serves  # otherwise the broker closes, as for a client that has not authenticated

    def ask(self, request: Request, version: int = NEWEST) -> Response | None:
        """Send a request and give its response; None where the connection is closed instead."""
        client = connection()
        client.principal = self._principal
        link = Link(client, self._filters)
        link.begin()
        commands = list(link.receive_client(memoryview(request_frame(request, version, 1, "test"))) or ())
        sent = b""
        while commands:
            command: Any = commands.pop(0)
            if isinstance(command, ToBroker):
                commands += self._broker(link, bytes(command.data))
            elif isinstance(command, Close):
                return CLOSED
            elif isinstance(command, ToClient):
                sent += bytes(command.data)
            elif isinstance(command, Emit):
                self.events.append(command.event)
            elif isinstance(command, Wake):
                commands += link.wake(command.token) or []
            elif isinstance(command, Perform):
                self.apart.append(command.apart)
                try:
                    commands += link.performed(command.token, command.work())
                except Exception as error:
                    commands += link.performed(command.token, None, error)
        _, offset = read_response_header(request.api, version, sent[SIZE.size :])
        answer: Response = decode(request.api.response, version, sent[SIZE.size + offset :])
        return answer

    def _broker(self, link: Link, frame: bytes) -> list[Command]:
        """The broker answers what it is asked, or closes."""
        header, body = read_request_header(frame[SIZE.size :])
        asked = header.request_api_key, header.request_api_version
        assert asked == (METADATA.key, 4), "brokers see nothing of ACLs, and all that have ACLs know this version"
        assert decode(MetadataRequest, 4, frame[SIZE.size + body :]).topics == []
        if not self._serves:
            return link.broker_closed()
        said = response_frame(MetadataResponse(brokers=[], topics=[]), 4, header.correlation_id)
        return link.receive_broker(memoryview(said)) or []


def creation(
    kind: int = 2, name: str = "t", pattern: int = 3, who: str = "User:a", host: str = "*", to: int = 3, allow: int = 3
) -> CreateAclsRequest.Creation:
    """An ACL to create: `to` is its operation, `allow` its permission."""
    return CreateAclsRequest.Creation(
        resource_type=kind,
        resource_name=name,
        resource_pattern_type=pattern,
        principal=who,
        host=host,
        operation=to,
        permission_type=allow,
    )


def create(*creations: CreateAclsRequest.Creation) -> CreateAclsRequest:
    return CreateAclsRequest(creations=list(creations))


def said(
    kind: int = ANY,
    name: str | None = None,
    pattern: int = ANY,
    who: str | None = None,
    host: str | None = None,
    to: int = ANY,
    allow: int = ANY,
) -> dict[str, Any]:
    """The fields of a filter."""
    return {
        "resource_type_filter": kind,
        "resource_name_filter": name,
        "pattern_type_filter": pattern,
        "principal_filter": who,
        "host_filter": host,
        "operation": to,
        "permission_type": allow,
    }


def describe(**filters: Any) -> DescribeAclsRequest:
    return DescribeAclsRequest(**said(**filters))


def delete(*filters: dict[str, Any]) -> DeleteAclsRequest:
    return DeleteAclsRequest(filters=[DeleteAclsRequest.Filter(**said(**each)) for each in filters])
