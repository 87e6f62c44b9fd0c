"""A loop that is held up is counted and told, wherever the plugin blocks."""

from __future__ import annotations

import pytest
import trio
import trio.testing
from structlog.testing import capture_logs

from proxy.core.context import Connection, Context
from proxy.core.decisions import Call, Decision, Steps
from proxy.core.decorators import on_request, on_response
from proxy.core.plugin import Plugin
from proxy.net.complaints import EVERY, Complaints
from proxy.net.slow_turns import SLOW, WAY_OUT, SlowTurns
from proxy.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from tests.proxy.core.frames import heartbeat, heartbeat_answer
from tests.proxy.net.scripted import LOOPBACK, Broker, configuration, connected, port_of, serving
from tests.proxy.net.test_reactor import receive, world

BLOCKED = 3.0  # seconds


class Blocking(Plugin):
    """Lets the clock go on in one of its methods, as a method does that blocks."""

    def __init__(self, clock: trio.testing.MockClock, at: str) -> None:
        self.clock, self.at = clock, at

    def _blocks(self, here: str) -> None:
        if here == self.at:
            self.clock.jump(BLOCKED)

    @on_request(HeartbeatRequest)
    def asked(self, ctx: Context, request: HeartbeatRequest) -> Steps | Decision:
        self._blocks("asked")
        return self._steps() if self.at == "woken" else None

    def _steps(self) -> Steps:
        yield Call(int)
        self._blocks("woken")
        return None

    @on_response(HeartbeatResponse)
    def answered(self, ctx: Context, response: HeartbeatResponse) -> Decision:
        self._blocks("answered")
        return None


@pytest.mark.parametrize("at", ["asked", "woken", "answered"])
async def test_a_handler_that_blocks_is_counted_and_told(mock_clock: trio.testing.MockClock, at: str) -> None:
    with capture_logs() as lines:
        async with world() as here:
            client, broker = here.link(Blocking(mock_clock, at))
            await client.send_all(heartbeat(1))
            await receive(broker, len(heartbeat(1)))
            await broker.send_all(heartbeat_answer(1))
            await receive(client, len(heartbeat_answer(1)))
            assert here.reactor.slow_turns.count == 1
    (line,) = lines
    assert (line["event"], line["way_out"]) == ("event loop held up", WAY_OUT)
    assert BLOCKED - 0.1 < line["seconds"] <= BLOCKED


async def test_handlers_that_do_not_block_are_not_told_of(mock_clock: trio.testing.MockClock) -> None:
    with capture_logs() as lines:
        async with world() as here:
            client, broker = here.link(Blocking(mock_clock, "nowhere"))
            await client.send_all(heartbeat(1))
            await receive(broker, len(heartbeat(1)))
            assert here.reactor.slow_turns.count == 0
    assert not lines


async def test_every_slow_turn_is_counted_and_one_line_tells_of_many(autojump_clock: trio.testing.MockClock) -> None:
    slow = SlowTurns(Complaints())
    with capture_logs() as lines:
        for _ in range(3):
            slow.took(SLOW + 0.1)
        slow.took(SLOW)
        await trio.sleep(EVERY)
        slow.took(SLOW + 0.1)
    assert slow.count == 4
    assert [line.get("left_out") for line in lines] == [None, 2]


async def test_a_plugin_that_blocks_when_a_client_is_connected_is_counted_in_the_report(
    broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Connecting(Plugin):
        def connected(self, connection: Connection) -> None:
            monkeypatch.setattr("proxy.net.slow_turns.SLOW", -1.0)

    from proxy.config.plugins import PluginUse

    uses = (PluginUse("connecting", Connecting, Connecting.Options()),)
    config = configuration(broker.endpoint).model_copy(update={"plugins": uses})
    async with serving(config) as gateway, connected(LOOPBACK, port_of(config, 1)) as client:
        assert await client.beat() == 0
        assert gateway.report().reading["slow_turns"] > 0
