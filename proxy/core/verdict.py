"""Verdicts: what becomes of a frame that handlers looked at, as bytes; all that is left to do is to send them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from proxy.core.decisions import How
from proxy.core.leaving import Leaving
from proxy.core.outcome import By
from proxy.protocol.frame import Buffer


class Verdict(NamedTuple):
    """`pieces` go on in place of the frame, None: the frame as it came.

    `answered`: of a request, they are its answer instead, by a plugin or by the proxy; `why` says by whom or why.
    `ends`: why nothing more is taken after it. `whole` False: nobody can answer it, or nothing of it may be believed.
    `leaving`: of an answer, in what manner it leaves. `version` and `copies`: how a request was sent (`Forward`).
    """

    pieces: Sequence[Buffer] | None = None
    answered: By | None = None
    why: str | None = None
    ends: str | None = None
    how: How = How.CLOSE
    whole: bool = True
    leaving: Leaving | None = None
    version: int | None = None
    copies: int = 1


AS_IT_CAME = Verdict()


def withheld(reason: str, how: How = How.CLOSE, pieces: Sequence[Buffer] = ()) -> Verdict:
    """Nothing of the frame goes on, or but these pieces of it, and the conversation ends."""
    return Verdict(pieces, ends=reason, how=how, whole=False)
