"""The page of the schema."""

import pytest

from plugins.audit.page import PAGE, renewed, tables
from plugins.audit.schema import KINDS, table


def test_the_page_is_up_to_date() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == renewed(page), "run: python -m plugins.audit.page"


def test_every_kind_and_field_is_explained() -> None:
    text = tables()
    for name in (*KINDS, *(one.name for outer in table() for one in (outer, *outer.inner))):
        assert f"| `{name}` | " in text


def test_a_page_without_tables_is_not_overwritten() -> None:
    with pytest.raises(ValueError, match="has no table of kinds"):
        renewed("# Audit\n")
