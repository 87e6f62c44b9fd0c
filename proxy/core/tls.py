"""What TLS found out about a client: data only, for handlers and log lines."""

from __future__ import annotations

from typing import NamedTuple


class Tls(NamedTuple):
    """`server_name` is the name that the client asked for, `subject` that of its certificate; None: there is none."""

    version: str
    cipher: str
    server_name: str | None = None
    subject: str | None = None

    def __str__(self) -> str:
        return f"{self.version} {self.cipher}"
