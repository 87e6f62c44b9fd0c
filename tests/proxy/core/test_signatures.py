"""A method of a plugin that cannot be called as the proxy calls it is an error when its class is made."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial, partialmethod, wraps
from typing import Any

import pytest

from proxy.core.decorators import (
    before_answer,
    observe,
    observe_topics,
    on_event,
    on_outcome,
    on_request,
    on_response,
    on_unreadable,
    on_unsupported,
)
from proxy.core.events import Connected
from proxy.core.plugin import Plugin
from proxy.core.signatures import METHODS, check_method
from proxy.protocol.messages.metadata import MetadataRequest, MetadataResponse
from proxy.protocol.messages.produce import ProduceRequest


@pytest.mark.parametrize(
    ("mark", "called"),
    [
        (on_request(MetadataRequest), "ctx, request"),
        (on_response(MetadataResponse), "ctx, response"),
        (observe(MetadataResponse), "ctx, message"),
        (observe_topics(ProduceRequest), "ctx, topics"),
        (on_outcome(), "ctx, outcome"),
        (before_answer(), "ctx, outcome"),
        (on_event(Connected), "connection, event"),
        (on_unsupported(MetadataRequest), "ctx"),
        (on_unreadable(MetadataRequest), "ctx"),
    ],
)
def test_a_handler_with_other_arguments_is_told_what_it_should_take(mark: Any, called: str) -> None:
    def seen(self: Any, *, key: str) -> None: ...

    with pytest.raises(TypeError) as error:
        type("Mistaken", (Plugin,), {"seen": mark(seen)})
    taken = "Mistaken.seen takes (self, *, key), and is called with"
    assert str(error.value) == f"{taken} ({called}); write seen(self, {called})"


@pytest.mark.parametrize("name", METHODS)
def test_a_method_of_plugins_with_other_arguments_is_told_what_it_should_take(name: str) -> None:
    def mistaken(self: Any, first: Any, second: Any, third: Any) -> None: ...

    called = METHODS[name]
    with pytest.raises(TypeError) as error:
        type("Mistaken", (Plugin,), {name: mistaken})
    assert str(error.value).startswith(f"Mistaken.{name} takes (self, first, second, third), and is called with (")
    assert str(error.value).endswith(f"; write {name}({', '.join(('self', *called))})")


def test_the_methods_are_those_of_plugins_and_each_can_be_called_so() -> None:
    own = {name for name, member in vars(Plugin).items() if callable(member) and not isinstance(member, type)}
    assert METHODS.keys() == {name for name in own if not name.startswith("_")}
    for name, called in METHODS.items():
        check_method(Plugin, name, vars(Plugin)[name], called)


@pytest.mark.parametrize("name", ["start", "stop", "seen"])
def test_a_method_that_nobody_would_await_is_told_of(name: str) -> None:
    async def waiting(self: Any, *arguments: Any) -> None: ...

    members = {name: on_request(MetadataRequest)(waiting) if name == "seen" else waiting}
    with pytest.raises(TypeError, match=rf"^Mistaken\.{name} is async, and nobody awaits it; write it without async$"):
        type("Mistaken", (Plugin,), members)


# Python 3.13 warns that 3.14 gives `self` to a partial.
PARTIAL = (
    partial(lambda given, ctx, request: None, 1)
    if sys.version_info < (3, 14)
    else partial(lambda given, self, ctx, request: None, 1)
)


class Seeing(Plugin):
    @on_request(MetadataRequest)
    def seen(self, ctx: Any, request: Any) -> None: ...


def test_what_takes_the_place_of_a_handler_is_marked_too() -> None:
    def seen(self: Any, ctx: Any, request: Any) -> None: ...

    said = r"^Mistaken\.seen takes the place of a handler, and is none; mark it as the other is$"
    with pytest.raises(TypeError, match=said):
        type("Mistaken", (Seeing,), {"seen": seen})
    (handler,) = type("Right", (Seeing,), {"seen": on_request(MetadataRequest)(seen)})().handlers()
    assert handler.call.__func__ is seen
    assert not [*type("Without", (Seeing,), {"seen": None})().handlers()]


def adding(function: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator that adds an argument."""

    @wraps(function)
    def called(*arguments: Any) -> Any:
        return function(*arguments, 1)

    return called


@pytest.mark.parametrize(
    "seen",
    [
        adding(lambda self, ctx, request, added: None),
        lambda *arguments: None,
        lambda self, ctx, request, more=1: None,
        pytest.param(PARTIAL, marks=pytest.mark.filterwarnings("ignore:functools.partial will be:FutureWarning")),
        partialmethod(lambda self, given, ctx, request: None, 1),
        staticmethod(lambda ctx, request: None),
        classmethod(lambda cls, ctx, request: None),
    ],
)
def test_what_can_be_called_so_is_taken_however_it_was_made(seen: Any) -> None:
    on_request(MetadataRequest)(seen)
    plugin = type("Right", (Plugin,), {"seen": seen})()
    (handler,) = plugin.handlers()
    assert handler.call(None, None) is None
