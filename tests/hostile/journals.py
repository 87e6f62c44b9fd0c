"""The audit journal: what a client can make it write, and folders that go away while it is written.

Whatever becomes of the journal's folder: clients are served (the policy is `best_effort`).
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from tests.hostile.client import Client, connect
from tests.hostile.ground import Ground
from tests.hostile.requests import beat, metadata, produce
from tests.hostile.settings import AUDITED, JOURNAL
from tests.hostile.stage import brief
from tests.hostile.trial import case, cases


def _size(ground: Ground) -> int:
    """Bytes of all segments."""
    return sum(file.stat().st_size for file in (ground.folder / JOURNAL).rglob("*.zst"))


LONG: dict[str, Callable[[int], bytes]] = {
    "client ids of 30,000 bytes": lambda n: metadata([], client_id=f"{n:06}".ljust(30_000, "x")),
    "names of topics of 30,000 bytes": lambda n: metadata([f"{n:06}".ljust(30_000, "x")]),
    "300 names of topics in each request": lambda n: produce([f"{n:06}-{m}" for m in range(300)]),
}


@cases(LONG, on=AUDITED)
def long_texts(ground: Ground, of: Callable[[int], bytes]) -> str:
    """An event takes no more room than the request did that it tells of."""
    ground.stage.play = brief
    before, asked, sent = _size(ground), ground.times(300, 3_000), 0
    for number in range(asked):
        with Client(connect(ground.port())) as client:
            request = of(number)
            client.send(request)
            client.frame()
            sent += len(request)
    grown = _size(ground) - before
    assert grown < sent, f"{grown >> 10} KiB were written of {sent >> 10} KiB of requests"
    return f"{asked} requests of {sent >> 10} KiB: {grown >> 10} KiB"


@case("connections that come and go", on=AUDITED)
def storm(ground: Ground) -> str:
    """Each is two events."""
    before, many = _size(ground), ground.times(500, 5_000)
    for _ in range(many):
        Client(connect(ground.port())).reset()
    grown = _size(ground) - before
    assert grown < many * 500, f"{grown >> 10} KiB were written"
    return f"{many} connections: {grown >> 10} KiB"


def _away(folder: Path) -> None:
    folder.rename(folder.with_name("elsewhere"))


def _replaced(folder: Path) -> None:
    _away(folder)
    folder.write_text("no folder")


def _emptied(folder: Path) -> None:
    for hour in folder.glob("date=*"):
        shutil.rmtree(hour)


GONE: dict[str, Callable[[Path], None]] = {
    "is moved away": _away,
    "is replaced by a file": _replaced,
    "is emptied": _emptied,
}


@cases({f"the folder {what}": put for what, put in GONE.items()}, on=AUDITED)
def gone(ground: Ground, put: Callable[[Path], None]) -> str:
    """Clients are served meanwhile."""
    folder, served = ground.folder / JOURNAL, 0
    put(folder)
    try:
        for _ in range(ground.times(200, 2_000)):
            with Client(connect(ground.port())) as client:
                client.send(beat())
                served += bool(client.frame())
    finally:
        if (away := folder.with_name("elsewhere")).exists():
            folder.unlink(missing_ok=True) if not folder.is_dir() else shutil.rmtree(folder)
            away.rename(folder)
    return f"{served} requests were answered"
