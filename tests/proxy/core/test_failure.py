from __future__ import annotations

from functools import partial

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
