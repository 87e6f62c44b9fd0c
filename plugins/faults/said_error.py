"""Said error: how an answer comes to say an error about what a fault is about.

# Before the broker: what is meant of the request never reaches it. The rest is served, and the answer has both.
# After the broker: what was asked for is done, and its answer says that it failed.
# An error stands where brokers say it, unless a level is named. What stands beside an error in a broker's answer is
# empty, and so it is here. What says what the answer is about stays.
# ErrorCode.NONE is said in the same way: all is well, and the broker never saw it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from plugins.faults.about import Thing, at_level
from plugins.faults.effect import Target, no_answer
from proxy.plugin import (
    API_VERSIONS,
    Context,
    Decision,
    ErrorCode,
    Forward,
    Meaning,
    Reply,
    Response,
    Struct,
    refuse,
    turn,
    turns,
)
from proxy.plugin.schema import (
    IDENTITY,
    IDENTITY_NAMES,
    LEFT,
    TOP,
    Array,
    Field,
    RefusalWriter,
    RefusedElement,
    blank,
    errors,
    level,
    levels,
    usual_level,
)
from rules.match import Subject

OF_ELEMENTS = IDENTITY | {Meaning.MEMBER_ID}  # what says which element of the request it answers


class SaidError(NamedTuple):
    """One error, where it stands (None: where brokers say it), and a text beside it."""

    code: ErrorCode
    level: str | None = None
    message: str | None = None

    def level_in(self, ctx: Context) -> str:
        """The level at which it stands in answers of this API and version."""
        return self.level or usual_level(ctx.api, ctx.version, self.code)

    def cannot(self, target: Target) -> str | None:
        """Why no answer can say it; None if one can."""
        ctx = target.ctx
        silent = no_answer(target)
        if silent is not None:
            return silent
        if self.level_in(ctx) not in levels(ctx.api.response, ctx.version):
            return f'{ctx.api.name} v{ctx.version} answers have no error at the level "{self.level_in(ctx)}"'
        return None

    def cannot_before(self, target: Target) -> str | None:
        """Why it cannot be said instead of the broker's answer; None if it can."""
        cannot = self.cannot(target)
        if cannot is not None:
            return cannot
        ctx, name = target.ctx, self.level_in(target.ctx)
        if not target.all_meant:
            usual = name == usual_level(ctx.api, ctx.version, self.code)
            return None if usual else f'only a part of the request is meant, and that is not said at the level "{name}"'
        answer = refuse(ctx.api, ctx.version, target.message, self.code, self.message, self.level)
        is_said = answer is not None and any(True for _ in _saying(answer, ctx.version, name, self.code))
        return None if is_said else f'the request names nothing that is answered at the level "{name}"'

    def cannot_after(self, target: Target) -> str | None:
        """Why it cannot be said in this answer of the broker; None if it can."""
        missing = f"the answer has no {self.level_in(target.ctx)} that is meant"
        return self.cannot(target) or (None if any(True for _ in self._meant(target)) else missing)

    def before(self, target: Target) -> Forward | Reply:
        """Say it instead of the broker."""
        ctx = target.ctx
        if not target.all_meant:
            return self._take_out(target)
        answer = refuse(ctx.api, ctx.version, target.message, self.code, self.message, self.level)
        assert answer is not None
        # KIP-511: a broker that does not know the version answers in one that every client does.
        unknown = ctx.api is API_VERSIONS and self.code is ErrorCode.UNSUPPORTED_VERSION
        return Reply(answer, version=0 if unknown else None)

    def after(self, target: Target) -> Decision:
        """Say it in the broker's answer."""
        for struct in list(self._meant(target)):
            self._fail(target.ctx, struct)
        return Forward(target.message)

    def _meant(self, target: Target) -> Iterator[Struct]:
        """The structs of an answer that are to carry the error."""
        return target.structs(self.level_in(target.ctx))

    def _fail(self, ctx: Context, struct: Struct) -> None:
        """Have a struct of an answer say that what it is about failed, and nothing else of that."""
        cls: type[Struct] = type(struct)
        fresh, left, said = blank(cls), LEFT.get(ctx.api, {}), errors(type(struct), ctx.version)
        for field in struct.fields:
            if not field.present(ctx.version) or self._stays(cls, field):
                continue
            nullable = field.may_be_null(ctx.version)
            value = left.get(field.name, getattr(fresh, field.name))
            if field in said:
                value = self.code
            elif field.meaning is Meaning.ERROR_MESSAGE:
                value = self.message if self.message is not None or nullable else ""
            if value is not None or nullable:
                setattr(struct, field.name, value)

    def _stays(self, cls: type[Struct], field: Field) -> bool:
        """Whether a failed answer has this too."""
        if level(cls) != TOP:
            return field.meaning in OF_ELEMENTS or field.name in IDENTITY_NAMES
        # KIP-394: with this error the broker gives the member the id with which to join.
        given = field.meaning is Meaning.MEMBER_ID and self.code is ErrorCode.MEMBER_ID_REQUIRED
        return given or field.meaning is Meaning.THROTTLE_TIME

    def _take_out(self, target: Target) -> Forward:
        """Take what is meant out of the request, and say the error of it in the answer."""
        ctx, refused = target.ctx, list[RefusedElement]()
        parts = _whole(target.meant)
        for array, indices in parts:
            elements = array.elements
            refused += (
                RefusedElement(array.path, array.link(elements[index]), index, self.code, self.message)
                for index in turns(sorted(indices))
            )
        for array, indices in parts:
            left = [element for index, element in enumerate(turns(array.elements)) if index not in indices]
            setattr(array.chain[-1], array.field.name, left)
        target.to_answer.append(lambda answer: RefusalWriter(ctx.api, ctx.version, answer).place(refused))
        return Forward(target.message)


def _saying(answer: Response, version: int, name: str, code: int) -> Iterator[Struct]:
    """The structs of an answer that say this error at this level."""
    for struct, _ in at_level(answer, version, name, Subject(), _no_name):
        cls: type[Struct] = type(struct)
        if any(getattr(struct, field.name) == code for field in errors(cls, version)):
            yield struct


def _no_name(topic_id: bytes) -> None:
    return None


def _whole(things: Iterable[Thing]) -> list[tuple[Array, set[int]]]:
    """Which elements of which arrays these are: an element whose own elements are all meant is meant itself."""
    found: dict[tuple[int, str], tuple[Array, set[int]]] = {}
    todo = list(things)
    while todo:
        turn()
        thing = todo.pop()
        if thing.array is None:
            continue
        array = thing.array
        key = id(array.chain[-1]), array.field.name
        _, positions = found.setdefault(key, (array, set()))
        positions.add(thing.position)
        if thing.above is not None and len(positions) == len(array.elements):
            del found[key]
            todo.append(thing.above)
    return list(found.values())
