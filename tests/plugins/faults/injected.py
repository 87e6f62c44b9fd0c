"""Every error that can be injected: each API in each version, each level and none, before and after the broker."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any, NamedTuple

from plugins.faults import about
from plugins.faults.about import at_level
from plugins.faults.effect import FaultSide, Target
from plugins.faults.effects.error import ErrorAnswer
from proxy.core.context import Context
from proxy.core.decisions import Forward, Reply
from proxy.protocol.api import Api
from proxy.protocol.errors import ErrorCode
from proxy.protocol.levels import errors, levels
from proxy.protocol.refuse import usual_level
from proxy.protocol.schema import Response
from proxy.testing import connection
from rules.match import Match, Subject
from rules.trigger import Firing
from tests.proxy.protocol.generate import some

CODE = ErrorCode.KAFKA_STORAGE_ERROR


class Injected(NamedTuple):
    """One case: the response with the error, or the reason why there is none. `level`: where the error is."""

    version: int
    level: str
    side: FaultSide
    answer: Response | None
    why: str | None


def named(topic_id: bytes) -> str:
    return "a topic"


def injected(api: Api) -> Iterator[Injected]:
    """All cases of one API."""
    for version in api.versions:
        known = levels(api.response, version)
        for said in (*known, None) if known else ():
            for side in FaultSide:
                yield _injected(api, version, said, side)


def _injected(api: Api, version: int, said: str | None, side: FaultSide) -> Injected:
    named_level = {"level": said} if said is not None else {}
    effect = ErrorAnswer.model_validate({"code": CODE.name, "side": side, **named_level})
    level = said or usual_level(api, version, CODE)
    request = some(api.request, version, count(1))
    message: Any = request if side is FaultSide.BEFORE_BROKER else some(api.response, version, count(1000))
    things = tuple(about.of_request(request, version, named))
    ctx = Context(connection(), api, version, 1)
    target = Target(ctx, message, Match(), Subject(), named, lambda: True, things)
    why = effect.cannot(target)
    if why is not None:
        return Injected(version, level, side, None, why)
    decision = effect.apply(target, Firing("rule", 1, 0))
    assert isinstance(decision, Forward | Reply)
    answer: Any = decision.message
    return Injected(version, level, side, answer, None)


def says(answer: Response, version: int, level: str) -> list[bool]:
    """For each struct of this level, whether it has the error."""
    return [
        all(getattr(struct, field.name) == CODE for field in errors(type(struct), version))
        for struct, _ in at_level(answer, version, level, Subject(), named)
    ]
