"""Which plugins run, and how long."""

from __future__ import annotations

import pytest
import trio
import trio.testing

from proxy.config.plugins import PluginUse
from proxy.net.hosted import HostedPlugin
from proxy.net.process import StartError
from proxy.net.running_plugins import START_WITHIN, RunningPlugins
from proxy.net.snapshot_builder import build
from tests.proxy.net.scripted import PATIENCE, Broker, configuration
from tests.proxy.net.test_changing import Marking, having, until, use
from tests.proxy.net.test_hosted import Hanging, host


@pytest.fixture(autouse=True)
def nobody_runs() -> None:
    Marking.running.clear()


async def test_plugins_are_started_all_or_none_of_them(nursery: trio.Nursery) -> None:
    plugins, there = RunningPlugins(nursery), host()
    one, other = (HostedPlugin(use(mark), "main", there) for mark in (1, 2))
    await plugins.start([one])
    with pytest.raises(StartError, match="mark 3 cannot be"):
        await plugins.start([other, HostedPlugin(use(3, fails=True), "main", there)])
    await until(lambda: Marking.running == [1])


async def test_what_is_replaced_goes_on_until_its_filters_are_done_with(broker: Broker, nursery: trio.Nursery) -> None:
    plugins, there, config = RunningPlugins(nursery), host(), configuration(broker.endpoint)
    before = build(having(config, use(1)), None, there, "a mark")
    await plugins.start(before.hosted)
    now = build(having(config, use(2)), before, there, "a mark")
    await plugins.prepare(now)
    plugins.retire(now, [filters.lease for filters in before.all_filters])
    await trio.testing.wait_all_tasks_blocked()
    assert sorted(Marking.running) == [1, 2]
    del before
    await until(lambda: Marking.running == [2])


async def test_plugins_of_a_cluster_without_a_listener_go_on(broker: Broker, nursery: trio.Nursery) -> None:
    plugins, there = RunningPlugins(nursery), host()
    clusters = {name: {"bootstrap": [str(broker.endpoint)]} for name in ("main", "spare")}
    config = having(configuration(broker.endpoint, clusters=clusters), use(1))
    before = build(config, None, there, "a mark")
    await plugins.start(before.hosted)
    assert Marking.running == [1, 1]
    now = build(config, before, there, "a mark")
    await plugins.prepare(now)
    plugins.retire(now, [])
    await trio.testing.wait_all_tasks_blocked()
    assert Marking.running == [1, 1]


async def test_a_prepared_plugin_that_hangs_at_its_start_is_given_up_with_what_was_prepared_beside_it(
    broker: Broker, nursery: trio.Nursery, mock_clock: trio.testing.MockClock
) -> None:
    plugins, there, config = RunningPlugins(nursery), host(), configuration(broker.endpoint)
    hangs = PluginUse("hanging", Hanging, Hanging.Options())
    dropped = build(having(config, use(1), hangs), None, there, "a mark")
    (hanging,) = (hosted.plugin for hosted in dropped.hosted if isinstance(hosted.plugin, Hanging))

    async def let_time_pass() -> None:
        assert await trio.to_thread.run_sync(hanging.begun.wait, PATIENCE)
        mock_clock.jump(START_WITHIN)

    nursery.start_soon(let_time_pass)
    with pytest.raises(StartError, match='plugin "hanging" has not started in time'):
        await plugins.prepare(dropped)
    mock_clock.rate = 1.0
    await until(lambda: not Marking.running)
    await plugins.prepare(build(having(config, use(2)), None, there, "a mark"))
    assert Marking.running == [2]
    hanging.let_go.set()
    await until(lambda: hanging.called[-1:] == [("stop", False)])
