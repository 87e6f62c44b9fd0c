"""Which texts are valid names."""

import pytest

from proxy.core.sasl.name import LONGEST, ClaimError, name
from tests.proxy.core.sasl.odd import NAMES


@pytest.mark.parametrize("said", ["alice", "a", "zoë", "東京", "a b", "CN=alice,O=x", "*", "a:b", "x" * LONGEST, "😀"])
def test_a_name_is_taken_as_it_is(said: str) -> None:
    assert name(said.encode()) == said


@pytest.mark.parametrize(("said", "why"), NAMES)
def test_an_odd_name_is_none(said: bytes, why: str) -> None:
    with pytest.raises(ClaimError) as raised:
        name(said)
    assert str(raised.value) == why
