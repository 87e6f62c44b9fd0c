"""The two compared sides: a broker with the rules in its own authorizer, and one without them behind Doorkeeper.

Rules:
* The rules and topics of all scenarios exist before the first scenario is played.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from proxy.protocol.api import PRODUCE
from tests.acl.broker import Broker
from tests.acl.load import Scenario
from tests.acl.names import Names
from tests.acl.nodes import AUTHORIZER, UNMATCHED, Node
from tests.acl.prepare import prepare
from tests.acl.proxied import Proxied, users
from tests.acl.side import Side

OLDEST_PRODUCE = 3  # brokers advertise 0 and close on it (KAFKA-18659)


class Sides:
    """Both sides, prepared for these scenarios; a context that ends them. Doorkeeper is in front of `behind`."""

    def __init__(self, folder: Path, scenarios: Sequence[Scenario], behind: Node) -> None:
        self._folder, self._scenarios, self._behind = folder, scenarios, behind
        (self._unmatched,) = {each.unmatched for each in scenarios}
        self._node = Node(folder / "secured", users(scenarios), AUTHORIZER + UNMATCHED[self._unmatched])

    def __enter__(self) -> Sides:
        with ExitStack() as stack:
            node = stack.enter_context(self._node)
            for each in (node, self._behind):
                prepare(each, self._scenarios)
            self.broker = Broker(node)
            stack.callback(self.broker.close)
            self.broker.load({each.number: Names(each.number).rules(each.given.acls) for each in self._scenarios})
            self.proxied = Proxied(self._folder / "doorkeeper", self._behind, self._scenarios, self._unmatched)
            stack.callback(self.proxied.close)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def __iter__(self) -> Iterator[Side]:
        yield from (self.broker, self.proxied)

    def spoken(self) -> dict[int, range]:
        """The versions of each API that clients may send through the proxy."""
        spoken = self.proxied.admin.spoken()
        spoken[PRODUCE.key] = range(OLDEST_PRODUCE, spoken[PRODUCE.key].stop)
        return spoken
