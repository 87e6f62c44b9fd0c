"""No socket outlives its test."""

from collections.abc import Iterator

import pytest

from tests.proxy.net.tls.pairs import OPENED


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    """Close all sockets of the test."""
    yield
    while OPENED:
        OPENED.pop().close()
