"""Decorators: how an author says which messages and events a method of a plugin is for.

Rules:
* A decorator only marks the method; `Plugin` collects the marks of its class (`marked_wishes` and the others).
* A misspelt class or field raises TypeError when the plugin's module is imported.
* A method may have several decorators: it is called for everything that any of them names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from difflib import get_close_matches
from typing import Any, TypeVar

from proxy.core.events import Fact
from proxy.core.request_topics import TOPICS
from proxy.core.wish import Carrying, Wish
from proxy.protocol.api import Api
from proxy.protocol.schema import Message, Request, Response

H = TypeVar("H", bound=Callable[..., Any])


def on_request(what: type[Request] | Carrying, fields: str | Iterable[str] | None = None) -> Callable[[H], H]:
    """The handler looks at requests on their way to the broker."""
    return _wish("@on_request", Request, what, fields)


def on_response(what: type[Response] | Carrying, fields: str | Iterable[str] | None = None) -> Callable[[H], H]:
    """The handler looks at responses on their way to the client."""
    return _wish("@on_response", Response, what, fields)


def observe(what: type[Request] | type[Response], fields: str | Iterable[str] | None = None) -> Callable[[H], H]:
    """The method is shown (ctx, message): requests as they come, responses as they leave. It decides nothing."""
    return _wish("@observe", Request if issubclass(what, Request) else Response, what, fields, observes=True)


def observe_topics(*requests: type[Request]) -> Callable[[H], H]:
    """The method is shown (ctx, topics): the topics that Produce and Fetch requests name. Nothing else of them is read.

    Topics are names, or ids of 16 bytes in versions that have ids in place of names. The method decides nothing.
    """

    def mark(observer: H) -> H:
        for request in reversed(requests):
            if request not in TOPICS:
                known = ", ".join(cls.__name__ for cls in TOPICS)
                raise TypeError(f"@observe_topics: {request.__name__} is none of {known}; @observe shows all others")
            wish = Wish(Request, request, frozenset({TOPICS[request][0]}), observes=True, topics=True)
            vars(observer).setdefault("_wishes", []).insert(0, wish)
        return observer

    return mark


def on_outcome(*apis: Api) -> Callable[[H], H]:
    """The method is told (ctx, outcome) of each request of these APIs, or of every API if none is named."""

    def mark(observer: H) -> H:
        observer._outcomes = apis  # type: ignore[attr-defined]
        return observer

    return mark


def before_answer(*apis: Api) -> Callable[[H], H]:
    """The method takes steps before an answer of these APIs leaves, or of every API if none is named.

    It is given (ctx, outcome), for answers by a broker, a plugin or the proxy. The outcome is final except for `left`.
    The method returns steps, or None. Answers stay in order: while it waits, the broker is not read. It decides
    nothing.
    """

    def mark(holder: H) -> H:
        holder._holds = apis  # type: ignore[attr-defined]
        return holder

    return mark


def on_event(*kinds: type[Fact]) -> Callable[[H], H]:
    """The method is told (connection, event) of each event of these kinds (`events.py`, `connection_events.py`)."""

    def mark(observer: H) -> H:
        observer._events = kinds  # type: ignore[attr-defined]
        return observer

    return mark


def on_unsupported(request: type[Request]) -> Callable[[H], H]:
    """The handler is given (ctx) for a request of this API in a version that nobody knows; its body is not read."""

    def mark(handler: H) -> H:
        handler._unsupported = request.api  # type: ignore[attr-defined]
        return handler

    return mark


def on_unreadable(request: type[Request]) -> Callable[[H], H]:
    """The handler is given (ctx) for a request of this API that cannot be read. Its steps end in an answer, or None.

    After None the conversation ends, as after any request that cannot be read.
    """

    def mark(handler: H) -> H:
        handler._unreadable = request.api  # type: ignore[attr-defined]
        return handler

    return mark


def _wish(
    where: str, side: Any, what: Any, fields: str | Iterable[str] | None, *, observes: bool = False
) -> Callable[[H], H]:
    if isinstance(what, Carrying):
        if fields is not None:
            raise TypeError(f"{where}: carrying() says itself which fields; leave `fields` out")
        wish = Wish(side, what, None)
    else:
        wish = Wish(side, what, _checked(where, side, what, fields), observes)

    def mark(handler: H) -> H:
        vars(handler).setdefault("_wishes", []).insert(0, wish)  # decorators are applied from the last line up
        return handler

    return mark


def _checked(where: str, side: Any, what: type[Message], fields: str | Iterable[str] | None) -> frozenset[str] | None:
    """The names of the fields, all of which exist."""
    if not (isinstance(what, type) and issubclass(what, side)):
        raise TypeError(f"{where}: {getattr(what, '__name__', what)!r} is no {side.__name__} class")
    if fields is None:
        return None
    names = frozenset(fields.split() if isinstance(fields, str) else fields)
    for name in sorted(names - what.field.keys()):
        close = get_close_matches(name, what.field, 1)
        raise TypeError(
            f"{where}: {what.__name__} has no field {name!r}" + (f"; did you mean {close[0]!r}?" if close else "")
        )
    return names
