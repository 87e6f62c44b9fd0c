"""Preset: an effect that puts the error into answers that brokers use for an incident, by API and version.

Rules:
* `codes` lists errors by version, the newest first. The first entry that is not newer than the request counts.
* An effect applies only to APIs that have such an error.
"""

from __future__ import annotations

from typing import NamedTuple

from plugins.faults.effect import Target
from plugins.faults.kinds import SayingEffect
from plugins.faults.said_error import SaidError
from proxy.plugin import Api, ErrorCode
from rules.trigger import Firing


class CodeSince(NamedTuple):
    """The error that brokers give from this version of an API on."""

    version: int
    code: ErrorCode


Codes = dict[Api, tuple[CodeSince, ...]]


def always(*apis: Api, code: ErrorCode) -> Codes:
    """One error for all versions of these APIs."""
    return {api: (CodeSince(0, code),) for api in apis}


class PresetAnswer(SayingEffect):
    """The base of effects with preset errors."""

    @property
    def codes(self) -> Codes:
        """The errors that brokers give, by API; the newest version first."""
        raise NotImplementedError

    @property
    def apis(self) -> frozenset[Api]:
        return frozenset(self.codes)

    def said(self, target: Target, firing: Firing | None = None) -> SaidError | None:
        found = (it.code for it in self.codes[target.ctx.api] if it.version <= target.ctx.version)
        code = next(found, None)
        return None if code is None else SaidError(code)
