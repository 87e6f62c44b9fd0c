"""Former names of a module."""

from __future__ import annotations

import pytest

from proxy.text.former import former_names


def test_a_former_name_is_the_new_one_and_warns_where_it_is_used() -> None:
    attribute = former_names("proxy.text.former", {"old_names": "former_names"})
    with pytest.warns(DeprecationWarning, match=r"^proxy\.text\.former\.old_names is called former_names now$") as told:
        assert attribute("old_names") is former_names
    assert told[0].filename == __file__


def test_any_other_name_is_unknown_as_in_other_modules() -> None:
    with pytest.raises(AttributeError, match=r"^module 'proxy\.text\.former' has no attribute 'other'$"):
        former_names("proxy.text.former", {})("other")
