"""Preset: a fault that has a name of its own, and is another error for each API and version, as brokers say it.

# Which one, `codes` says: that of the first version that is not above the request's counts, the newest first.
# What an API has no such error for is not what the fault is done to.
"""

from __future__ import annotations

from typing import NamedTuple

from plugins.faults.effect import Target
from plugins.faults.kinds import SayingEffect
from plugins.faults.said_error import SaidError
from proxy.plugin import Api, ErrorCode
from rules.trigger import Firing


class CodeSince(NamedTuple):
    """What brokers say from this version of an API on."""

    version: int
    code: ErrorCode


Codes = dict[Api, tuple[CodeSince, ...]]


def always(*apis: Api, code: ErrorCode) -> Codes:
    """What brokers say in all versions of these."""
    return {api: (CodeSince(0, code),) for api in apis}


class PresetAnswer(SayingEffect):
    """The base of such effects."""

    @property
    def codes(self) -> Codes:
        """What brokers say, by API; the newest version first."""
        raise NotImplementedError

    @property
    def apis(self) -> frozenset[Api]:
        return frozenset(self.codes)

    def said(self, target: Target, firing: Firing | None = None) -> SaidError | None:
        found = (it.code for it in self.codes[target.ctx.api] if it.version <= target.ctx.version)
        code = next(found, None)
        return None if code is None else SaidError(code)
