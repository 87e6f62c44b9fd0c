"""Error: the answer has an error, in the form in which a broker would give it.

Rules:
* Before the broker, the request never reached it. After the broker, the request was carried out (`said_error.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Annotated

from pydantic import Field, PlainValidator

from plugins.faults.effect import FaultSide, Target
from plugins.faults.kinds import SayingEffect
from plugins.faults.said_error import SaidError
from proxy.plugin import APIS, Api, Context, ErrorCode, wrong
from proxy.plugin.files import nearest, nearest_word, shown
from proxy.plugin.schema import TOP, levels
from rules.trigger import Firing
from rules.values import Given

LEVELS = frozenset(name for api in APIS.values() for version in api.versions for name in levels(api.response, version))


def error_code(value: object) -> ErrorCode:
    """Read the name of an error."""
    try:
        found = ErrorCode[value] if isinstance(value, str) else None
    except KeyError:
        found = None
    if not found:
        close = nearest_word(str(value), (code.name for code in ErrorCode if code)) if found is None else None
        way_out = f'did you mean "{close}"?' if close else 'write a name of Kafka\'s, e.g. "NOT_LEADER_OR_FOLLOWER"'
        raise wrong(f"unknown error {shown(value)}", way_out)
    return found


def level_name(value: object) -> str:
    """Read the name of a level."""
    if not isinstance(value, str) or value not in LEVELS:
        raise wrong(f"unknown level {shown(value)}", nearest(str(value), LEVELS))
    return value


class ErrorAnswer(SayingEffect):
    """Put an error into the answer."""

    code: Annotated[ErrorCode, PlainValidator(error_code)] = Field(
        description="Which one, by Kafka's name.", examples=["NOT_LEADER_OR_FOLLOWER"]
    )
    level: Given[Annotated[str, PlainValidator(level_name)]] = Field(
        default=None, description="Where in the answer, if not where brokers say it.", examples=["partition"]
    )
    message: Given[str] = Field(
        default=None, description="A text beside it, where answers have one.", examples=["injected"]
    )

    def problems(self, apis: frozenset[Api]) -> Iterator[tuple[str, str]]:
        known = {name for api in apis for version in api.versions for name in levels(api.response, version)}
        if self.level is not None and self.level not in known:
            named = ", ".join(sorted(api.name for api in apis))
            yield (
                "level",
                f'no answer of {named} has an error at the level "{self.level}"; {nearest(self.level, known)}',
            )

    def answers_elements(self, ctx: Context) -> bool:
        return self.side is FaultSide.BEFORE_BROKER and self._said.level_in(ctx) != TOP

    @cached_property
    def _said(self) -> SaidError:
        return SaidError(self.code, self.level, self.message)

    def said(self, target: Target, firing: Firing | None = None) -> SaidError:
        return self._said
