"""Verdicts: what is to be sent for a frame that handlers looked at, as bytes."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any, NamedTuple

from proxy.core.decisions import How, Step
from proxy.core.leaving import Leaving
from proxy.core.outcome import By
from proxy.protocol.frame import Buffer


class Verdict(NamedTuple):
    """`pieces` go on in place of the frame; None: the frame goes on as it came.

    `answered`: the frame is a request, and `pieces` are its answer, by a plugin or by the proxy; `why` says by which
    handler, or why. `ends`: why nothing more is taken after the frame. `whole` False: nobody can answer the request, or
    the response must not be believed. `leaving`: in what manner an answer leaves. `version` and `copies`: how a request
    was sent (`Forward`).
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


VerdictSteps = Generator[Step, Any, Verdict]
AS_IT_CAME = Verdict()


def withheld(reason: str, how: How = How.CLOSE, pieces: Sequence[Buffer] = ()) -> Verdict:
    """Nothing of the frame goes on, or only these pieces of it, and the conversation ends."""
    return Verdict(pieces, ends=reason, how=how, whole=False)
