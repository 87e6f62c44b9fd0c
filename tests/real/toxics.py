"""A real toxiproxy for tests, where this machine has it or can build it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from chaos.toxiproxy import ToxiproxyError, ToxiproxyServer, find_toxiproxy
from tests.real.jars import cache_folder


@contextmanager
def running_toxiproxy() -> Iterator[ToxiproxyServer]:
    """Run toxiproxy. Where there is none, skip the test with the reason."""
    try:
        program = find_toxiproxy(cache_folder())
    except ToxiproxyError as error:
        pytest.skip(str(error))
    with ToxiproxyServer(program) as server:
        yield server
