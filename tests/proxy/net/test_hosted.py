"""A running plugin."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing
from structlog.testing import capture_logs

from proxy.config.plugins import PluginUse
from proxy.core.clock import Clock
from proxy.core.plugin import Plugin
from proxy.core.services import PluginError, Services
from proxy.net.complaints import Complaints
from proxy.net.hosted import LAST_WAIT, HostedPlugin
from proxy.net.plugin_host import PluginHost
from proxy.net.plugin_start import SLOW
from proxy.net.process import StartError
from proxy.net.tasks import Tasks
from proxy.telemetry.counters import NetworkCounters
from proxy.text.problems import Reload

HERE = threading.get_ident()


class Noting(Plugin):
    """Does what its options say, and notes where it was called."""

    class Options(Plugin.Options):
        begins: str | None = None
        starts: str | None = None
        fails: bool = False
        bug: bool = False

    def __init__(self, options: Options, services: Services) -> None:
        super().__init__(options, services)
        if options.bug:
            services.every(0, self.work)
        if options.begins:
            raise PluginError(options.begins)
        self.called: list[tuple[str, bool]] = []
        self.worked = threading.Semaphore(0)
        services.every(0.001, self.work)

    def start(self) -> None:
        self.called.append(("start", threading.get_ident() == HERE))
        if self.options.starts:
            raise PluginError(self.options.starts)

    def stop(self) -> None:
        self.called.append(("stop", threading.get_ident() == HERE))

    def work(self) -> None:
        self.worked.release()
        if self.options.fails:
            raise RuntimeError("no disk")


def host() -> PluginHost:
    return PluginHost(3, Clock(), Tasks(NetworkCounters(), Complaints()))


def hosted(there: PluginHost | None = None, **options: Any) -> HostedPlugin:
    return HostedPlugin(PluginUse("noting", Noting, Noting.Options(**options)), "main", there or host(), "noting-2")


async def while_it_runs(one: HostedPlugin, do: Callable[[Any], object]) -> None:
    async with trio.open_nursery() as nursery:
        await nursery.start(one.run)
        await trio.to_thread.run_sync(do, one.plugin)
        nursery.cancel_scope.cancel()


async def test_it_begins_and_ends_and_works_in_threads() -> None:
    one = hosted()
    await while_it_runs(one, lambda plugin: [plugin.worked.acquire() for _ in range(3)])
    assert one.plugin.called == [("start", False), ("stop", False)]  # type: ignore[attr-defined]


class Borrowing(Noting):
    """Notes how many of the shared threads are in use when it stops."""

    def stop(self) -> None:
        self.borrowed = trio.from_thread.run_sync(trio.to_thread.current_default_thread_limiter).borrowed_tokens


async def test_it_stops_in_none_of_the_threads_that_its_last_writes_need() -> None:
    one = HostedPlugin(PluginUse("borrowing", Borrowing, Borrowing.Options()), "main", host())
    await while_it_runs(one, lambda plugin: None)
    assert isinstance(one.plugin, Borrowing)
    assert one.plugin.borrowed == 0


async def test_work_that_fails_is_counted_and_done_again() -> None:
    there = host()
    with capture_logs() as lines:
        await while_it_runs(hosted(there, fails=True), lambda plugin: [plugin.worked.acquire() for _ in range(3)])
    assert there.tasks.counters.failed_tasks >= 2
    assert {(line["event"], line["plugin"]) for line in lines} == {("a task failed", "noting-2")}


@pytest.mark.parametrize("failure", [RuntimeError, SystemExit])
@pytest.mark.parametrize("at", ["work", "stop", "replaced"])
async def test_what_fails_in_a_plugin_is_to_be_told_to_its_author(at: str, failure: type[BaseException]) -> None:
    class Failing(Plugin):
        def __init__(self, options: Plugin.Options, services: Services) -> None:
            super().__init__(options, services)
            self.failed = threading.Event()
            services.every(0.001, self.work)

        def work(self) -> None:
            self.fail("work")

        def stop(self) -> None:
            self.fail("stop")

        def replaced(self) -> None:
            self.fail("replaced")

        def fail(self, now: str) -> None:
            if now == at:
                self.failed.set()
                raise failure("a bug")

    one = HostedPlugin(PluginUse("failing", Failing, Failing.Options()), "main", host())
    with capture_logs() as lines:
        await while_it_runs(one, lambda plugin: at != "work" or plugin.failed.wait(10))
        one.replaced()
    (told,) = {(line["plugin"], line["way_out"]) for line in lines}
    assert told == ("failing", "the rest goes on; please report this line to the author of the plugin")


async def test_it_knows_its_name_its_cluster_and_its_worker() -> None:
    there = host()
    services = hosted(there).plugin.services
    assert (services.name, services.cluster, services.worker) == ("noting-2", "main", 3)
    assert services.instance == hosted(there).plugin.services.instance != hosted().plugin.services.instance


async def test_its_time_is_that_of_the_links() -> None:
    there = host()
    services = hosted(there).plugin.services
    there.clock.now = 7.0
    assert services.clock.now == 7.0
    assert services.clock.wall() > 1_700_000_000


async def test_dice_are_its_own_and_fall_alike_after_a_seed() -> None:
    there = host()
    first, second = hosted(there).plugin.services.dice, hosted().plugin.services.dice
    assert first.random() != second.random()
    first.seed("7")
    second.seed("7")
    assert first.random() == second.random()


async def test_what_it_counts_is_published_under_the_name_of_its_kind() -> None:
    there = host()
    hosted(there).plugin.services.counter("found", "What was found.").add(4)
    (count,) = there.counters.counted()
    assert (count.instrument, count.attributes, count.value) == ("doorkeeper.noting.found", {"plugin": "noting-2"}, 4)


@pytest.mark.parametrize("when", ["begins", "starts"])
async def test_one_that_cannot_begin_says_why(when: str) -> None:
    async def begin() -> None:
        await while_it_runs(hosted(**{when: "no such table; create it"}), lambda plugin: None)

    with pytest.raises((StartError, BaseExceptionGroup)) as raised:
        await begin()
    error = raised.value
    while isinstance(error, BaseExceptionGroup):
        (error,) = error.exceptions
    assert str(error) == 'plugin "noting-2": no such table; create it'


@pytest.mark.parametrize("when", ["made", "start"])
async def test_one_that_exits_when_it_is_to_begin_cannot_begin(when: str) -> None:
    class Exiting(Plugin):
        def __init__(self, options: Plugin.Options, services: Services) -> None:
            super().__init__(options, services)
            if when == "made":
                sys.exit("no licence")

        def start(self) -> None:
            sys.exit("no licence")

    with pytest.raises((StartError, BaseExceptionGroup)) as raised:
        await while_it_runs(HostedPlugin(PluginUse("exiting", Exiting, Exiting.Options()), "main", host()), repr)
    error: BaseException = raised.value
    while isinstance(error, BaseExceptionGroup):
        (error,) = error.exceptions
    assert isinstance(error, StartError)
    assert str(error).startswith('plugin "exiting" failed: SystemExit: no licence, at ')


async def test_a_file_that_it_has_watched_says_what_it_says_now(tmp_path: Path) -> None:
    (file := tmp_path / "table").write_text("2")
    one = hosted()
    table = one.plugin.services.watch("table", file, lambda name: int(Path(name).read_text()))
    assert table.value == 2
    file.write_text("30")
    ((_, watched),) = one.watched
    assert watched.look() == Reload(str(file), True)
    assert table.value == 30


async def test_one_that_has_a_bug_is_said_to_and_where() -> None:
    with pytest.raises(StartError) as raised:
        hosted(bug=True)
    start, _, end = str(raised.value).partition(", at ")
    assert start == 'plugin "noting-2" failed: ValueError: work cannot be done every 0 s'
    assert end.endswith("; leave it out, or mend it")
    assert "services.py:" in end


class Hanging(Noting):
    """Hangs at its start until it is let go."""

    def __init__(self, options: Noting.Options, services: Services) -> None:
        super().__init__(options, services)
        self.begun, self.let_go = threading.Event(), threading.Event()

    def start(self) -> None:
        self.begun.set()
        self.let_go.wait()
        super().start()


def hanging() -> tuple[HostedPlugin, Hanging]:
    one = HostedPlugin(PluginUse("hanging", Hanging, Hanging.Options()), "main", host(), "hanging-2")
    assert isinstance(one.plugin, Hanging)
    return one, one.plugin


async def test_a_plugin_that_hangs_at_its_start_is_said_and_does_not_keep_the_proxy_from_ending(
    autojump_clock: trio.testing.MockClock,
) -> None:
    one, plugin = hanging()
    with capture_logs() as logs:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(one.run)
            await trio.sleep(SLOW + 1)
            nursery.cancel_scope.cancel()
        assert trio.current_time() == SLOW + 1 + LAST_WAIT
    plugin.let_go.set()
    assert [(line["event"], line["plugin"], line["cluster"]) for line in logs] == [
        ("plugin not started yet", "hanging-2", "main"),
        ("plugin left while it started", "hanging-2", "main"),
    ]


class Lingering(Hanging):
    """Hangs at its stop until it is let go."""

    def start(self) -> None: ...

    def stop(self) -> None:
        self.let_go.wait()


async def test_a_plugin_that_hangs_at_its_stop_is_said_long_before_it_is_left(
    mock_clock: trio.testing.MockClock,
) -> None:
    one = HostedPlugin(PluginUse("lingering", Lingering, Lingering.Options()), "main", host(), "lingering-2")
    with capture_logs() as logs:
        async with trio.open_nursery() as nursery:
            await nursery.start(one.run)
            mock_clock.autojump_threshold = 0  # no earlier: the clock would jump while a thread starts the plugin
            nursery.cancel_scope.cancel()
    assert trio.current_time() == LAST_WAIT
    assert isinstance(one.plugin, Lingering)
    one.plugin.let_go.set()
    assert [(line["event"], line["plugin"], line["cluster"]) for line in logs] == [
        ("plugin not stopped yet", "lingering-2", "main"),
        ("plugin left while it stopped", "lingering-2", "main"),
    ]
    assert logs[0]["why"] == "its stop has taken 10 s, and is waited for"
    assert logs[0]["way_out"].startswith("if it hangs, end the proxy, which waits for 30 s at most")
    assert SLOW < LAST_WAIT


class Busy(Plugin):
    """Has work that hangs until it is let go."""

    def __init__(self, options: Plugin.Options, services: Services) -> None:
        super().__init__(options, services)
        self.begun, self.let_go = threading.Event(), threading.Event()
        services.every(0.001, self.work)

    def work(self) -> None:
        self.begun.set()
        self.let_go.wait()

    def stop(self) -> None:
        self.work()


async def test_a_plugin_whose_work_hangs_is_left_when_the_proxy_is_to_end_at_once() -> None:
    there = host()
    one = HostedPlugin(PluginUse("busy", Busy, Busy.Options()), "main", there)
    plugin = one.plugin
    assert isinstance(plugin, Busy)
    with capture_logs() as logs:
        async with trio.open_nursery() as nursery:
            await nursery.start(one.run)
            await trio.to_thread.run_sync(plugin.begun.wait)
            there.cut()
            nursery.cancel_scope.cancel()
    plugin.let_go.set()
    assert [line["event"] for line in logs] == ["plugin left while it worked", "plugin left while it stopped"]
    assert not there.threads


async def test_a_plugin_that_still_starts_when_the_proxy_ends_is_stopped_once_it_has_started() -> None:
    one, plugin = hanging()

    async def let_go_once_all_wait() -> None:
        await trio.testing.wait_all_tasks_blocked()
        plugin.let_go.set()

    async with trio.open_nursery() as around, trio.open_nursery() as nursery:
        nursery.start_soon(one.run)
        await trio.to_thread.run_sync(plugin.begun.wait)
        nursery.cancel_scope.cancel()
        around.start_soon(let_go_once_all_wait)
    assert plugin.called == [("start", False), ("stop", False)]
