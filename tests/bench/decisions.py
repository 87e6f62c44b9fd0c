"""Decisions a second with 10,000 ACLs in force, in one thread of plain Python.

    python -m tests.bench.decisions

The ACLs are those of a large company: 500 applications, each with topics and groups of its own by prefix and by name,
some denies, some networks, a few rules for everybody. The questions are of all kinds, in random order. Each has a
`Client` of its own, so that no question profits from the one before.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator

from rules import Client, Operation, ResourceType, Snapshot
from rules.bindings import Binding, rules
from rules.load import compiled
from rules.model import AclFile
from rules.values import Pattern
from rules.vocabulary import EVERYBODY, PatternType, Permission

ACLS = 10_000
APPLICATIONS = 500
QUESTIONS = 200_000
TARGET = 200_000  # decisions a second
REPEATS = 10
TOPIC, GROUP, CLUSTER = ResourceType.TOPIC, ResourceType.GROUP, ResourceType.CLUSTER
OPERATIONS = (Operation.READ, Operation.WRITE, Operation.DESCRIBE)

Asked = tuple[Client, Operation, ResourceType, str]


def bindings(dice: random.Random) -> Iterator[Binding]:
    """An endless series of ACLs, in the proportions in which people write them."""
    yield Binding(CLUSTER, literal("kafka-cluster"), EVERYBODY, "*", Operation.IDEMPOTENT_WRITE, Permission.ALLOW)
    while True:
        application = dice.randrange(APPLICATIONS)
        principal = EVERYBODY if dice.random() < 0.01 else f"User:app-{application}"
        if dice.random() < 0.3:
            pattern = Pattern(PatternType.PREFIXED, f"app-{application}-"[: dice.randrange(6, 9)])
        else:
            pattern = literal(f"app-{dice.randrange(APPLICATIONS)}-topic-{dice.randrange(20)}")
        permission = Permission.DENY if dice.random() < 0.05 else Permission.ALLOW
        host = f"10.0.{dice.randrange(9)}.{dice.randrange(9)}" if dice.random() < 0.1 else "*"
        kind = GROUP if dice.random() < 0.2 else TOPIC
        yield Binding(kind, pattern, principal, host, dice.choice(OPERATIONS), permission)


def literal(name: str) -> Pattern:
    return Pattern(PatternType.LITERAL, name)


def snapshot(dice: random.Random) -> Snapshot:
    """The compiled ACLs, exactly 10,000."""
    endless = bindings(dice)
    some: set[Binding] = set()
    while len(some) < ACLS:
        some.add(next(endless))
    return compiled(AclFile.model_construct(acls=tuple(acl for one in sorted(some) for acl in rules([one]))))


def questions(dice: random.Random) -> list[Asked]:
    """The questions: mostly about topics, and mostly about those of the client's own application."""
    asked: list[Asked] = []
    for _ in range(QUESTIONS):
        application = dice.randrange(APPLICATIONS)
        about = application if dice.random() < 0.8 else dice.randrange(APPLICATIONS)
        client = Client(f"User:app-{application}", f"10.0.{dice.randrange(9)}.{dice.randrange(9)}")
        kind = GROUP if dice.random() < 0.1 else TOPIC
        asked.append((client, dice.choice(OPERATIONS), kind, f"app-{about}-topic-{dice.randrange(20)}"))
    return asked


def measure(rules: Snapshot, asked: list[Asked]) -> float:
    """Decisions a second of CPU time, the best of several runs: other work of the machine can only slow a run down."""
    decide = rules.decide
    best = float("inf")
    for _ in range(REPEATS):
        begun = time.process_time()
        for client, operation, kind, name in asked:
            decide(client, operation, kind, name)
        best = min(best, time.process_time() - begun)
    return len(asked) / best


def main() -> int:
    dice = random.Random(10_000)
    rules, asked = snapshot(dice), questions(dice)
    allowed = sum(rules.decide(*question).allowed for question in asked)
    rate = measure(rules, asked)
    verdict = "met" if rate >= TARGET else "MISSED"
    print(f"{len(rules.rules):,} ACLs, {len(asked):,} questions, {allowed / len(asked):.0%} of them allowed")
    print(f"{rate:,.0f} decisions a second of one processor ({1e6 / rate:.2f} us each); target {TARGET:,}: {verdict}")
    return 0 if rate >= TARGET else 1


if __name__ == "__main__":
    raise SystemExit(main())
