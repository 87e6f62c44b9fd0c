"""ACLs that the proxy keeps, and ACLs that a real broker keeps: the same requests get the same responses."""

from __future__ import annotations

import random
from collections.abc import Iterator
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest

from proxy.protocol import to_json
from proxy.protocol.schema import Request, Response
from tests.plugins.acl.asked import Keeper, create, creation, delete, describe
from tests.proxy.protocol.oracles.broker import Client, DenyingBroker
from tests.real.records import patiently

pytestmark = pytest.mark.real
VERSIONS = (1, 2, 3)  # a 4.x broker knows no version 0
NAMES = ("t", "t", "p", "p-1", "*", "not a topic!", "kafka-cluster", "User:x")
PRINCIPALS = ("User:a", "User:a", "User:b", "User:*", "User:", ":", "Group:é")
HOSTS = ("*", "*", "10.1.2.3", "10.0.0.0/8", "", "::1")
KINDS, PATTERNS, OPERATIONS, PERMISSIONS = (2, 2, 3, 4, 5, 6, 7), (3, 3, 4), (2, 3, 3, 4, 8, 15), (2, 3, 3)
ODD: tuple[dict[str, Any], ...] = (
    *({word: number} for word in ("kind", "pattern", "to", "allow") for number in (0, 1, 2, 9, 99, -1)),
    *({"name": ""}, {"who": "nobody"}, {"who": ""}),
    *({"kind": 4, "name": name, "pattern": pattern} for name in ("x", "*", "kafka-cluster") for pattern in (3, 4)),
    {"kind": 99, "pattern": 9, "to": 99, "allow": 9, "who": "x", "name": ""},
)


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DenyingBroker]:
    with DenyingBroker(tmp_path_factory.mktemp("broker")) as broker:
        yield broker


@pytest.fixture
def keeper(tmp_path: Path, broker: DenyingBroker) -> Keeper:
    file = tmp_path / "acl.yaml"
    file.write_text("super_users: [User:admin]\n")
    asked(broker, delete({}), 3)
    both_say(broker, Keeper(file))
    return Keeper(file)


def asked(broker: DenyingBroker, request: Request, version: int) -> Response | None:
    """What the broker answers; None where it closes the connection."""
    with Client(broker.trusted) as client:
        try:
            return client.ask(request, version)
        except EOFError:
            return None


def plain(answer: Response | None, version: int) -> Any:
    """An answer without what a broker leaves to chance: the order of ACLs."""
    if answer is None:
        return None
    said: Any = to_json(answer, version)
    for resource in said.get("resources", ()):
        resource["acls"].sort(key=lambda acl: list(map(str, acl.values())))
    for result in said.get("filterResults", ()):
        result["matchingAcls"].sort(key=lambda acl: list(map(str, acl.values())))
    said.get("resources", []).sort(key=itemgetter("resourceType", "resourceName", "patternType"))
    return said


def both_say(broker: DenyingBroker, keeper: Keeper) -> None:
    """A broker sees what it was told a little later."""
    ours = plain(keeper.ask(describe(), 3), 3)
    for _ in patiently("the broker describes the same ACLs"):
        if plain(asked(broker, describe(), 3), 3) == ours:
            return


def same(broker: DenyingBroker, keeper: Keeper, request: Request, version: int) -> Any:
    theirs, ours = plain(asked(broker, request, version), version), plain(keeper.ask(request, version), version)
    assert ours == theirs
    return ours


def test_odd_requests_get_the_same_answers(broker: DenyingBroker, keeper: Keeper) -> None:
    told = set()
    for version in VERSIONS:
        for odd in ODD:
            answer = same(broker, keeper, create(creation(**odd), creation(name="other")), version)
            told.add(repr(answer))
        both_say(broker, keeper)
        for odd in ODD:
            same(broker, keeper, describe(**odd), version)
        for odd in ODD:
            told.add(repr(same(broker, keeper, delete(odd, {"name": "nothing"}), version)))
    assert len(told) > 12
    assert repr(None) in told


@pytest.mark.parametrize("seed", range(3))
def test_random_acls_come_and_go_the_same(broker: DenyingBroker, keeper: Keeper, seed: int) -> None:
    dice = random.Random(seed)
    found = deleted = 0
    for _ in range(12):
        version = dice.choice(VERSIONS)
        same(broker, keeper, create(*(some_acl(dice) for _ in range(dice.randrange(12)))), version)
        both_say(broker, keeper)
        for _ in range(12):
            found += len(same(broker, keeper, describe(**some_filter(dice)), version)["resources"])
        filters = [some_filter(dice) for _ in range(dice.randrange(4))]
        results = same(broker, keeper, delete(*filters), version)["filterResults"]
        deleted += sum(len(result["matchingAcls"]) for result in results)
        both_say(broker, keeper)
    assert found > 50
    assert deleted > 10


def some_acl(dice: random.Random) -> Any:
    kind = dice.choice(KINDS)
    name = "kafka-cluster" if kind == 4 else dice.choice(NAMES)
    return creation(
        kind,
        name,
        dice.choice(PATTERNS),
        dice.choice(PRINCIPALS),
        dice.choice(HOSTS),
        dice.choice(OPERATIONS),
        dice.choice(PERMISSIONS),
    )


def some_filter(dice: random.Random) -> dict[str, Any]:
    every = {
        "kind": dice.choice(KINDS),
        "name": dice.choice(NAMES),
        "pattern": dice.choice((1, 2, 2, 3, 4)),
        "who": dice.choice(PRINCIPALS),
        "host": dice.choice(HOSTS),
        "to": dice.choice(OPERATIONS),
        "allow": dice.choice(PERMISSIONS),
    }
    return {word: every[word] for word in dice.sample(sorted(every), dice.choice((1, 1, 2, 3, 7)))}
