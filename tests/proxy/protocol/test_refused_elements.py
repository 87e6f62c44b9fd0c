"""The array of a response for a refused element. `tests/plugins/acl/test_refusals.py` tests whole responses."""

from __future__ import annotations

from proxy.protocol.api import DESCRIBE_GROUPS, LIST_GROUPS
from proxy.protocol.refused_elements import mirror


def test_the_place_of_a_refusal_is_the_array_that_answers_where_it_was() -> None:
    assert mirror(DESCRIBE_GROUPS.response, "groups", 5) is DESCRIBE_GROUPS.response.field["groups"]
    assert mirror(LIST_GROUPS.response, "groups", 5) is None
