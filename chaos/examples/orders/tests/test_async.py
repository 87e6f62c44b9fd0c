"""The same in async tests: the fixture is no coroutine, and waiting has an async form."""

from __future__ import annotations

import anyio.to_thread
import pytest
from orders import count_orders, place_order

from chaos.fixture import KafkaFaults


async def place_held(kafka_faults: KafkaFaults, topic: str) -> None:
    held = kafka_faults.on("Produce", topic=topic).hold().times(1).start()

    async def place() -> None:
        await anyio.to_thread.run_sync(place_order, kafka_faults.bootstrap, "order-1", topic)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(place)
        await held.async_wait_for(times=1)
        held.release()
    assert await anyio.to_thread.run_sync(count_orders, kafka_faults.bootstrap, topic) == 1


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_under_asyncio(kafka_faults: KafkaFaults) -> None:
    await place_held(kafka_faults, "asyncio-orders")


@pytest.mark.trio
async def test_under_trio(kafka_faults: KafkaFaults) -> None:
    await place_held(kafka_faults, "trio-orders")
