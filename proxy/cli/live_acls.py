"""The ACLs of a live cluster: DescribeAcls, asked of one broker over one connection.

# The newest version that both know is spoken. Before 2.0 (version 0) there are no prefixes, and every ACL is LITERAL.
# An ACL with a word that we do not know is an error: without it, the rules would say something else.
"""

import socket
from typing import TypeVar

from proxy.core.topology import Endpoint
from proxy.protocol.api import DESCRIBE_ACLS
from proxy.protocol.codec import decode
from proxy.protocol.errors import ErrorCode
from proxy.protocol.header import SIZE, read_response_header, request_frame
from proxy.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from proxy.protocol.messages.describe_acls import DescribeAclsRequest, DescribeAclsResponse
from proxy.protocol.problem import ProtocolError
from proxy.protocol.schema import Request, Response
from rules.bindings import Binding
from rules.values import Pattern
from rules.vocabulary import Operation, PatternType, Permission, ResourceType

ANY = 1
EVERY_ACL = DescribeAclsRequest(
    resource_type_filter=ANY,
    resource_name_filter=None,
    pattern_type_filter=ANY,
    principal_filter=None,
    host_filter=None,
    operation=ANY,
    permission_type=ANY,
)
SECONDS = 30.0
LARGEST = 100 << 20
R = TypeVar("R", bound=Response)


class LiveError(Exception):
    """A cluster that gives no ACLs: where, and why."""


def live(broker: Endpoint, seconds: float = SECONDS) -> list[Binding]:
    """All ACLs of the cluster that a broker belongs to. `seconds`: for each step. Raises LiveError."""
    try:
        with socket.create_connection(broker, timeout=seconds) as connection:
            versions = _asked(connection, ApiVersionsRequest(), 0, ApiVersionsResponse)
            newest = {known.api_key: known.max_version for known in versions.api_keys}.get(DESCRIBE_ACLS.key)
            if newest is None:
                raise LiveError(f"{broker}: this broker has no ACLs to describe; is it older than 0.11?")
            version = min(newest, DESCRIBE_ACLS.newest)
            answer = _asked(connection, EVERY_ACL, version, DescribeAclsResponse)
    except TimeoutError:
        raise LiveError(f"{broker}: no answer within {seconds:g} s; does it want TLS or SASL of clients?") from None
    except EOFError:
        raise LiveError(f"{broker}: closed the connection; does it want TLS or SASL of clients?") from None
    except OSError as error:
        raise LiveError(f"{broker}: {(error.strerror or str(error)).lower()}; check the address") from None
    except ProtocolError as error:
        raise LiveError(f"{broker}: does not speak Kafka: {error}") from None
    if answer.error_code:
        said = answer.error_message or "no reason given"
        raise LiveError(f"{broker}: {ErrorCode(answer.error_code).name}: {said}")
    try:
        return list(_bindings(answer))
    except ValueError as error:
        raise LiveError(f"{broker}: an ACL that is newer than this program: {error}") from None


def _bindings(answer: DescribeAclsResponse) -> list[Binding]:
    return [
        Binding(
            ResourceType(resource.resource_type),
            Pattern(PatternType(resource.pattern_type), resource.resource_name),
            acl.principal,
            acl.host,
            Operation(acl.operation),
            Permission(acl.permission_type),
        )
        for resource in answer.resources
        for acl in resource.acls
    ]


def _asked(connection: socket.socket, request: Request, version: int, expected: type[R]) -> R:
    connection.sendall(request_frame(request, version, correlation_id=0, client_id="doorkeeper"))
    (size,) = SIZE.unpack(_exactly(connection, SIZE.size))
    if not 0 <= size <= LARGEST:
        raise ProtocolError(f"a response cannot have {size} bytes")
    frame = _exactly(connection, size)
    _, body = read_response_header(request.api, version, frame)
    return decode(expected, version, frame[body:])


def _exactly(connection: socket.socket, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        chunk = connection.recv(min(size - len(data), 1 << 20))
        if not chunk:
            raise EOFError
        data += chunk
    return bytes(data)
