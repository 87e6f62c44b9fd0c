"""Error codes: Kafka's numbers and names, and numbers that have no name."""

import pytest

from proxy.protocol.errors import ErrorCode


def test_a_code_is_found_by_its_number_and_by_its_name() -> None:
    assert ErrorCode(29) is ErrorCode["TOPIC_AUTHORIZATION_FAILED"] is ErrorCode.TOPIC_AUTHORIZATION_FAILED


def test_a_code_is_found_by_the_name_that_it_had_before() -> None:
    assert ErrorCode["NOT_LEADER_FOR_PARTITION"] is ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_a_code_is_a_number() -> None:
    assert ErrorCode.NOT_LEADER_OR_FOLLOWER == 6
    assert f"{ErrorCode.NOT_LEADER_OR_FOLLOWER!r}" == "<ErrorCode.NOT_LEADER_OR_FOLLOWER: 6>"


def test_kafka_has_135_codes_without_a_gap() -> None:
    assert sorted(ErrorCode) == list(range(-1, 134))


@pytest.mark.parametrize("number", [134, -2, 0x7FFF, -0x8000])
def test_a_number_without_a_name_is_an_error_like_any_other(number: int) -> None:
    code = ErrorCode(number)
    assert code == number
    assert code.name == f"UNKNOWN_{number}".replace("-", "MINUS_")
    assert not code.retriable


def test_a_number_without_a_name_does_not_join_the_table() -> None:
    ErrorCode(1000)
    assert len(ErrorCode) == 135


def test_what_fits_no_error_field_is_refused() -> None:
    with pytest.raises(ValueError, match="40000"):
        ErrorCode(40000)


def test_retriable_is_what_kafka_says() -> None:
    assert ErrorCode.NOT_LEADER_OR_FOLLOWER.retriable
    assert not ErrorCode.TOPIC_AUTHORIZATION_FAILED.retriable
    assert not ErrorCode.NONE.retriable
