"""Wishes: what a handler wants to see, and handlers bound to their plugins.

Rules:
* `fields` names the top-level fields that the handler looks at; the others stay unread. Without it the whole message is
  decoded. In a version that has none of the fields, the handler is not called. If all wanted fields of a response are
  tagged fields of the message itself, the handler is not called for a response without such fields either.
* `carrying()` stands for every message that has such a field somewhere, and for the top-level fields that lead to it.
* Handlers of one message share the fields that were read: a handler may find more of them than it asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from proxy.core.context import Context
from proxy.core.failure import name_of
from proxy.core.fast_path import FastPath
from proxy.protocol.schema import Message, Request, Response
from proxy.protocol.walk import leading
from proxy.protocol.wire import Meaning


@dataclass(frozen=True)
class Carrying:
    """All messages that have a field of one of these meanings, at any depth."""

    meanings: frozenset[Meaning]

    def fields(self, cls: type[Message]) -> frozenset[str]:
        """The top-level fields of `cls` that contain such a field; all of them if one is such a field itself."""
        if any(field.meaning in self.meanings for field in cls.fields):
            return frozenset(field.name for field in cls.fields)
        return frozenset(field.name for field in leading(cls, *self.meanings))


def carrying(*meanings: Meaning) -> Carrying:
    """For `on_request` and `on_response`: every message that has a field of one of these meanings."""
    return Carrying(frozenset(meanings))


@dataclass(frozen=True)
class Wish:
    """What a handler wants to see. `names` None: everything. `observes`: it decides nothing."""

    side: type[Request] | type[Response]
    what: type[Message] | Carrying
    names: frozenset[str] | None
    observes: bool = False
    topics: bool = False  # the handler is shown the topics in these fields, and no message

    def of(self, cls: type[Message]) -> frozenset[str] | None:
        """The fields wanted of this message, None for all of it, an empty set for nothing."""
        if isinstance(self.what, Carrying):
            return self.what.fields(cls)
        return self.names if self.what is cls else frozenset()


@dataclass(frozen=True)
class Handler:
    """A handler, bound to its plugin. `position` is the plugin's place in the order of the configuration.

    `needed` says whether the handler wants to see the response that begins now, and `on_error` whether it wants to see
    it if the response has an error of its own (`error_code`). `fast_path` knows which requests the handler need not
    see. `unneeded_after` is a fast path: the handler never needs the answers to requests that it let pass.
    `unneeded_while` is one too: the handler does not need them while `Context.unneeded` of the sample says so.
    `in_turn`: the handler decides on a request when it is its turn at the broker, and not while an older one may wait
    there. `over_records`: it may go over the records that it wants to see, and needs slices where they may be many.
    """

    call: Callable[..., Any]
    wish: Wish
    position: int
    needed: Callable[[Context], bool] | None = None
    fast_path: FastPath | None = None
    unneeded_after: FastPath | None = None
    unneeded_while: FastPath | None = None
    on_error: Callable[[Context], bool] | None = None
    in_turn: bool = False
    over_records: bool = True

    def wants(self, ctx: Context, message: Message) -> bool:
        """Whether it wants to see this message, which was read."""
        if self.needed is None or self.needed(ctx):
            return True
        return self.on_error is not None and bool(getattr(message, "error_code", 0)) and self.on_error(ctx)

    @cached_property
    def name(self) -> str:
        """Its name for people: `Address.endpoints`."""
        return name_of(self.call)

    def __str__(self) -> str:
        return self.name
