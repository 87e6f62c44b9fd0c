"""The audit journal: how much a client can make it write, and folders that go away while it is written.

Whatever happens to the journal's folder, clients are served (the policy is `best_effort`).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from proxy.protocol.frame import SIZE
from proxy.protocol.header import request_frame
from proxy.protocol.messages.list_offsets import ListOffsetsRequest
from tests.hostile.client import Client, connect, patiently
from tests.hostile.folders import away, emptied, replaced, size, told
from tests.hostile.ground import Ground
from tests.hostile.requests import beat, metadata, produce
from tests.hostile.settings import AUDITED, JOURNAL
from tests.hostile.stage import brief, silent
from tests.hostile.trial import case, cases

SLOWEST = 60.0  # seconds for large requests
ENOUGH = 100  # pairs of requests of the canary, of which the slowest is told

LONG: dict[str, Callable[[int], bytes]] = {
    "client ids of 30,000 bytes": lambda n: metadata([], client_id=f"{n:06}".ljust(30_000, "x")),
    "names of topics of 30,000 bytes": lambda n: metadata([f"{n:06}".ljust(30_000, "x")]),
    "300 names of topics in each request": lambda n: produce([f"{n:06}-{m}" for m in range(300)]),
}


@cases(LONG, on=AUDITED)
def long_texts(ground: Ground, of: Callable[[int], bytes]) -> str:
    """Events take no more space than the requests that they record."""
    ground.stage.play = brief
    journal = ground.folder / JOURNAL
    before, asked, sent = size(journal), ground.times(100, 3_000), 0
    for number in range(asked):
        with Client(connect(ground.port())) as client:
            request = of(number)
            client.send(request)
            client.frame()
            sent += len(request)
    grown = size(journal) - before
    assert grown < sent, f"{grown >> 10} KiB were written of {sent >> 10} KiB of requests"
    return f"{asked} requests of {sent >> 10} KiB: {grown >> 10} KiB"


@case("connections that come and go", on=AUDITED, crowded=True)
def storm(ground: Ground) -> str:
    """Each connection is two events, of less than 1,000 bytes together; those over the limit are counted together."""
    (before, bytes_before), many = _of_connections(ground), ground.times(500, 5_000)
    for _ in range(many):
        Client(connect(ground.port())).reset()
    for _ in patiently("each connection is told of"):
        came, told_bytes = _of_connections(ground)
        if came - before >= many:
            break
    grown = told_bytes - bytes_before
    assert grown < many * 1_000, f"{grown >> 10} KiB were told"
    return f"{many} connections: {came - before} were told of, {grown >> 10} KiB before compression"


def _of_connections(ground: Ground) -> tuple[int, int]:
    """The number of connections that events tell of as over, and the bytes of all events about connections."""
    lines = told(ground.folder / JOURNAL, b'"kind":"connection_')
    events = map(json.loads, lines)
    over = [
        event.get("connections", 1) for event in events if event["kind"] in ("connection_closed", "connection_failed")
    ]
    return sum(over), sum(map(len, lines))


GONE: dict[str, Callable[[Path], AbstractContextManager[None]]] = {
    "is moved away": away,
    "is replaced by a file": replaced,
    "is emptied": emptied,
}


@cases({f"the folder {what}": gone for what, gone in GONE.items()}, on=AUDITED)
def without_folder(ground: Ground, gone: Callable[[Path], AbstractContextManager[None]]) -> str:
    """Clients are served meanwhile."""
    asked = ground.times(200, 2_000)
    with gone(ground.folder / JOURNAL):
        for _ in range(asked):
            with Client(connect(ground.port())) as client:
                client.send(beat())
                client.frame()
    return f"{asked} requests were answered"


@case("a reset behind requests of 400 topics each that have no answer", on=AUDITED, peak=220)
def unanswered(ground: Ground) -> str:
    """All of them end at that moment. Each has its event, and clients are served meanwhile."""
    ground.stage.play, many = silent, ground.times(300, 600)
    partition = ListOffsetsRequest.Topic.Partition(partition_index=0, timestamp=-1)
    topics = [ListOffsetsRequest.Topic(name=f"open-{n}", partitions=[partition]) for n in range(400)]
    request = request_frame(ListOffsetsRequest(replica_id=-1, topics=topics), 6, 1, "hostile")
    before = len(_of_offsets(ground))
    _asking(ground, request, 1).reset()
    for _ in patiently("the journal is written, whatever the case before did", SLOWEST):
        if len(_of_offsets(ground)) > before:
            break
    client = _asking(ground, request, many)
    ground.canary(0)
    client.reset()
    flown = ground.canary(ENOUGH)
    for _ in patiently("each request is told of", SLOWEST):
        if len(_of_offsets(ground)) > before + many:
            break
    worst = flown["stay"]["worst"] - flown["straight"]["worst"]
    return f"{many} events, and the canary waited for {worst:.3f} s"


def _asking(ground: Ground, request: bytes, many: int) -> Client:
    """A client whose requests have all come to the broker."""
    client, came = ground.client(), request[SIZE.size :]  # the proxy asks the broker too, from time to time
    before = ground.stage.asked.count(came)
    client.push(request * many, SLOWEST)
    for _ in patiently("the broker has them all", SLOWEST):
        if ground.stage.asked.count(came) >= before + many:
            break
    return client


def _of_offsets(ground: Ground) -> list[bytes]:
    return told(ground.folder / JOURNAL, b'"api":"ListOffsets"')
