"""The option `topic`: which names are valid."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from plugins.audit.topic import AuditTopic


@pytest.mark.parametrize("name", ["doorkeeper-audit", "a.b_c-1", "x" * 249])
def test_a_name_that_kafka_takes_is_taken(name: str) -> None:
    assert AuditTopic(name=name).name == name


@pytest.mark.parametrize("name", ["", ".", "..", "a b", "naïve", "x" * 250, "a/b"])
def test_a_name_that_kafka_refuses_is_an_error_with_a_way_out(name: str) -> None:
    with pytest.raises(ValidationError, match=r'no topic can be called .*; use letters, digits, "\."'):
        AuditTopic(name=name)
