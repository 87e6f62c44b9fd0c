"""The client's half of SCRAM against our own server's half, and against brokers that are none."""

from __future__ import annotations

import re

import pytest

from proxy.auth.passwords import ScramExchange
from proxy.auth.speakers import LONGEST, MOST_ROUNDS, ByScram, LoginError
from proxy.auth.verifiers import verifiers
from proxy.core.sasl.authority import Challenge
from proxy.core.sasl.scram import ITERATIONS, MOST_ITERATIONS

USERS = {"doorkeeper": verifiers("dk-secret")}


def speaker() -> ByScram:
    return ByScram("SCRAM-SHA-256", "doorkeeper", "dk-secret")


def challenge(speaks: ByScram, rounds: int = ITERATIONS) -> bytes:
    """The first message of a broker that wants so many rounds of hashing."""
    first = ScramExchange(lambda: USERS, "SCRAM-SHA-256", False).step(speaks.first())
    assert isinstance(first, Challenge)
    return re.sub(rb"i=\d+", b"i=%d" % rounds, first.token)


@pytest.mark.parametrize("final", [b"v=AAAA", b"", b"\xff", b"e=other-error"])
def test_a_broker_that_cannot_prove_itself_is_refused(final: bytes) -> None:
    speaks = speaker()
    assert speaks.answer(challenge(speaks))
    with pytest.raises(LoginError, match="could not prove"):
        speaks.answer(final)


@pytest.mark.parametrize("rounds", [ITERATIONS, MOST_ITERATIONS, MOST_ROUNDS])
def test_as_many_rounds_are_computed_as_kafka_allows_and_older_tools_set(rounds: int) -> None:
    speaks = speaker()
    assert speaks.answer(challenge(speaks, rounds))


@pytest.mark.parametrize("rounds", [MOST_ROUNDS + 1, 10_000_000])
def test_a_broker_that_wants_more_rounds_is_refused(rounds: int) -> None:
    """Ten millions would take some seconds."""
    speaks = speaker()
    with pytest.raises(LoginError, match=f"asks for {rounds:,} rounds .* 4,096 to 100,000 are computed"):
        speaks.answer(challenge(speaks, rounds))


@pytest.mark.parametrize("rounds", [0, 1, ITERATIONS - 1, 10**9])
def test_what_is_no_number_of_rounds_at_all_is_refused(rounds: int) -> None:
    """Fewer rounds would let a broker that took another's place try passwords faster."""
    speaks = speaker()
    with pytest.raises(LoginError):
        speaks.answer(challenge(speaks, rounds))


def test_a_message_without_end_is_not_read() -> None:
    speaks = speaker()
    with pytest.raises(LoginError, match="answered SCRAM with"):
        speaks.answer(challenge(speaks) + b"," + b"x" * LONGEST)
