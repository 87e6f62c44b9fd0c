"""A worker follows changes of its files."""

import errno
from pathlib import Path

import pytest
import trio
from structlog.testing import capture_logs

from proxy.net.complaints import Complaints
from proxy.net.tasks import Tasks
from proxy.net.watching import look, watch
from proxy.telemetry.counters import NetworkCounters
from proxy.text.problems import Reload
from proxy.text.watched import WatchedFile


class Changing(WatchedFile[str]):
    """Has one thing at a time to tell, then nothing any more."""

    def __init__(self, file: Path, *found: Reload) -> None:
        file.touch()
        super().__init__(file, str)
        self.found = list(found)
        self.ended = trio.Event()

    def look(self) -> Reload | None:
        if self.found:
            return self.found.pop(0)
        trio.from_thread.run_sync(self.ended.set)
        return None


class Unreadable(Changing):
    """Cannot be looked at."""

    why: type[BaseException] = RuntimeError

    def look(self) -> Reload | None:
        raise self.why("a bug")


class Exiting(Unreadable):
    """Has a loader that exits."""

    why = SystemExit


class WithoutDescriptors(Changing):
    """Cannot be read now."""

    def look(self) -> Reload | None:
        raise OSError(errno.EMFILE, "Too many open files")


async def told(tasks: Tasks, last: Changing, *others: Changing) -> list[dict[str, object]]:
    with capture_logs() as lines:
        async with trio.open_nursery() as nursery:
            files = [*(("rules", each) for each in others), ("tables", last)]
            nursery.start_soon(watch, lambda: files, tasks, lambda: None, trio.lowlevel.checkpoint)
            await last.ended.wait()
            nursery.cancel_scope.cancel()
    return lines  # type: ignore[return-value]


async def test_a_change_is_told_and_so_is_one_that_cannot_be_taken(tmp_path: Path) -> None:
    changes = Reload("a.yaml", True, ("a warning",)), Reload("a.yaml", False, ("1:1: bad", "2:1: worse"))
    counters = NetworkCounters()
    lines = await told(Tasks(counters, Complaints()), Changing(tmp_path / "a.yaml", *changes))
    assert counters.refused_files == 1
    assert lines == [
        {"event": "tables reloaded", "log_level": "info", "file": "a.yaml", "warnings": ["a warning"]},
        {
            "event": "tables not reloaded",
            "log_level": "error",
            "why": "1:1: bad\n2:1: worse",
            "still": "what was read before",
        },
    ]


async def test_nothing_is_looked_at_where_there_is_nothing() -> None:
    assert not await look([], Tasks(NetworkCounters(), Complaints()))


async def test_who_looks_is_told_whether_anything_is_another(tmp_path: Path) -> None:
    tasks, name = Tasks(NetworkCounters(), Complaints()), tmp_path / "a"
    changing, broken = Changing(name, Reload("a", taken=True)), Changing(name, Reload("a", False, ("1:1: bad",)))
    found = [await look([("tables", broken), ("tables", each)], tasks) for each in (changing, changing)]
    assert found == [True, False]


@pytest.mark.parametrize("unreadable", [Unreadable, Exiting])
async def test_a_file_that_cannot_be_looked_at_keeps_no_other_from_it(
    tmp_path: Path, unreadable: type[Changing]
) -> None:
    counters, change = NetworkCounters(), Reload("a.yaml", True, ())
    readable = Changing(tmp_path / "a.yaml", change)
    lines = await told(Tasks(counters, Complaints()), readable, unreadable(tmp_path / "b.yaml"))
    assert [line["event"] for line in lines] == ["a task failed", "tables reloaded"]
    assert counters.failed_tasks >= 2


async def test_a_file_for_which_there_are_no_descriptors_is_told_once_and_is_no_bug(tmp_path: Path) -> None:
    counters = NetworkCounters()
    tasks, file = Tasks(counters, Complaints()), WithoutDescriptors(tmp_path / "a.yaml")
    with capture_logs() as lines:
        for _ in range(20):
            assert not await look([("rules", file)], tasks)
    (line,) = lines
    assert line["event"] == "rules not read yet"
    assert line["why"] == "too many open files; raise the limit of open files (ulimit -n)"
    assert counters.failed_tasks == 0


async def test_every_change_of_certificates_is_told_and_not_every_one_of_what_clients_may_change(
    tmp_path: Path,
) -> None:
    tasks = Tasks(NetworkCounters(), Complaints())
    with capture_logs() as lines:
        for what in ("certificates", "rules"):
            file = Changing(tmp_path / "a", *[Reload("a", taken=True)] * 100)
            for _ in range(100):
                await look([(what, file)], tasks)
    told = [line["event"] for line in lines]
    assert told.count("certificates reloaded") == 100
    assert 0 < told.count("rules reloaded") < 100
