"""Reloads: SIGHUP with a configuration that is none, and again and again.

Whatever stands in the file's place: what was in force stays in force, and a good file is taken afterwards.
"""

from __future__ import annotations

import signal

from tests.hostile.client import patiently
from tests.hostile.files import INSTEAD, Put, replaced
from tests.hostile.ground import LIMITS, Ground, Setting
from tests.hostile.requests import BEAT
from tests.hostile.trial import case, cases

ONE = Setting("a configuration that changes")
TWO = Setting("a configuration that changes, two workers", workers=2)
TAKEN = "configuration reloaded"
PUTS: dict[str, Put] = INSTEAD | {
    "itself in UTF-16": lambda file: file.write_text(file.with_suffix(".good").read_text(), "utf-16"),
    "itself twice": lambda file: file.write_text("---\n".join([file.with_suffix(".good").read_text()] * 2)),
    "itself with a NUL": lambda file: file.write_bytes(file.with_suffix(".good").read_bytes() + b"\0"),
    "half of a character": lambda file: file.write_text('clusters: {"\\ud800": {bootstrap: ["\\udfff:1"]}}\n'),
}


def _served(ground: Ground) -> None:
    with ground.client() as client:
        client.ask(BEAT, 4)


def _reload(ground: Ground) -> bool:
    """Is the file as it is now taken?"""
    start = ground.watch.log_size()
    ground.proxy.send_signal(signal.SIGHUP)
    for _ in patiently("the configuration is read"):
        if told := list(ground.watch.lines(start)):
            return any(line["event"] == TAKEN for line in told)
    raise AssertionError


@cases({f"the configuration replaced by {what}": put for what, put in PUTS.items()}, on=ONE)
def files(ground: Ground, put: Put) -> str:
    """The old one stays in force."""

    def holds() -> None:
        ground.proxy.send_signal(signal.SIGHUP)
        _served(ground)

    replaced(ground, ground.file.name, put, holds, lambda: _reload(ground))
    return "the old one stays in force"


@case("SIGHUP again and again, with a good file and a bad one in turn", on=ONE, log=400)
@case("SIGHUP again and again, with a good file and a bad one in turn", on=TWO, log=400)
def storm(ground: Ground) -> str:
    """Clients are served meanwhile."""
    good, times = ground.file.read_text(), ground.times(50, 1_000)
    connections = f"connections: {LIMITS['connections']}"
    assert connections in good
    try:
        for number in range(times):
            ground.file.write_text(good.replace(connections, f"connections: {400 + number}") if number % 2 else "[")
            ground.proxy.send_signal(signal.SIGHUP)
            _served(ground)
    finally:
        ground.file.write_text(good)
    for _ in patiently("a good one is taken again"):
        if _reload(ground):
            break
    return f"{times} times"
