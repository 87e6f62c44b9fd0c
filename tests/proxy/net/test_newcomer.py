"""A newcomer owns what was opened for it."""

from __future__ import annotations

import socket

import pytest

from proxy.core.filters import Filters
from proxy.net.newcomer import Newcomer
from proxy.net.snapshot import ListenerInForce

HERE = ListenerInForce(Filters([]), authority=None, log_in_later=False, tls=None)


class Failing(socket.socket):
    """A socket whose close fails."""

    def close(self) -> None:
        super().close()
        raise OSError("it is gone")


def test_what_was_opened_is_closed() -> None:
    client, broker = socket.socketpair()
    newcomer = Newcomer(client, ("10.0.0.1", 50000), 1, HERE)
    newcomer.broker = broker
    newcomer.close()
    assert client.fileno() == broker.fileno() == -1


def test_a_client_is_closed_though_the_broker_cannot_be() -> None:
    client, other = socket.socketpair()
    newcomer = Newcomer(client, ("10.0.0.1", 50000), None, HERE)
    newcomer.broker = Failing()
    with other, pytest.raises(OSError, match="it is gone"):
        newcomer.close()
    assert client.fileno() == -1
