"""The two ways from a client to the brokers: `direct`, and `proxy`, through Doorkeeper.

A scenario runs both ways, and what came out must be equal once the names and addresses that must differ are made
the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Way:
    """One way, as a client sees it: `nodes` has every address that it may be told, and whose it is."""

    name: str
    bootstrap: str
    nodes: Mapping[str, int]

    def unique(self, word: str) -> str:
        """A topic, group or transactional id of this way alone."""
        return f"{word}-{self.name}"

    def plain(self, text: str) -> str:
        """A program's output without what differs between the ways: addresses, own names, widths of columns."""
        for address, node_id in self.nodes.items():
            host, port = address.split(":")
            text = text.replace(address, f"<broker {node_id}>")
            text = re.sub(rf"{re.escape(host)}(\s+){port}\b", f"<broker {node_id}>", text)
        text = text.replace(self.bootstrap, "<bootstrap>").replace(f"-{self.name}", "")
        return "\n".join(" ".join(line.split()) for line in text.splitlines())
