"""Steps run one at a time; results and errors reach them, and are not kept."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Generator
from typing import Any

import pytest

from proxy.core.decisions import Sleep, Step
from proxy.core.driving import StepDriver


def asking() -> Generator[Step, Any, list[Any]]:
    """Three steps; gives the result of each."""
    heard = []
    for seconds in range(3):
        try:
            heard.append((yield Sleep(seconds)))
        except ValueError as error:
            heard.append(str(error))
    return heard


def test_each_step_hears_what_came_of_it() -> None:
    driver = StepDriver(asking())
    assert driver.advance()
    assert driver.step == Sleep(0)
    driver.give("first")
    assert driver.advance()
    driver.throw(ValueError("second"))
    assert driver.advance()
    assert driver.step == Sleep(2)
    assert not driver.advance(), "what is given once is not given twice"
    assert driver.result == ["first", "second", None]


def test_what_the_steps_raise_leaves_and_is_not_kept() -> None:
    class BugError(Exception):
        pass

    driver = StepDriver(asking())
    assert driver.advance()
    bug = BugError()
    gone = weakref.ref(bug)
    driver.throw(bug)
    gc.disable()
    try:
        with pytest.raises(BugError):
            driver.advance()
        del bug
        assert gone() is None, "no circle goes through its traceback"
    finally:
        gc.enable()
