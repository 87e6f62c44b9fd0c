"""Error: the answer says an error, as a broker would say it.

# Before the broker: what is meant of the request never reaches it. The rest is served, and the answer has both.
# After the broker: what was asked for is done, and its answer says that it failed.
# An error stands where brokers say it, unless the rule names a level. What stands beside an error in a broker's answer
# is empty, and so it is here. What says what the answer is about stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated

from pydantic import Field, PlainValidator

from plugins.faults.about import Thing, at_level
from plugins.faults.effect import Effect, FaultSide, Target, no_answer
from proxy.plugin import (
    APIS,
    Api,
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
    wrong,
)
from proxy.plugin.files import nearest, nearest_word, shown
from proxy.plugin.schema import (
    IDENTITY,
    IDENTITY_NAMES,
    LEFT,
    TOP,
    Array,
    RefusalWriter,
    RefusedElement,
    blank,
    errors,
    level,
    levels,
    usual_level,
)
from proxy.plugin.schema import (
    Field as SchemaField,
)
from rules.match import Subject
from rules.trigger import Firing
from rules.values import Said

OF_ELEMENTS = IDENTITY | {Meaning.MEMBER_ID}  # what says which element of the request it answers
LEVELS = frozenset(name for api in APIS.values() for version in api.versions for name in levels(api.response, version))


def error_code(value: object) -> ErrorCode:
    """Read the name of an error."""
    try:
        found = ErrorCode[value] if isinstance(value, str) else None
    except KeyError:
        found = None
    if found is None or found is ErrorCode.NONE:
        close = nearest_word(str(value), (code.name for code in ErrorCode if code))
        way_out = f'did you mean "{close}"?' if close else 'write a name of Kafka\'s, e.g. "NOT_LEADER_OR_FOLLOWER"'
        raise wrong(f"unknown error {shown(value)}", way_out)
    return found


def level_name(value: object) -> str:
    """Read the name of a level."""
    if value not in LEVELS:
        raise wrong(f"unknown level {shown(value)}", nearest(str(value), LEVELS))
    return str(value)


class ErrorAnswer(Effect):
    """Say an error in the answer."""

    code: Annotated[ErrorCode, PlainValidator(error_code)] = Field(
        description="Which one, by Kafka's name.", examples=["NOT_LEADER_OR_FOLLOWER"]
    )
    level: Said[Annotated[str, PlainValidator(level_name)]] = Field(
        default=None, description="Where in the answer, if not where brokers say it.", examples=["partition"]
    )
    side: FaultSide = Field(
        default=FaultSide.BEFORE_BROKER, description="Before or after the broker does it.", examples=["after_broker"]
    )
    message: Said[str] = Field(
        default=None, description="A text beside it, where answers have one.", examples=["injected"]
    )

    @property
    def at(self) -> FaultSide:
        return self.side

    def problems(self, apis: frozenset[Api]) -> Iterator[tuple[str, str]]:
        known = {name for api in apis for version in api.versions for name in levels(api.response, version)}
        if self.level is not None and self.level not in known:
            named = ", ".join(sorted(api.name for api in apis))
            yield (
                "level",
                f'no answer of {named} has an error at the level "{self.level}"; {nearest(self.level, known)}',
            )

    def cannot(self, target: Target) -> str | None:
        ctx = target.ctx
        silent = no_answer(target)
        if silent is not None:
            return silent
        name = self.level or usual_level(ctx.api, ctx.version, self.code)
        if name not in levels(ctx.api.response, ctx.version):
            return f'{ctx.api.name} v{ctx.version} answers have no error at the level "{name}"'
        if self.side is FaultSide.AFTER_BROKER:
            missing = f"the answer has no {name} that is meant"
            return None if any(True for _ in self._meant(target)) else missing
        if not target.all_meant:
            usual = name == usual_level(ctx.api, ctx.version, self.code)
            return None if usual else f'only a part of the request is meant, and that is not said at the level "{name}"'
        answer = refuse(ctx.api, ctx.version, target.message, self.code, self.message, self.level)
        is_said = answer is not None and any(True for _ in _saying(answer, ctx.version, name, self.code))
        return None if is_said else f'the request names nothing that is answered at the level "{name}"'

    def apply(self, target: Target, firing: Firing) -> Decision:
        if self.side is FaultSide.AFTER_BROKER:
            for struct in list(self._meant(target)):
                self._fail(target.ctx, struct)
            return Forward(target.message)
        ctx = target.ctx
        if not target.all_meant:
            return self._take_out(target)
        answer = refuse(ctx.api, ctx.version, target.message, self.code, self.message, self.level)
        assert answer is not None
        return Reply(answer)

    def _meant(self, target: Target) -> Iterator[Struct]:
        """The structs of an answer that are to carry the error."""
        return target.structs(self.level or usual_level(target.ctx.api, target.ctx.version, self.code))

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

    def _stays(self, cls: type[Struct], field: SchemaField) -> bool:
        """Whether a failed answer has this too."""
        if level(cls) != TOP:
            return field.meaning in OF_ELEMENTS or field.name in IDENTITY_NAMES
        # KIP-394: with this error the broker gives the member the id with which to join.
        given = field.meaning is Meaning.MEMBER_ID and self.code is ErrorCode.MEMBER_ID_REQUIRED
        return given or field.meaning is Meaning.THROTTLE_TIME

    def _take_out(self, target: Target) -> Decision:
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
