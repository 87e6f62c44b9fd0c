"""A case: one request before the rules, and what is to be done to its answer.

# What is refused is taken out of the request, and its refusal stands in the answer as a broker would put it: in the
# array that answers the one it was taken from, after what was served, or in its place where brokers keep the order.
# Where nothing is left that the broker could be asked, the proxy answers.
# The answer is read only where there is something to do to it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from plugins.acl.law import Rights
from plugins.acl.names import Names
from plugins.acl.walk import Array
from proxy.core.context import Context
from proxy.core.decisions import Decision, Disconnect, Forward, Reply
from proxy.protocol.errors import ErrorCode
from proxy.protocol.mirror import Chain, identity
from proxy.protocol.refuse import Refusal, refuse
from proxy.protocol.schema import Field, Response, Struct
from proxy.protocol.wire import Meaning

NOTHING_SAID: Mapping[int, str] = {}


class Refused(NamedTuple):
    """An element that was taken out: where it stood, and what is said of it. `kept`: brokers keep the order."""

    path: tuple[str, ...]
    chain: Chain
    place: int  # in that array
    error: int
    message: str | None
    kept: bool


class Case:
    """One request and what the rules made of it."""

    def __init__(self, ctx: Context, request: Any, rights: Rights, names: Names) -> None:
        self.ctx = ctx
        self.api = ctx.api
        self.version = ctx.version
        self.request: Any = request
        self.rights = rights
        self.names = names
        self.refused: list[Refused] = []
        self.after: list[Callable[[Case, Any], None]] = []  # what is done to the answer before the refusals stand in it
        self.changed = False  # the request differs from the one that came
        self.empty = False  # what was taken out was all there was

    def take_out(
        self,
        array: Array,
        errors: Mapping[int, int],
        messages: Mapping[int, str] = NOTHING_SAID,
        *,
        kept: bool = False,
        anyway: bool = False,
    ) -> None:
        """Take these elements, by index, out of the request, each with its error; `messages` are said beside those.

        `anyway`: the broker has more to say than what was asked of these.
        """
        if not errors:
            return
        elements = array.elements
        self.refused += (
            Refused(array.path, array.link(elements[index]), index, error, messages.get(error), kept)
            for index, error in errors.items()
        )
        left = [element for index, element in enumerate(elements) if index not in errors]
        setattr(array.chain[-1], array.field.name, left)
        self.changed = True
        self.empty |= not left and len(array.path) == 1 and not anyway

    def refuse(self, error: int, message: str | None = None) -> Decision:
        """Refuse the whole request."""
        answer = refuse(self.api, self.version, self.request, error, message)
        if answer is None:
            return Disconnect(f"{ErrorCode(error).name} on a {self.api.name} request that wants no answer")
        return Reply(answer)

    @property
    def has_more(self) -> bool:
        """Is there something to do to the answer?"""
        return bool(self.refused or self.after)

    def decide(self) -> Decision:
        """What becomes of the request."""
        if self.empty:
            answer = refuse(self.api, self.version, self.request, ErrorCode.NONE)
            if answer is None:
                return Disconnect(f"all of a {self.api.name} request is refused that wants no answer")
            self.finish(answer)
            return Reply(answer)
        return Forward(self.request) if self.changed else None

    def finish(self, response: Response) -> None:
        """Make the answer what it is to be."""
        for do in self.after:
            do(self, response)
        if _failed(response):
            return  # all of it, so nothing is said of what is in it
        for refused in sorted(self.refused, key=lambda refused: refused.place):
            home = _home(response, refused, self.version)
            if home is None:
                continue
            holder, field = home
            refusal = Refusal(self.api, self.version, refused.error, refused.message)
            element = refusal.of(field.kind, refused.chain)  # type: ignore[arg-type]
            answered = getattr(holder, field.name)
            answered.insert(refused.place if refused.kept else len(answered), element)


def mirror(cls: type[Struct], name: str, version: int) -> Field | None:
    """The field of an answer that answers the array `name` of what was asked."""
    return next((field for field in cls.fields if name in field.mirrors and field.present(version)), None)


def _home(response: Struct, refused: Refused, version: int) -> tuple[Any, Field] | None:
    """In whose array of the answer a refusal stands; None where what is around it failed as a whole."""
    holder: Any = response
    for depth, name in enumerate(refused.path, 1):
        field = mirror(type(holder), name, version)
        if field is None:
            raise ValueError(f"{type(response).__name__} has no place for a refusal about {'.'.join(refused.path)}")
        if depth == len(refused.path):
            return holder, field
        chain = refused.chain[: depth + 1]
        holder = next((child for child in getattr(holder, field.name) if _answers(child, chain, version)), None)
        if holder is None or _failed(holder):
            return None
    return None


def _answers(child: Struct, chain: Chain, version: int) -> bool:
    asked = ((field, identity(field, version, chain)) for field in child.fields if field.present(version))
    return all(found is None or getattr(child, field.name) == found.value for field, found in asked)


def _failed(struct: Any) -> bool:
    return any(getattr(struct, field.name) for field in struct.fields if field.meaning is Meaning.ERROR)
