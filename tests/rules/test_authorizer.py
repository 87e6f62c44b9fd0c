"""The rules decide as Kafka's StandardAuthorizer does, with ACLs that go through a rules file."""

import random
from collections.abc import Iterator

import pytest

from rules import Client, Snapshot, bindings, examine_text, write
from rules.bindings import Binding
from rules.model import AclFile
from rules.values import EVERY
from rules.vocabulary import Operation, Permission, ResourceType
from tests.proxy.protocol.oracles.kafka import Kafka, KafkaRefusedError
from tests.rules.authorizer import Authorizer, Case, Question, case

TOPIC = ResourceType.TOPIC
QUESTIONS = 40  # to each set of ACLs


@pytest.fixture(scope="module")
def authorizer() -> Iterator[Authorizer]:
    with Kafka("kafka-4.3.1") as kafka:
        yield Authorizer(kafka)


def in_force(of: Case) -> tuple[Snapshot, str]:
    """The ACLs of a case, by way of the file that says them."""
    file = AclFile.model_construct(
        super_users=of.super_users,
        unmatched="allow" if of.everyone else "deny",
        acls=tuple(bindings.rules(of.bindings)),
    )
    text = write.file_text(file)
    snapshot, problems = examine_text(text, "acl.yaml", {})
    assert snapshot is not None, f"{text}\n{problems}"
    return snapshot, text


def answer(snapshot: Snapshot, question: Question) -> bool:
    client = Client(question.principal, question.host)
    if question.name is None:
        return snapshot.decide_by_type(client, question.operation, question.kind).allowed
    return snapshot.decide(client, question.operation, question.kind, question.name).allowed


def agree(authorizer: Authorizer, seed: int, sets: int) -> dict[bool, int]:
    dice = random.Random(seed)
    found = {True: 0, False: 0}
    for _ in range(sets):
        asked = case(dice, QUESTIONS)
        snapshot, text = in_force(asked)
        kept = {binding for acl in snapshot.file.acls for binding in bindings.bindings(acl)}
        assert kept == asked.bindings, text
        for question, expected in zip(asked.questions, authorizer.answers(asked), strict=True):
            assert answer(snapshot, question) == expected, f"{question}: Kafka says {expected} to\n{text}"
            found[expected] += 1
    return found


def test_thousands_of_random_questions_are_answered_as_kafka_answers_them(authorizer: Authorizer) -> None:
    found = agree(authorizer, seed=5, sets=75)
    assert min(found.values()) > 300, f"{found}: the questions are too one-sided to tell anything"


@pytest.mark.long
def test_a_hundred_thousand_random_questions_are_answered_as_kafka_answers_them(authorizer: Authorizer) -> None:
    found = agree(authorizer, seed=679, sets=2_500)
    print(f"\n{sum(found.values()):,} questions agree: {found[True]:,} allowed, {found[False]:,} denied")


def test_a_client_that_is_called_everybody_is_refused_where_kafka_throws(authorizer: Authorizer) -> None:
    everything = Binding(TOPIC, EVERY, "User:*", "*", Operation.ALL, Permission.ALLOW)
    questions = tuple(Question("User:*", "127.0.0.1", Operation.READ, TOPIC, name) for name in ("a", None))
    asked = Case((), True, frozenset({everything}), questions)
    for question in questions:
        with pytest.raises(KafkaRefusedError, match="duplicate element"):
            authorizer.answers(asked._replace(questions=(question,)))
        assert not answer(in_force(asked)[0], question)
    above = asked._replace(super_users=("User:*",))
    assert authorizer.answers(above) == [answer(in_force(above)[0], question) for question in questions] == [True] * 2
