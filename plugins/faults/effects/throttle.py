"""Throttle: the answer says that the client was throttled and must wait before its next request (KIP-219)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from plugins.faults.effect import Target
from plugins.faults.kinds import AnswerEffect, SentTime
from proxy.plugin import Api, Decision, Forward, Meaning
from proxy.plugin.files import at_most
from rules.trigger import Firing

MOST = (2**31 - 1) // 1000  # seconds: the field has 32 bits for milliseconds


class ThrottleClient(AnswerEffect):
    """Put a time into `throttle_time_ms`."""

    time: Annotated[SentTime, at_most(f"{MOST}s")] = Field(
        description="How long the client is to wait.", examples=["5s"]
    )

    def problems(self, apis: frozenset[Api]) -> Iterator[tuple[str, str]]:
        if not any(_name(api, version) for api in apis for version in api.versions):
            named = ", ".join(sorted(api.name for api in apis))
            yield "time", f"no answer of {named} has a throttle_time_ms; name another api"

    def cannot(self, target: Target) -> str | None:
        ctx = target.ctx
        lacks = f"{ctx.api.name} v{ctx.version} answers have no throttle_time_ms"
        return None if _name(ctx.api, ctx.version) else lacks

    def apply(self, target: Target, firing: Firing) -> Decision:
        setattr(target.message, _name(target.ctx.api, target.ctx.version) or "", round(self.time * 1000))
        return Forward(target.message)


def _name(api: Api, version: int) -> str | None:
    """The field with the throttle time."""
    return next(
        (it.name for it in api.response.fields if it.meaning is Meaning.THROTTLE_TIME and it.present(version)), None
    )
