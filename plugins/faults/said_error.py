"""Said error: puts an error into an answer, for the things that a fault is about.

Rules:
* Before the broker: the things that match never reach it. The rest is served, and the answer has both.
* After the broker: the request is carried out, and its answer says that it failed.
* An error stands where brokers put it, unless a level is named. As in a broker's answer, the fields beside an error are
  empty. The fields that name the topic, partition and the like stay.
* A share session cannot do without a part of one of its requests: the broker would never hear of those topics.
* ErrorCode.NONE is put in the same way: the answer says success, and the broker never saw the request.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from plugins.faults.about import Thing, at_level
from plugins.faults.effect import Target, no_answer
from proxy.plugin import (
    API_VERSIONS,
    SHARE_FETCH,
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


class SaidError(NamedTuple):
    """One error, its level in the answer (None: where brokers put it), and its message."""

    code: ErrorCode
    level: str | None = None
    message: str | None = None

    def level_in(self, ctx: Context) -> str:
        """The level of the error in answers of this API and version."""
        return self.level or usual_level(ctx.api, ctx.version, self.code)

    def cannot(self, target: Target) -> str | None:
        """Why no answer can have it; None if one can."""
        ctx = target.ctx
        silent = no_answer(target)
        if silent is not None:
            return silent
        if self.level_in(ctx) not in levels(ctx.api.response, ctx.version):
            return f'{ctx.api.name} v{ctx.version} answers have no error at the level "{self.level_in(ctx)}"'
        return None

    def cannot_before(self, target: Target) -> str | None:
        """Why the proxy cannot answer with it in the broker's place; None if it can."""
        cannot = self.cannot(target)
        if cannot is not None:
            return cannot
        ctx, name = target.ctx, self.level_in(target.ctx)
        if ctx.api is SHARE_FETCH and not target.all_meant:
            return "the share session is about other topics too; only its answers can have the error (after_broker)"
        if not target.all_meant:
            usual = name == usual_level(ctx.api, ctx.version, self.code)
            return None if usual else f'only a part of the request is meant, and that is not said at the level "{name}"'
        answer = refuse(ctx.api, ctx.version, target.message, self.code, self.message, self.level)
        is_said = answer is not None and any(True for _ in _saying(answer, ctx.version, name, self.code))
        return None if is_said else f'the request names nothing that is answered at the level "{name}"'

    def cannot_after(self, target: Target) -> str | None:
        """Why it cannot be put into this answer of the broker; None if it can."""
        missing = f"the answer has no {self.level_in(target.ctx)} that is meant"
        return self.cannot(target) or (None if any(True for _ in self._meant(target)) else missing)

    def before(self, target: Target) -> Forward | Reply:
        """Answer with it in the broker's place."""
        ctx = target.ctx
        if not target.all_meant:
            return self._take_out(target)
        answer = refuse(ctx.api, ctx.version, target.message, self.code, self.message, self.level)
        assert answer is not None
        # KIP-511: a broker that does not know the version answers in a version that every client knows.
        unknown = ctx.api is API_VERSIONS and self.code is ErrorCode.UNSUPPORTED_VERSION
        return Reply(answer, version=0 if unknown else None)

    def after(self, target: Target) -> Decision:
        """Put it into the broker's answer."""
        for struct in list(self._meant(target)):
            self._fail(target.ctx, struct)
        return Forward(target.message)

    def _meant(self, target: Target) -> Iterator[Struct]:
        """The structs of an answer that get the error."""
        return target.structs(self.level_in(target.ctx))

    def _fail(self, ctx: Context, struct: Struct) -> None:
        """Put the error into a struct of an answer, and empty its other fields."""
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
        """Whether an answer with an error keeps this field."""
        if level(cls) != TOP:
            return field.meaning in IDENTITY or field.name in IDENTITY_NAMES
        # KIP-394: with this error the broker gives the member the id with which to join.
        given = field.meaning is Meaning.MEMBER_ID and self.code is ErrorCode.MEMBER_ID_REQUIRED
        return given or field.meaning is Meaning.THROTTLE_TIME

    def _take_out(self, target: Target) -> Forward:
        """Take the things that match out of the request, and put their errors into the answer."""
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
    """The structs of an answer that have this error at this level."""
    for struct, _ in at_level(answer, version, name, Subject(), _no_name):
        cls: type[Struct] = type(struct)
        if any(getattr(struct, field.name) == code for field in errors(cls, version)):
            yield struct


def _no_name(topic_id: bytes) -> None:
    return None


def _whole(things: Iterable[Thing]) -> list[tuple[Array, set[int]]]:
    """These things as elements of arrays. An element of which all inner elements match is taken as a whole."""
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
