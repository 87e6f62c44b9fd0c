"""Plugins of one worker accept states while it runs, and answer."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest
import trio

from proxy.core.plugin import Plugin
from proxy.core.state import NoPluginError, NotTakenError, StateError
from proxy.text.problems import Finding
from tests.proxy.net.scripted import Broker, configuration, serving


class Taking(Plugin):
    """Takes what it is told, unless that is wrong."""

    def __init__(self, options: Any, services: Any) -> None:
        super().__init__(options, services)
        self.taken = services.state

    def prepare_state(self, state: Any) -> Callable[[], None]:
        if state == "wrong":
            raise StateError([Finding(("here",), "this is wrong")])
        if state == "bug":
            raise ZeroDivisionError("oops")
        if state == "exit":
            sys.exit("no licence")

        def take() -> None:
            self.taken, self.taken_at = state, self.services.clock.now

        return take

    def query(self, question: str, said: Any) -> Any:
        if question == "when":
            return self.taken_at
        return [question, said, self.taken]


def having(broker: Broker, **plugins: type[Plugin]) -> Any:
    from proxy.config.plugins import PluginUse

    config = configuration(broker.endpoint)
    uses = tuple(PluginUse(name, plugin, plugin.Options()) for name, plugin in plugins.items())
    return config.model_copy(update={"plugins": uses})


async def test_a_state_is_taken_kept_and_asked_for(broker: Broker) -> None:
    config = having(broker, taking=Taking, plain=Plugin)
    async with serving(config) as gateway:
        states = gateway.states
        assert (states.of("taking"), await states.query("taking", "what", 7)) == (None, {0: [["what", 7, None]]})
        await states.change("taking", "one")
        assert (states.of("taking"), await states.query("taking", "what", 7)) == ("one", {0: [["what", 7, "one"]]})
        for state, error in (("wrong", StateError), ("bug", NotTakenError), ("exit", NotTakenError)):
            with pytest.raises(error):
                await states.change("taking", state)
        with pytest.raises(NoPluginError, match='the configuration has no plugin "none"; add "- none'):
            await states.change("none", "one")
        with pytest.raises(StateError, match="takes no state"):
            await states.change("plain", "one")
        assert await states.query("taking", "what", 7) == {0: [["what", 7, "one"]]}


async def test_what_is_taken_begins_at_that_moment_though_no_client_came_yet(broker: Broker) -> None:
    async with serving(having(broker, taking=Taking)) as gateway:
        began = trio.current_time()
        await gateway.states.change("taking", "one")
        ((taken,),) = (await gateway.states.query("taking", "when", None)).values()
        assert began < taken < trio.current_time()


async def test_a_plugin_of_another_configuration_is_made_with_it(broker: Broker) -> None:
    async with serving(having(broker, taking=Taking)) as gateway:
        await gateway.states.change("taking", "one")
        without = gateway.config.model_copy(update={"plugins": ()})
        before = gateway.config
        await gateway.apply(without)
        with pytest.raises(NoPluginError):
            await gateway.states.query("taking", "what", 7)
        await gateway.apply(before)
        assert await gateway.states.query("taking", "what", 7) == {0: [["what", 7, "one"]]}


async def test_a_state_and_a_configuration_that_come_at_once_are_both_in_force(broker: Broker) -> None:
    config = having(broker, taking=Taking)
    async with serving(config) as gateway, trio.open_nursery() as nursery:
        await gateway.apply(gateway.config.model_copy(update={"plugins": ()}))
        nursery.start_soon(gateway.apply, config)
        await trio.lowlevel.checkpoint()
        while True:
            try:
                await gateway.states.change("taking", "one")
                break
            except NoPluginError:
                await trio.lowlevel.checkpoint()
        assert await gateway.states.query("taking", "what", 7) == {0: [["what", 7, "one"]]}
