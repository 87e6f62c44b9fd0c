"""Kafka's words, and what they imply."""

import pytest

from rules.vocabulary import ASKED, EVERY_OPERATION, Operation, Permission, ResourceType, answers, spoken

ALLOW, DENY = Permission.ALLOW, Permission.DENY


@pytest.mark.parametrize("text", ["DescribeConfigs", "DESCRIBE_CONFIGS", "describeconfigs", "describe-configs"])
def test_a_word_is_known_in_every_spelling_of_kafkas(text: str) -> None:
    assert spoken(Operation, text) is Operation.DESCRIBE_CONFIGS


@pytest.mark.parametrize("text", ["Any", "Unknown", "Raed", ""])
def test_what_no_acl_can_say_is_no_word(text: str) -> None:
    assert spoken(Operation, text) is None


def test_a_word_is_written_as_kafkas_tools_write_it() -> None:
    assert Operation.TWO_PHASE_COMMIT.word == "TwoPhaseCommit"
    assert ResourceType.TRANSACTIONAL_ID.word == "TransactionalId"


def operations(mask: int) -> set[Operation]:
    return {operation for operation in Operation if mask >> operation & 1}


def test_an_allow_implies_describe_and_a_deny_implies_nothing() -> None:
    for operation in (Operation.READ, Operation.WRITE, Operation.DELETE, Operation.ALTER):
        assert operations(answers(ALLOW, operation)) == {operation, Operation.DESCRIBE}
        assert operations(answers(DENY, operation)) == {operation}
    assert operations(answers(ALLOW, Operation.ALTER_CONFIGS)) == {Operation.ALTER_CONFIGS, Operation.DESCRIBE_CONFIGS}
    assert operations(answers(ALLOW, Operation.CREATE)) == {Operation.CREATE}


def test_all_answers_for_everything() -> None:
    assert answers(ALLOW, Operation.ALL) == answers(DENY, Operation.ALL) == EVERY_OPERATION
    assert operations(EVERY_OPERATION) == set(Operation)


def test_every_operation_is_asked_of_something() -> None:
    assert set().union(*ASKED.values()) == set(Operation) - {Operation.ALL}
    assert ASKED.keys() == set(ResourceType)
