"""The SASL state table equals the one in its module's docstring; the plugin's tests check its behaviour."""

import re

import pytest

from proxy.core.sasl import authority as sasl
from proxy.core.sasl.authority import (
    AGREED,
    TABLE,
    Rejected,
    Rejecting,
    SaslAction,
    SaslState,
    other_mechanism,
    other_principal,
    rejected,
)
from proxy.core.sasl.name import ClaimError

SHOWN = {"-": SaslAction.NOTHING} | {do.name.lower(): do for do in SaslAction}


@pytest.mark.parametrize("state", SaslState)
def test_the_table_is_the_one_that_is_shown(state: SaslState) -> None:
    (row,) = re.findall(rf"^    {state.name} +(.*)$", sasl.__doc__ or "", re.MULTILINE)
    cells = re.split(r" {2,}", row.strip())
    assert [SHOWN[cell.split(" ")[0]] for cell in cells] == list(TABLE[state].values())


def test_agreeing_leads_where_tokens_are_taken() -> None:
    for state, then in AGREED.items():
        assert SaslAction.AGREE in TABLE[state].values()
        assert SaslAction.STEP in TABLE[then].values()


def test_what_was_lost_before_it_began_is_rejected() -> None:
    assert Rejecting(Rejected("no", "why")).step(b"") == Rejected("no", "why")


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (ClaimError("odd"), "Authentication failed during re-authentication due to invalid credentials with SASL "),
        (other_mechanism("PLAIN", "X"), "SASL mechanism 'X' requested by client is not supported for re-authentica"),
        (other_principal("User:a", "User:b:c"), "Cannot change principals during re-authentication from User.a: Us"),
    ],
)
def test_a_refused_client_is_told_what_a_broker_tells_it(error: ClaimError, message: str) -> None:
    said = rejected(error, "PLAIN", again=True)
    assert said.message.startswith(message)
    assert said.why == str(error)
