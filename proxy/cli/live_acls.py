"""The ACLs of a live cluster: DescribeAcls, asked of one broker over one connection.

Rules:
* A cluster of a configuration is asked as the proxy would ask it: with the same TLS and SASL settings.
* The first broker that can be reached is asked. Its answer counts, even if it is an error.
* The newest version that both sides know is used. Before 2.0 (version 0) there are no prefixes, and every ACL is
  LITERAL.
* An ACL with an unknown enum value is an error: without that ACL, the rules would mean something else.
"""

from __future__ import annotations

from collections.abc import Sequence

import trio

from proxy.auth.identity import Identities
from proxy.config import Config
from proxy.core.topology import Endpoint
from proxy.net.asking import EndedError, ask
from proxy.net.authorities import upstream_identity
from proxy.net.broker_stream import BrokerStream
from proxy.net.dial import DIRECTLY, UnreachableError, Via, dial
from proxy.net.logins import log_in_on
from proxy.net.tls.brokers import BrokerTls
from proxy.net.tls.sayings import TlsError
from proxy.protocol.api import DESCRIBE_ACLS
from proxy.protocol.errors import ErrorCode
from proxy.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from proxy.protocol.messages.describe_acls import DescribeAclsRequest, DescribeAclsResponse
from proxy.protocol.problem import ProtocolError
from rules.bindings import Binding
from rules.values import Pattern
from rules.vocabulary import Operation, PatternType, Permission, ResourceType

ANY = 1
ELEMENTS = 10_000_000  # of an answer: four an ACL
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
ELSEWHERE = "see that a broker is there, and correct the address if not"


class LiveError(Exception):
    """A cluster that gives no ACLs. `reasons`: why each broker that was asked gave none, with a way out."""

    def __init__(self, *reasons: UnreachableError) -> None:
        super().__init__("\n".join(map(str, reasons)))
        self.reasons = reasons


def live(brokers: Sequence[Endpoint], seconds: float = SECONDS) -> list[Binding]:
    """All ACLs of these brokers' cluster, asked without TLS or SASL. `seconds`: for each step. Raises LiveError."""
    return trio.run(_first, brokers, seconds)


def live_cluster(config: Config, name: str) -> list[Binding]:
    """All ACLs of a cluster of a configuration. Raises LiveError."""
    return trio.run(_configured, config.model_copy(update={"clusters": {name: config.clusters[name]}}), name)


async def _configured(config: Config, name: str) -> list[Binding]:
    cluster = config.clusters[name]
    speaks = None if cluster.sasl is None else upstream_identity(cluster.sasl)
    tls, via = None if cluster.tls is None else BrokerTls(name, cluster.tls), cluster.detours
    brokers = [Endpoint(*address) for address in cluster.bootstrap]
    async with trio.open_nursery() as nursery:
        if speaks is not None and speaks.token is not None:
            await nursery.start(speaks.token.watch)
        identities = None if speaks is None else speaks.identities
        try:
            found: list[Binding] | LiveError = await _first(brokers, config.limits.dial, tls, identities, via)
        except LiveError as error:
            found = error
        nursery.cancel_scope.cancel()
    if isinstance(found, LiveError):
        raise found
    return found


async def _first(
    brokers: Sequence[Endpoint],
    seconds: float,
    tls: BrokerTls | None = None,
    identities: Identities | None = None,
    via: Via = DIRECTLY,
) -> list[Binding]:
    unreachable = []
    for broker in brokers:
        try:
            answer = await _asked(broker, seconds, tls, identities, via)
        except UnreachableError as error:
            unreachable.append(error)
            continue
        if answer.error_code:
            said = answer.error_message or "no reason given"
            raise LiveError(UnreachableError(broker, f"{ErrorCode(answer.error_code).name}: {said}"))
        try:
            return _bindings(answer)
        except ValueError as error:
            raise LiveError(UnreachableError(broker, f"an ACL that is newer than this program: {error}")) from None
    raise LiveError(*unreachable)


async def _asked(
    broker: Endpoint, seconds: float, tls: BrokerTls | None, identities: Identities | None, via: Via
) -> DescribeAclsResponse:
    """One broker's answer. Raises UnreachableError."""
    try:
        async with await _dialled(broker, seconds, tls, via) as stream:
            if identities is None:
                with trio.fail_after(seconds):
                    known = await ask(stream, ApiVersionsRequest(), 0, ApiVersionsResponse, "api_keys")
                newest = {api.api_key: api.max_version for api in known.api_keys}.get(DESCRIBE_ACLS.key)
            else:
                logged_in = await log_in_on(stream, broker, identities, None, seconds)
                newest = logged_in.versions.get(DESCRIBE_ACLS.key, (0, None))[1]
            if newest is None:
                raise UnreachableError(broker, "this broker has no ACLs to describe; is it older than 0.11?")
            with trio.fail_after(seconds):
                version = min(newest, DESCRIBE_ACLS.newest)
                return await ask(stream, EVERY_ACL, version, DescribeAclsResponse, most=ELEMENTS)
    except trio.TooSlowError:
        raise UnreachableError(broker, f"no answer within {seconds:g} s{_way_out(tls, identities)}") from None
    except EndedError:
        raise UnreachableError(broker, f"closed the connection{_way_out(tls, identities)}") from None
    except TlsError as error:
        raise UnreachableError(broker, f"no TLS: {error}") from None
    except ProtocolError as error:
        raise UnreachableError(broker, f"does not speak Kafka: {error}; {ELSEWHERE}") from None


async def _dialled(broker: Endpoint, seconds: float, tls: BrokerTls | None, via: Via) -> BrokerStream:
    try:
        return await dial(broker, seconds, tls, via=via)
    except UnreachableError as error:
        raise UnreachableError(broker, f"{error.why}; {ELSEWHERE}") from None


def _way_out(tls: BrokerTls | None, identities: Identities | None) -> str:
    """A hint for the case that the broker wants TLS or SASL and the question had neither."""
    if tls is None and identities is None:
        return "; where brokers want TLS or SASL, a configuration says how: --config"
    return ""


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
