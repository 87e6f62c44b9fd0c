from __future__ import annotations

import json
import json.decoder
from functools import partial

import pytest

from proxy.core.failure import detached, name_of, raised_at


def failing() -> ValueError:
    """An error with a traceback of several frames, raised from another error."""
    try:
        try:
            raise KeyError("first")
        except KeyError as first:
            raise ValueError("second") from first
    except ValueError as error:
        return error


def test_where_an_error_was_raised_is_known() -> None:
    file, _, line = raised_at(failing()).rpartition(":")
    assert file == __file__
    assert line.isdecimal()
    assert raised_at(ValueError()) == ""


def test_the_line_of_a_handler_comes_before_that_of_another_file_in_which_it_failed() -> None:
    def handler(text: str) -> object:
        return json.loads(text)

    for called in (handler, partial(handler)):
        with pytest.raises(ValueError, match="Expecting property name") as error:
            called("{")
        own, raised = raised_at(error.value, called).split(" > ")
        assert own == f"{__file__}:{handler.__code__.co_firstlineno + 1}"
        assert raised.startswith(json.decoder.__file__)
    with pytest.raises(ValueError, match="second") as error:
        raise failing()
    assert raised_at(error.value, failing) == raised_at(error.value)


def test_whatever_was_called_has_a_name() -> None:
    class Called:
        def __call__(self) -> None: ...

    assert name_of(failing) == name_of(partial(partial(failing), 1)) == "failing"
    assert name_of(Called()).endswith("Called")


def test_a_detached_error_holds_nothing_but_what_it_says() -> None:
    error = failing()
    assert detached(error) is error
    assert str(error) == "second"
    assert error.__traceback__ is error.__context__ is error.__cause__ is None
