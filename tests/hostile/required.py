"""The audit journal with policy `required`: no response leaves before its event is on disk, whatever its folder is.

While the journal cannot be written, clients are cut and new ones refused, as the policy demands. Afterwards they are
served as before. From the start, its folder contains things that are not files of a journal.
"""

from __future__ import annotations

import resource
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, suppress

from tests.hostile.client import CLOSED, Client, connect, patiently
from tests.hostile.folders import away, linked, looped, replaced, size, told
from tests.hostile.ground import Ground
from tests.hostile.requests import metadata
from tests.hostile.settings import JOURNAL, REQUIRED, VICTIM
from tests.hostile.stage import brief
from tests.hostile.trial import case, cases

CLIENTS = 8
Trouble = Callable[[Ground], AbstractContextManager[None]]


def _asks(ground: Ground, client_id: str, times: int) -> int:
    """The number of requests that are answered; a new connection follows each one that ends."""
    answered = 0
    for _ in range(times):
        with suppress(OSError, EOFError), Client(connect(ground.port())) as client:
            for number in range(times):
                client.send(metadata(["orders"], number, client_id=client_id))
                client.frame()
                answered += 1
    return answered


@contextmanager
def _full(ground: Ground) -> Iterator[None]:
    """The disk is full: no file of the process may grow."""
    before = resource.prlimit(ground.proxy.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(ground.proxy.pid, resource.RLIMIT_FSIZE, (1, before[1]))
    try:
        yield
    finally:
        resource.prlimit(ground.proxy.pid, resource.RLIMIT_FSIZE, before)


TROUBLES: dict[str, Trouble] = {
    "the folder is moved away": lambda ground: away(ground.folder / JOURNAL),
    "the folder is replaced by a file": lambda ground: replaced(ground.folder / JOURNAL),
    "the folder is replaced by a link": lambda ground: linked(ground.folder / JOURNAL),
    "the folder is replaced by a link to itself": lambda ground: looped(ground.folder / JOURNAL),
    "the disk is full": _full,
}


@cases(
    {f"{what}, while clients ask": trouble for what, trouble in TROUBLES.items()}, on=REQUIRED, cut=True, crowded=True
)
def troubled(ground: Ground, trouble: Trouble) -> str:
    ground.stage.play = brief
    client_id = f"asks-{ground.number()}"
    with ThreadPoolExecutor(CLIENTS) as pool, trouble(ground):
        asking = [pool.submit(_asks, ground, client_id, ground.times(5, 30)) for _ in range(CLIENTS)]
        answered = sum(each.result() for each in asking)
        events = len(told(ground.folder, b'"kind":"request"', f'"client_id":"{client_id}"'.encode()))
        assert events >= answered, f"{answered} answers left, {events} events are on disk"
    for _ in patiently("clients are served again", 30):
        if _asks(ground, client_id, 1):
            break
    return f"{answered} answers meanwhile, {events} events"


@case("links, pipes and folders lie there as if they were segments", on=REQUIRED)
def strange(ground: Ground) -> str:
    """The proxy sealed the one regular file when it started, and left the other entries alone."""
    ground.stage.play = brief
    answered = _asks(ground, "beside-strange", 5)
    assert answered, "nobody is served"
    assert (ground.folder / VICTIM).read_text() == VICTIM, "it wrote through a link"
    assert len(list((ground.folder / JOURNAL).rglob("_*.seal"))) >= 1, "the one that is a file was not sealed"
    return f"{answered} answers"


@case("connections that end before a link exists", on=REQUIRED, log=128)
def unserved(ground: Ground) -> str:
    """The broker is down. A flood of connections becomes few events, and clients of other brokers are served."""
    journal = ground.folder / JOURNAL
    before, many = size(journal), ground.times(300, 3_000)
    ground.stage.die()
    for _ in range(many):
        with suppress(*CLOSED, TimeoutError, ConnectionRefusedError), Client(connect(ground.port())) as client:
            client.receive()
    grown = size(journal) - before
    assert grown < many * 500, f"{grown >> 10} KiB were written"
    return f"{many} connections: {grown >> 10} KiB"
