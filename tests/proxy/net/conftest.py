"""The fixture `broker`."""

from __future__ import annotations

import pytest

from tests.proxy.net.scripted import Broker


@pytest.fixture
async def broker(nursery) -> Broker:  # type: ignore[no-untyped-def]  # pytest-trio has no types
    """One broker, listening."""
    broker = Broker()
    await nursery.start(broker.serve)
    return broker
