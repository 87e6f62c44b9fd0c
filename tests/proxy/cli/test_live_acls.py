"""The ACLs of a live cluster, from a scripted broker; `test_acls_real` has a real one."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from proxy.cli.live_acls import ELSEWHERE, LiveError, live
from proxy.core.topology import Endpoint
from proxy.protocol.codec import encode
from proxy.protocol.header import SIZE
from proxy.protocol.messages.api_versions import ApiVersionsResponse
from proxy.protocol.messages.describe_acls import DescribeAclsResponse
from proxy.protocol.schema import Response
from rules.bindings import Binding
from rules.values import Pattern
from rules.vocabulary import Operation, PatternType, Permission, ResourceType

CLOSED = "closed the connection; where brokers want TLS or SASL, a configuration says how: --config"
CORRELATION_ID = bytes(4)
TAGS = b"\0"


def frame(body: bytes) -> bytes:
    return SIZE.pack(len(body)) + body


def versions(newest: int) -> bytes:
    known = ApiVersionsResponse.ApiVersion(api_key=29, min_version=0, max_version=newest)
    answer = ApiVersionsResponse(error_code=0, api_keys=[known])
    return frame(CORRELATION_ID + encode(answer, 0))


def acls(answer: Response, version: int) -> bytes:
    return frame(CORRELATION_ID + (TAGS if version >= 2 else b"") + encode(answer, version))


def described(operation: int = 3, pattern_type: int = 4) -> DescribeAclsResponse:
    resource = DescribeAclsResponse.Resource
    acl = resource.Acl(principal="User:a", host="*", operation=operation, permission_type=3)
    found = resource(resource_type=2, resource_name="t", pattern_type=pattern_type, acls=[acl])
    return DescribeAclsResponse(throttle_time_ms=0, error_code=0, error_message=None, resources=[found])


@contextmanager
def broker(*answers: bytes) -> Iterator[Endpoint]:
    """A broker that gives one answer to each request, and closes when it has none left."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                for answer in answers:
                    connection.recv(1 << 16)
                    connection.sendall(answer)
                if len(answers) < 2:
                    connection.recv(1 << 16)

        thread = threading.Thread(target=serve)
        thread.start()
        yield Endpoint("127.0.0.1", listener.getsockname()[1])
        thread.join()


@pytest.mark.parametrize(("newest", "spoken"), [(0, 0), (1, 1), (3, 3), (9, 3)])
def test_the_newest_version_that_both_know_is_spoken(newest: int, spoken: int) -> None:
    with broker(versions(newest), acls(described(), spoken)) as endpoint:
        (found,) = live([endpoint])
    pattern_type = PatternType.PREFIXED if spoken else PatternType.LITERAL
    pattern = Pattern(pattern_type, "t")
    assert found == Binding(ResourceType.TOPIC, pattern, "User:a", "*", Operation.READ, Permission.ALLOW)


def refused(*answers: bytes) -> str:
    with broker(*answers) as endpoint, pytest.raises(LiveError) as error:
        live([endpoint], seconds=5)
    (reason,) = error.value.reasons
    assert reason.endpoint == endpoint
    return reason.why


def test_a_broker_that_says_no_is_quoted() -> None:
    answer = DescribeAclsResponse(
        throttle_time_ms=0, error_code=54, error_message="No Authorizer is configured.", resources=[]
    )
    assert refused(versions(3), acls(answer, 3)) == "SECURITY_DISABLED: No Authorizer is configured."


def test_a_broker_that_closes_may_want_more_of_its_clients() -> None:
    assert refused(versions(3)) == CLOSED
    assert refused() == CLOSED


def test_an_acl_that_is_not_understood_is_an_error() -> None:
    assert refused(versions(3), acls(described(operation=99), 3)) == (
        "an ACL that is newer than this program: 99 is not a valid Operation"
    )


def test_what_is_no_answer_is_an_error() -> None:
    assert "does not speak Kafka" in refused(frame(b"HTTP/1.1"))
    assert "does not speak Kafka" in refused(SIZE.pack(-1))


def test_a_broker_older_than_acls_has_none_to_describe() -> None:
    none = frame(CORRELATION_ID + encode(ApiVersionsResponse(error_code=0, api_keys=[]), 0))
    assert refused(none) == "this broker has no ACLs to describe; is it older than 0.11?"


def test_a_broker_that_is_not_there_is_an_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        endpoint = Endpoint("127.0.0.1", listener.getsockname()[1])
    with pytest.raises(LiveError, match=f"^{endpoint}: connection refused; {ELSEWHERE}$"):
        live([endpoint])
