"""A supervisor knows what the files in force hold, and forgets what it does not know for sure."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
import trio

from proxy.net.channel import Lines, NonsenseError
from proxy.net.keeping import MOST, KeptFiles, tell_files
from proxy.text.regular import open_regular
from proxy.text.watched import WatchedFile, inherited
from tests.proxy.net.scripted import PATIENCE


async def test_the_supervisor_has_what_is_in_force_and_not_what_is_broken(
    nursery: trio.Nursery, tmp_path: Path
) -> None:
    file = tmp_path / "number"
    file.write_text("2")
    watched = WatchedFile(file, lambda name: int(Path(name).read_text()))
    kept, (ours, theirs) = KeptFiles(), socket.socketpair()
    with ours, theirs:
        in_force = [("numbers", watched)]
        nursery.start_soon(tell_files, lambda: in_force, Lines(theirs))
        lines = Lines(ours)

        async def hear() -> None:
            with trio.fail_after(PATIENCE):
                line = await lines.receive()
            assert line is not None
            kept.take(line["in_force"])

        await hear()
        assert kept.contents == {str(file): b"2"}
        file.write_text("x")
        watched.look()
        file.write_text("3")
        watched.look()
        await hear()
        assert kept.contents == {str(file): b"3"}
        file.write_text("4" + " " * MOST)
        watched.look()
        await hear()
        assert kept.contents == {}
        file.write_text("5")
        watched.look()
        await hear()
        assert kept.contents == {str(file): b"5"}
        in_force.clear()  # another configuration names no file
        await hear()
        assert kept.contents == {}
        nursery.cancel_scope.cancel()


async def test_what_a_worker_has_from_the_supervisor_it_does_not_tell(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    file = tmp_path / "number"
    file.write_text("x")

    def load(name: str) -> int:
        with open_regular(name) as opened:
            return int(opened.read())

    with inherited({str(file): b"2"}):
        watched = WatchedFile(file, load)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.setblocking(False)
        with trio.move_on_after(5):
            await tell_files(lambda: [("numbers", watched)], Lines(theirs))
        with pytest.raises(BlockingIOError):
            ours.recv(1)


def test_nonsense_is_refused() -> None:
    with pytest.raises(NonsenseError):
        KeptFiles().take(["a file"])
