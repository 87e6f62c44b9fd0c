"""Discovery: asks one broker for all brokers of its cluster.

Rules:
* Only the list of brokers is requested: from v1 on, Metadata with an empty list of topics means no topics.
* A broker that closes the connection on ApiVersions (0.8.2) or does not answer it (0.9) is older than ApiVersions. It
  is asked again on a new connection with Metadata v0, where an empty list means all topics.
* Only the needed fields of a response are read: librdkafka's mock cluster has a byte too many after Metadata v9 and
  above.
* A broker that speaks ApiVersions and closes on Metadata wants to know first who asks (SASL).
* A broker that is named twice is where it is named first. An answer with very many brokers is not used.
* A broker that answers as this proxy itself would is a loop (`loops.py`).
* Any other failure is an `UnreachableError` with the broker's address.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import NamedTuple

import trio

from plugins.api_versions import LOOP
from proxy.core.topology import Endpoint
from proxy.net.asking import CLIENT_ID, EndedError, ask
from proxy.net.broker_stream import BrokerStream
from proxy.net.dial import DIRECTLY, ReservedError, UnreachableError, Via, dial
from proxy.net.loops import Loops
from proxy.net.tls.brokers import BrokerTls
from proxy.net.tls.sayings import TlsError
from proxy.protocol.api import METADATA
from proxy.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from proxy.protocol.messages.metadata import MetadataRequest, MetadataResponse
from proxy.protocol.problem import ProtocolError

ENDLESS = 10_000  # brokers in one answer
ELEMENTS = 3 * ENDLESS  # a broker is one, its host another, and its rack may be
SILENCE = 3.0  # seconds after which a broker that says nothing to ApiVersions is taken for 0.9

NO_TOPICS = MetadataRequest(topics=[])


class Cluster(NamedTuple):
    """What a broker says about its cluster. `cluster_id` is None before 0.10.1."""

    brokers: dict[int, Endpoint]
    cluster_id: str | None


LogInOnStream = Callable[[BrokerStream, Endpoint], Awaitable[object]]


async def nobody(stream: BrokerStream, endpoint: Endpoint) -> None:
    """The brokers want to know nobody."""


async def discover(
    endpoint: Endpoint,
    seconds: float,
    log_in: LogInOnStream = nobody,
    tls: BrokerTls | None = None,
    loops: Loops | None = None,
    via: Via = DIRECTLY,
) -> Cluster:
    """All brokers of the cluster that `endpoint` belongs to.

    `seconds`: for each step. `log_in` authenticates us. Raises UnreachableError.
    """
    version = 0
    try:
        version = await newest_metadata(endpoint, seconds, tls, loops, via)
        async with await dial(endpoint, seconds, tls, loops.check if loops else None, via) as stream:
            await log_in(stream, endpoint)
            with trio.fail_after(seconds):
                fields, mark = ("brokers", "cluster_id"), loops.mark if loops else CLIENT_ID
                answer = await ask(stream, NO_TOPICS, version, MetadataResponse, *fields, client_id=mark, most=ELEMENTS)
    except trio.TooSlowError:
        raise UnreachableError(endpoint, f"no answer to Metadata within {seconds:g} s", stalled=True) from None
    except EndedError:
        if version and log_in is nobody:
            raise ReservedError(
                endpoint,
                "closed the connection instead of answering Metadata, as brokers do that want to know who asks",
            ) from None
        raise UnreachableError(endpoint, "closed the connection instead of answering Metadata") from None
    except TlsError as error:
        raise UnreachableError(endpoint, f"no TLS: {error}") from None
    except ProtocolError as error:
        raise UnreachableError(endpoint, f"does not speak Kafka: {error}") from None
    if len(answer.brokers) > ENDLESS:
        raise UnreachableError(endpoint, f"names more than {ENDLESS:,} brokers")
    brokers: dict[int, Endpoint] = {}
    for broker in answer.brokers:
        brokers.setdefault(broker.node_id, Endpoint(broker.host, broker.port))
    if not brokers:
        raise UnreachableError(endpoint, "knows no brokers yet")
    return Cluster(brokers, answer.cluster_id)


async def newest_metadata(
    endpoint: Endpoint,
    seconds: float,
    tls: BrokerTls | None,
    loops: Loops | None,
    via: Via,
    *,
    old: bool = True,
) -> int:
    """The newest Metadata version of broker and codec. Raises UnreachableError, ProtocolError, TlsError.

    `old`: a broker that does not answer is older than ApiVersions.
    """
    mark = loops.mark if loops else CLIENT_ID
    async with await dial(endpoint, seconds, tls, loops.check if loops else None, via) as stream:
        within = min(seconds, SILENCE)
        with trio.move_on_after(within):
            try:
                answer = await ask(stream, ApiVersionsRequest(), 0, ApiVersionsResponse, client_id=mark)
            except EndedError:
                if old:
                    return 0
                raise UnreachableError(endpoint, "closed the connection instead of answering ApiVersions") from None
            if loops is not None and answer.error_code == LOOP:
                raise loops.found(endpoint)
            newest = {known.api_key: known.max_version for known in answer.api_keys}
            return min(newest.get(METADATA.key, 0), METADATA.newest)
    if old:
        return 0
    raise UnreachableError(endpoint, f"no answer to ApiVersions within {within:g} s", stalled=True)
