"""Java's newest admin client gets the same results behind Doorkeeper as at a broker with Kafka's own authorizer.

Each call is made by a user with rights on some resources, and by a user with all rights on the cluster.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError

from tests.acl.admin import Admin
from tests.acl.administration import HIDDEN, MINE, PEOPLE, SEEN, Call, everything
from tests.acl.clients import without_places
from tests.acl.clients_java import JavaClient
from tests.acl.everybody import own
from tests.acl.names import Names
from tests.acl.nodes import HOST, PASSWORD
from tests.acl.play import Player
from tests.acl.side import Side
from tests.acl.sides import Sides
from tests.real.secured import clients as drivers
from tests.real.secured.clients import As

pytestmark = pytest.mark.real

EVERYTHING = list(everything())
Asked = tuple[str, str, str]  # user, call, resource name
Came = tuple[str, object]  # Kafka's name of the error and the client's words, or NONE and the result


class AtWork:
    """The admin clients of all users on one side."""

    def __init__(self, side: Side, names: Names, stack: ExitStack) -> None:
        self._names = names
        self._clients = {}
        for who in PEOPLE:
            client = JavaClient("4.4.0", As(f"{HOST}:{side.port}", "PLAIN", names.wire(who), PASSWORD), names)
            java_admin = stack.enter_context(client.java.admin(client.way, **client.settings))
            admin = Admin(client.java, java_admin, names, side.ids.of)
            self._clients[who] = client, admin
        # Topic ids do not change meanwhile: no deleted topic is created again.
        self._topics = {admin.uuid(names.wire(name)).toString(): name for name in (MINE, SEEN, HIDDEN)}

    def do(self) -> dict[Asked, Came]:
        """All calls, in turn."""
        return {(who, call.name, name): self._do(who, call, name) for who, call, name in EVERYTHING}

    def _do(self, who: str, call: Call, name: str) -> Came:
        client, admin = self._clients[who]
        try:
            made = call.make(admin, self._names.wire(name))
            told = [each.get() for each in (made if isinstance(made, list) else [made])]
        except Py4JJavaError as error:
            refusal = client.told(error)
            return refusal.name, self._plain(refusal.words)
        if not call.told:
            return "NONE", None
        as_text = client.java.jvm.java.util.Objects.toString
        return "NONE", sorted(re.findall(r"[^\s,;={}()\[\]]+", self._plain(" ".join(map(as_text, told)))))

    def _plain(self, text: str) -> str:
        for topic_id, name in self._topics.items():
            text = text.replace(topic_id, f"<{name}>")
        text = re.sub(r"finalizedFeaturesEpoch:\S+", "", text)  # it grows with every change of the cluster
        return without_places(self._names.plain(text))


@pytest.fixture(scope="module")
def told(sides: Sides) -> Iterator[list[dict[Asked, Came]]]:
    """The results of all calls, on both sides."""
    with ExitStack() as stack:
        stack.callback(drivers.close)
        scenario = own("administrators")
        for side in sides:
            Player(scenario, side, {}).play()  # the scenario has no steps: this only prepares what is given
        at_work = [AtWork(side, Names(scenario.number), stack) for side in sides]
        with ThreadPoolExecutor() as threads:
            yield list(threads.map(AtWork.do, at_work))


@pytest.mark.parametrize(
    ("who", "call", "name"),
    [pytest.param(who, call.name, name, id=f"{who}-{call.name}-{name}") for who, call, name in EVERYTHING],
)
def test_an_administrator_is_told_the_same_on_both_sides(told: Any, who: str, call: str, name: str) -> None:
    direct, proxied = (each[who, call, name] for each in told)
    assert direct == proxied


def test_every_kind_of_refusal_is_met(told: Any) -> None:
    met = Counter(error for error, _ in told[0].values())
    kinds = {f"{kind}_AUTHORIZATION_FAILED" for kind in ("CLUSTER", "GROUP", "TOPIC", "TRANSACTIONAL_ID")}
    assert kinds | {"UNKNOWN_TOPIC_ID"} < met.keys()
    assert met["NONE"] > len(EVERYTHING) / 4
    assert len(told[0]) == len(EVERYTHING)
