"""The two ways from a client to the brokers: `direct`, and `proxy`, through Doorkeeper.

A scenario runs both ways, and both outcomes must be equal, apart from names and addresses that must differ.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Way:
    """One way, as a client sees it: `nodes` has every address that it may receive, with its node id."""

    name: str
    bootstrap: str
    nodes: Mapping[str, int]

    def unique(self, word: str) -> str:
        """A name for a topic, group or transactional id of this way alone."""
        return f"{word}-{self.name}"

    def plain(self, text: str) -> str:
        """A program's output without parts that differ between the ways: addresses, unique names, widths of columns."""
        for address, node_id in self.nodes.items():
            host, port = address.split(":")
            text = text.replace(address, f"<broker {node_id}>")
            text = re.sub(rf"{re.escape(host)}(\s+){port}\b", f"<broker {node_id}>", text)
        text = text.replace(self.bootstrap, "<bootstrap>").replace(f"-{self.name}", "")
        return "\n".join(" ".join(line.split()) for line in text.splitlines())
