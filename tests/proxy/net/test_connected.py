"""The clients of a worker as plain values."""

from __future__ import annotations

import json
import time

from tests.proxy.net.scripted import LOOPBACK, Broker, configuration, connected, port_of, serving


async def test_each_connection_is_shown_and_no_more_than_asked_for(broker: Broker) -> None:
    config = configuration(broker.endpoint)
    async with serving(config) as gateway:
        assert await gateway.connections(10) == [{"total": 0, "connections": []}]
        before = time.time()
        async with connected(LOOPBACK, port_of(config)) as one, connected(LOOPBACK, port_of(config, 1)) as two:
            assert [await one.beat(), await two.beat()] == [0, 0]
            (answer,) = await gateway.connections(10)
            assert (await gateway.connections(1))[0]["total"] == 2
            assert len((await gateway.connections(1))[0]["connections"]) == 1
            shown = sorted(answer["connections"], key=lambda it: it["broker"] is not None)
            assert [it["broker"] for it in shown] == [None, 1]
            assert {it["listener"] for it in shown} == {"clients"}
            assert shown[0]["client"] == f"{LOOPBACK}:{one.stream.socket.getsockname()[1]}"
            assert len({it["id"] for it in shown}) == 2
            assert all(before - 1 <= it["since"] <= time.time() + 1 for it in shown)
            assert json.loads(json.dumps(answer)) == answer
