"""The table of SASL is the one that its module shows; tests of the plugin hold it to what happens."""

import re

import pytest

from proxy.core import sasl
from proxy.core.sasl import AGREED, TABLE, Do, Rejected, Rejecting, State

SHOWN = {"-": Do.NOTHING} | {do.name.lower(): do for do in Do}


@pytest.mark.parametrize("state", State)
def test_the_table_is_the_one_that_is_shown(state: State) -> None:
    (row,) = re.findall(rf"^    {state.name} +(.*)$", sasl.__doc__ or "", re.MULTILINE)
    cells = re.split(r" {2,}", row.strip())
    assert [SHOWN[cell.split(" ")[0]] for cell in cells] == list(TABLE[state].values())


def test_agreeing_leads_where_tokens_are_taken() -> None:
    for state, then in AGREED.items():
        assert Do.AGREE in TABLE[state].values()
        assert Do.STEP in TABLE[then].values()


def test_what_was_lost_before_it_began_is_rejected() -> None:
    assert Rejecting("no").step(b"") == Rejected("no", "no")
