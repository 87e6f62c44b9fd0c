"""Faults: those that buffer a hostile client's requests, and fault files that are replaced by invalid ones."""

from __future__ import annotations

from collections.abc import Callable

from proxy.protocol.errors import ErrorCode
from proxy.protocol.header import request_frame
from proxy.protocol.messages.produce import ProduceRequest
from proxy.protocol.records import write_batch
from tests.hostile.client import patiently
from tests.hostile.files import INSTEAD, Put, replaced
from tests.hostile.ground import Ground
from tests.hostile.requests import BEAT, metadata
from tests.hostile.settings import FAULTS, FAULTY
from tests.hostile.trial import case, cases

KEEPING = {"holds": "held", "makes late": "late", "drops the answers of": "lost", "lets drip": "slow"}


@cases({f"requests without end that a fault {what}": of for what, of in KEEPING.items()}, on=FAULTY, peak=100)
def kept(ground: Ground, of: str) -> str:
    """The proxy reads no connection beyond its limit of requests in flight, and frees its buffers when it ends."""
    frame = metadata([f"{of}-{'x' * 200}"])
    many = [ground.client() for _ in range(ground.times(10, 50))]
    taken = sum(client.push(frame * 10_000, 0.3) for client in many)
    for client in many:
        client.reset()  # a client that closes only its sending side would still get the responses
    return f"{taken >> 10} KiB were taken"


@case("a different topic, group and client in each request", on=FAULTY)
def different(ground: Ground) -> str:
    """The notes about requests that nearly matched a fault are bounded."""
    asked, client = ground.times(2_000, 50_000), ground.client()
    for number in range(asked):
        client.send(metadata([f"almost-{number}"], number, client_id=f"client-{number}"))
        client.frame()
    return f"{asked:,} requests"


@case("very many batches, each of which a fault changes", on=FAULTY, peak=400)
def batches(ground: Ground) -> str:
    """They are as small as can be."""
    count = ground.times(50_000, 700_000)
    part = ProduceRequest.Topic.Partition(index=9, records=write_batch([]) * count)
    topic = ProduceRequest.Topic(name="orders", partition_data=[part])
    said = ProduceRequest(acks=1, timeout_ms=1_000, topic_data=[topic])
    client = ground.client()
    client.sock.settimeout(60)
    client.send(request_frame(said, 9, 1, "hostile"))
    client.frame()
    return f"{count:,} batches"


@cases({f"faults replaced by {what}": put for what, put in INSTEAD.items()}, on=FAULTY)
def files(ground: Ground, put: Put) -> str:
    """The faults that were in force stay in force."""
    file = ground.folder / FAULTS
    good = file.read_text()

    def happens(name: str) -> Callable[[], bool]:
        def look() -> bool:
            with ground.client() as client:
                answered: int = client.ask(BEAT, 4).error_code
            return answered == ErrorCode[name]

        return look

    before, anew = happens("COORDINATOR_NOT_AVAILABLE"), happens("NOT_COORDINATOR")

    def holds() -> None:
        assert before(), "the fault was in force, and is not"

    def taken() -> bool:
        file.write_text(good.replace("COORDINATOR_NOT_AVAILABLE", "NOT_COORDINATOR"))
        return any(anew() for _ in patiently("it is in force"))

    replaced(ground, FAULTS, put, holds, taken)
    file.write_text(good)
    for _ in patiently("the old ones are in force"):
        if before():
            break
    return "the old ones stay in force"
