"""The audit journal where it is required: no answer leaves whose event is not on disk, whatever becomes of the folder.

While it cannot be written, clients are cut and new ones refused: that is what its owner asked for. Afterwards they are
served as before. In its folder lies, from the start, what is no file of a journal.
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
    """How many requests are answered, on a new connection each time that one ends."""
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
    """No file of the process may grow."""
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
    """They were there when the proxy started, and sealed what others had left."""
    ground.stage.play = brief
    answered = _asks(ground, "beside-strange", 5)
    assert answered, "nobody is served"
    assert (ground.folder / VICTIM).read_text() == VICTIM, "it wrote through a link"
    assert len(list((ground.folder / JOURNAL).rglob("_*.seal"))) >= 1, "the one that is a file was not sealed"
    return f"{answered} answers"


@case("connections that end before a link exists", on=REQUIRED, log=128)
def unserved(ground: Ground) -> str:
    """Their broker is gone. Each is an event, and a flood of them few; clients of other brokers do not notice."""
    journal = ground.folder / JOURNAL
    before, many = size(journal), ground.times(300, 3_000)
    ground.stage.die()
    for _ in range(many):
        with suppress(*CLOSED, TimeoutError, ConnectionRefusedError), Client(connect(ground.port())) as client:
            client.receive()
    grown = size(journal) - before
    assert grown < many * 500, f"{grown >> 10} KiB were written"
    return f"{many} connections: {grown >> 10} KiB"
