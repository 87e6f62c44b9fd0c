"""Reached: does any of some brokers accept a connection from this machine?

It is checked before Spark starts. Spark retries for minutes on each of its machines, and reports it in many lines.
"""

from __future__ import annotations

import socket

from proxy.core.addresses import LAST_PORT

WITHIN = 6.0  # seconds for all brokers together, at least one for each


class NotReachedError(Exception):
    """No broker accepts a connection. It names each broker and the reason, with a way out."""


def check_reached(brokers: str) -> None:
    """Raises NotReachedError. `brokers`: host:port, joined by commas."""
    tried: list[str] = []
    addresses = brokers.split(",")
    for address in addresses:
        host, _, port = address.rpartition(":")
        if int(port) > LAST_PORT:
            tried.append(f"{address}: there is no such port")
            continue
        try:
            socket.create_connection((host.strip("[]"), int(port)), max(1.0, WITHIN / len(addresses))).close()
        except OSError as error:
            tried.append(f"{address}: {error.strerror or error}")
        except UnicodeError:  # of the name
            tried.append(f"{address}: there is no such address")
        else:
            return
    raise NotReachedError(f"no broker is reached ({'; '.join(tried)}); check the address, and that it is up")
