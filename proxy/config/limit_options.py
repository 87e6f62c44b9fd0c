"""The options under `limits`: what one worker lets through before it says no. Every limit is on."""

from typing import Annotated

from pydantic import Field, Strict

from proxy.core.topology import MOST
from proxy.text.file import Section
from proxy.text.quantities import Seconds, Size, at_least

AtLeastOne = Annotated[int, Strict(), Field(ge=1)]
Patience = Annotated[Seconds, at_least("100ms")]  # with less no client works, and a unit is probably wrong
LEAST_FRAME, LEAST_MEMORY = 1 << 10, 1 << 20  # bytes, for the same reason
LEAST_ELEMENTS = 1_000


class LimitOptions(Section):
    """What one worker lets through before it says no; every limit is on."""

    frame: Size = Field(
        default=100 << 20,
        ge=LEAST_FRAME,
        description="The largest request or response; a larger one closes its connection. Kafka's own: 100 MiB.",
        examples=["100 MiB"],
    )
    connections: AtLeastOne = Field(
        default=10_000,
        description="Client connections at a time in each worker; one more is closed at once.",
        examples=[10000],
    )
    brokers: AtLeastOne = Field(
        default=MOST,
        description="Brokers of one cluster; one more gets no port, and clients are told nobody's address for it.",
        examples=[1000],
    )
    in_flight: AtLeastOne = Field(
        default=1_000,
        description="Unanswered requests on one connection; a client with more is not read until answers come.",
        examples=[1000],
    )
    elements: Annotated[int, Strict(), Field(ge=LEAST_ELEMENTS)] = Field(
        default=300_000,
        description="Elements of all arrays in one request that the proxy has to read; one with more closes its"
        " connection. A sixth of them, and always 50,000, may be something else than partitions, such as topics."
        " Eight numbers that a request does not ask about, such as replicas, count as one."
        " A response may have twice as many of both kinds together:"
        " Metadata of 10,000 topics with 200,000 partitions has 360,000.",
        examples=[300000],
    )
    memory: Annotated[Size, Field(ge=LEAST_MEMORY)] | None = Field(
        default=None,
        description="Bytes that the connections of each worker may hold together; those that hold most are not read,"
        " and then closed. Without it a quarter of the machine's memory, shared among the workers, 1 GiB each at most.",
        examples=["1 GiB"],
    )
    first_frame: Patience = Field(
        default=30.0,
        description="The time a new connection has until its first whole request.",
        examples=["30s"],
    )
    frame_time: Patience = Field(
        default=30.0,
        description="How far behind 64 KiB a second a request or response may fall that began.",
        examples=["30s"],
    )
    take_time: Patience = Field(
        default=600.0,
        description="How far behind 64 KiB a second a client may fall in taking its answers, a broker its requests."
        " Consumers that do not poll for a while take nothing meanwhile.",
        examples=["10m"],
    )
    handshake: Patience = Field(
        default=10.0,
        description="The time a client has for the handshake of TLS.",
        examples=["10s"],
    )
    handshakes: AtLeastOne = Field(
        default=1_000,
        description="Handshakes of TLS at a time in each worker; one more is closed at once.",
        examples=[1000],
    )
    idle: Patience = Field(
        default=600.0,
        description="The time a connection may pass nothing in either direction. Kafka's own: 10m.",
        examples=["10m"],
    )
    dial: Patience = Field(
        default=10.0,
        description="The time a broker has to accept a connection.",
        examples=["10s"],
    )
    drain: Seconds = Field(
        default=30.0,
        description="The time requests in flight have to be answered when the proxy is told to stop.",
        examples=["30s"],
    )
