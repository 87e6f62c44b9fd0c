"""Faults on SASL and ApiVersions before authentication, where the broker is the authority."""

from pathlib import Path

import pytest

from plugins.api_versions import ApiVersions
from plugins.sasl_inspected import SaslInspected
from proxy.core.commands import Close, Emit, PauseClient, ToBroker, ToClient
from proxy.core.events import Refused
from proxy.protocol.errors import ErrorCode
from proxy.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from proxy.testing import ANY, FromBroker, FromClient, Playbook, build
from tests.plugins.faults.talking import FaultFile
from tests.plugins.sasl import agreed, authenticate, handshake, known, no, yes
from tests.proxy.core.frames import answering, asking, heartbeat


def book(folder: Path, fault: str) -> Playbook:
    """A client of a listener whose brokers authenticate, with this fault."""
    return Playbook(build(SaslInspected), FaultFile(folder, f"faults: [{fault}]").plugin, build(ApiVersions))


def test_a_mechanism_is_refused(tmp_path: Path) -> None:
    fault = "{match: {api: SaslHandshake}, do: {error: UNSUPPORTED_SASL_MECHANISM}}"
    refused = agreed(1, ErrorCode.UNSUPPORTED_SASL_MECHANISM, mechanisms=())
    assert book(tmp_path, fault) >> FromClient(handshake(1)) << ToClient(refused)


@pytest.mark.parametrize("side", ["before_broker", "after_broker"])
def test_a_login_fails_that_was_right_and_nobody_is_taken_for_alice(tmp_path: Path, side: str) -> None:
    fault = f"{{match: {{api: SaslAuthenticate}}, do: {{error: {{code: SASL_AUTHENTICATION_FAILED, side: {side}}}}}}}"
    talk = (
        book(tmp_path, fault)
        >> FromClient(handshake(1))
        << ToBroker(handshake(1))
        >> FromBroker(agreed(1))
        << ToClient(agreed(1))
        >> FromClient(authenticate(2))
    )
    if side == "after_broker":
        talk = talk << ToBroker(authenticate(2)) >> FromBroker(yes(2))
    talk = talk << ToClient(no(2, None)) << Emit(Refused("PLAIN", "the broker did not take it", "User:alice"))
    assert talk
    assert talk.connection.principal is None


def test_a_login_that_is_not_meant_is_good(tmp_path: Path) -> None:
    assert (
        book(tmp_path, "{match: {api: SaslAuthenticate, client_id: somebody-else}, do: {disconnect: before_broker}}")
        >> FromClient(handshake(1))
        << ToBroker(handshake(1))
        >> FromBroker(agreed(1))
        << ToClient(agreed(1))
        >> FromClient(authenticate(2))
        << ToBroker(authenticate(2))
        >> FromBroker(yes(2))
        << ToClient(yes(2))
        << known("PLAIN", "User:alice")
        >> FromClient(heartbeat(3))
        << ToBroker(heartbeat(3))
    )


def test_a_client_is_cut_off_before_it_is_anybody(tmp_path: Path) -> None:
    fault = "{match: {api: SaslAuthenticate}, do: {disconnect: before_broker}}"
    assert (
        book(tmp_path, fault)
        >> FromClient(handshake(1))
        << ToBroker(handshake(1))
        >> FromBroker(agreed(1))
        << ToClient(agreed(1))
        >> FromClient(authenticate(2))
        << PauseClient()
        << Close(ANY)
    )


def test_the_broker_does_not_know_the_version_of_api_versions(tmp_path: Path) -> None:
    """As brokers do, it says so in version 0 (KIP-511)."""
    fault = "{match: {api: ApiVersions, version: 3-4}, do: {error: UNSUPPORTED_VERSION}}"
    own = ApiVersionsResponse.ApiVersion(api_key=18, min_version=0, max_version=5)
    told = ApiVersionsResponse(error_code=ErrorCode.UNSUPPORTED_VERSION, api_keys=[own])
    asked = ApiVersionsRequest(client_software_name="app", client_software_version="1")
    assert book(tmp_path, fault) >> FromClient(asking(asked, 1, 3)) << ToClient(answering(told, 1, 0))
