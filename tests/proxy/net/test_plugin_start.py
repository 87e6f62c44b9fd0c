"""The start of a plugin that is given up: it goes on in its thread, and nothing comes of it."""

from __future__ import annotations

from math import inf

import trio
import trio.testing
from structlog.testing import capture_logs

from proxy.config.plugins import PluginUse
from proxy.core.services import PluginError
from proxy.net.hosted import HostedPlugin
from proxy.net.plugin_start import GIVEN_UP, SLOW
from tests.proxy.net.scripted import PATIENCE
from tests.proxy.net.test_hosted import Hanging, hanging, host


async def given_up(one: HostedPlugin, nursery: trio.Nursery) -> None:
    """Start it with no time at all."""
    with trio.fail_after(PATIENCE):
        assert await nursery.start(one.run, trio.current_time()) is False


async def test_a_plugin_that_starts_after_its_start_was_given_up_is_stopped_at_once() -> None:
    one, plugin = hanging()
    async with trio.open_nursery() as nursery:  # ends by itself once the plugin has stopped
        await given_up(one, nursery)
        plugin.let_go.set()
    assert plugin.called == [("start", False), ("stop", False)]


class Failing(Hanging):
    """Fails once it is let go."""

    def start(self) -> None:
        super().start()
        raise PluginError("its disk is gone")


async def test_a_plugin_that_fails_after_its_start_was_given_up_is_a_line_and_ends_nothing() -> None:
    one = HostedPlugin(PluginUse("failing", Failing, Failing.Options()), "main", host())
    assert isinstance(one.plugin, Failing)
    with capture_logs() as logs:
        async with trio.open_nursery() as nursery:
            await given_up(one, nursery)
            one.plugin.let_go.set()
    assert one.plugin.called == [("start", False)]
    assert [(line["event"], line["why"]) for line in logs] == [
        ("plugin failed after its start was given up", 'plugin "failing": its disk is gone')
    ]


async def test_a_slow_start_that_will_be_given_up_is_said_with_what_becomes_of_it(
    autojump_clock: trio.testing.MockClock,
) -> None:
    one, plugin = hanging()
    with capture_logs() as logs:
        async with trio.open_nursery() as nursery:
            assert await nursery.start(one.run, trio.current_time() + SLOW + 1) is False
            assert trio.current_time() == SLOW + 1
            autojump_clock.autojump_threshold = inf  # the clock would jump while a thread stops the plugin
            plugin.let_go.set()
    assert [(line["event"], line["way_out"]) for line in logs] == [("plugin not started yet", GIVEN_UP)]
