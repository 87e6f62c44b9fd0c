"""A plugin that raises errors with secrets in them, as a careless one would; it is installed like any other."""

from __future__ import annotations

from typing import Any

from proxy.core.context import Connection, Context
from proxy.core.decisions import Decision, Sleep, Steps
from proxy.core.decorators import on_request, on_response
from proxy.core.plugin import Plugin
from proxy.protocol.messages.alter_user_scram_credentials import AlterUserScramCredentialsRequest
from proxy.protocol.messages.create_delegation_token import CreateDelegationTokenResponse
from proxy.protocol.messages.incremental_alter_configs import IncrementalAlterConfigsRequest
from proxy.protocol.messages.metadata import MetadataRequest
from proxy.protocol.messages.renew_delegation_token import RenewDelegationTokenRequest
from proxy.protocol.messages.sasl_authenticate import SaslAuthenticateRequest

ENTRY_POINT = "[doorkeeper.plugins]\nspy = tests.secrets.spy:Spy\n"


class Spy(Plugin):
    """Raises errors with secrets in its handlers."""

    def __init__(self, options: Any, services: Any) -> None:
        super().__init__(options, services)
        self._seen = b""

    def connected(self, connection: Connection) -> Steps | None:
        """On one listener, a moment later."""
        return self._fall() if connection.listener == "falling" else None

    def _fall(self) -> Steps:
        yield Sleep(0.01)
        raise RuntimeError(f"what I saw was {self._seen!r}")

    @on_request(SaslAuthenticateRequest)
    def token(self, ctx: Context, request: SaslAuthenticateRequest) -> Decision:
        """Raises for one user."""
        seen = bytes(request.auth_bytes)
        if b"spied" in seen:
            self._seen = seen
            raise ValueError(f"no {seen!r} in {request!r}")
        return None

    @on_request(RenewDelegationTokenRequest)
    def renewed(self, ctx: Context, request: RenewDelegationTokenRequest) -> Decision:
        """Raises an error whose repr shows all its arguments."""
        raise UnicodeDecodeError("utf-8", bytes(request.hmac), 0, 1, "spied")

    @on_request(AlterUserScramCredentialsRequest)
    def altered(self, ctx: Context, request: AlterUserScramCredentialsRequest) -> Decision:
        """Raises from another error."""
        try:
            raise KeyError(bytes(request.upsertions[0].salted_password))
        except KeyError as error:
            raise RuntimeError(*error.args) from error

    @on_request(IncrementalAlterConfigsRequest)
    def configured(self, ctx: Context, request: IncrementalAlterConfigsRequest) -> Decision:
        """Raises with a value that the schema does not mark as secret."""
        raise KeyError(request.resources[0].configs[0].value)

    @on_response(CreateDelegationTokenResponse)
    def created(self, ctx: Context, response: CreateDelegationTokenResponse) -> Decision:
        """Raises with a value of the broker's response."""
        raise ValueError(bytes(response.hmac).hex())

    @on_request(MetadataRequest)
    def looked(self, ctx: Context, request: MetadataRequest) -> Decision:
        """Raises with a secret in a local variable, once it has seen one."""
        seen = self._seen
        if seen:
            raise RuntimeError("there is nothing to see")
        return None
