"""SASL where the proxy is the authority: what may come when, and what is done about it, as one table.

    state        ApiVersions      SaslHandshake     a token           anything else    time is up
    FRESH        pass -> ASKED*   agree -> AGREED   close             close            close
    ASKED        close            agree -> AGREED   close             close            close
    AGREED       illegal          illegal           step -> DONE**    illegal          close
    DONE         pass             refuse            refuse            pass             -
    LIMITED      pass             agree -> AGAIN    refuse            pass             end -> OVER
    AGAIN        illegal          illegal           step -> DONE**    illegal          -
    OVER         close            agree -> AGAIN    close             close            -

    *  once that succeeded
    ** likewise; LIMITED where the session ends by itself. A token that is refused ends the connection. A token is a
       SaslAuthenticate, or bare bytes after SaslHandshake v0.

    pass     as any other request
    agree    begin an exchange of tokens, if the mechanism is one of ours
    step     show the token to the exchange
    refuse   answer ILLEGAL_SASL_STATE, and go on
    illegal  answer ILLEGAL_SASL_STATE, and close
    close    close without an answer, as a broker does
    end      take nothing but SASL from now on

Rules:
* The authority is not part of this module: it has clocks, dice and files. An exchange is given the client's tokens, and
  answers with `Challenge`, `Accepted` or `Rejected`. It never raises because of what a client sends.
* An exchange that takes a millisecond or more for a token takes steps first, as a handler does: a turn of its own, or a
  `Call`.
* Neither the client nor the log can tell an unknown user from a wrong password.

Source: SaslServerAuthenticator of Kafka 4.3.1; KIP-43, KIP-152, KIP-368.
"""

from __future__ import annotations

from collections.abc import Collection, Generator
from enum import Enum, auto
from typing import Any, NamedTuple, Protocol

from proxy.core.decisions import Step
from proxy.core.sasl.name import ClaimError

# What a broker says to a token of a client that is authenticated, or need not be.
ALREADY_AUTHENTICATED = "SaslAuthenticate request received after successful authentication"


class SaslState(Enum):
    """How far a client's authentication is."""

    FRESH = auto()
    ASKED = auto()
    AGREED = auto()
    DONE = auto()
    LIMITED = auto()
    AGAIN = auto()
    OVER = auto()


class SaslInput(Enum):
    """What a client sends, or that its time is up."""

    VERSIONS = auto()
    HANDSHAKE = auto()
    TOKEN = auto()
    OTHER = auto()
    TIME = auto()


class SaslAction(Enum):
    """What the proxy does then."""

    PASS = auto()
    AGREE = auto()
    STEP = auto()
    REFUSE = auto()
    ILLEGAL = auto()
    CLOSE = auto()
    END = auto()
    NOTHING = auto()


def _row(actions: str) -> dict[SaslInput, SaslAction]:
    """One action for each input, in the order of `SaslInput`."""
    return dict(zip(SaslInput, map(SaslAction.__getitem__, actions.split()), strict=True))


TABLE: dict[SaslState, dict[SaslInput, SaslAction]] = {
    SaslState.FRESH: _row("PASS AGREE CLOSE CLOSE CLOSE"),
    SaslState.ASKED: _row("CLOSE AGREE CLOSE CLOSE CLOSE"),
    SaslState.AGREED: _row("ILLEGAL ILLEGAL STEP ILLEGAL CLOSE"),
    SaslState.DONE: _row("PASS REFUSE REFUSE PASS NOTHING"),
    SaslState.LIMITED: _row("PASS AGREE REFUSE PASS END"),
    SaslState.AGAIN: _row("ILLEGAL ILLEGAL STEP ILLEGAL NOTHING"),
    SaslState.OVER: _row("CLOSE AGREE CLOSE CLOSE NOTHING"),
}
AGREED = {
    SaslState.FRESH: SaslState.AGREED,
    SaslState.ASKED: SaslState.AGREED,
    SaslState.LIMITED: SaslState.AGAIN,
    SaslState.OVER: SaslState.AGAIN,
}


class Challenge(NamedTuple):
    """Not yet: the client has to answer this."""

    token: bytes


class Accepted(NamedTuple):
    """The client is this user. `lifetime`: for so many seconds; None: without end."""

    user: str
    token: bytes = b""
    lifetime: float | None = None


class Rejected(NamedTuple):
    """The client is not authenticated. `message`: what a broker would tell it; `why`: for the log, without secrets.

    `user`: the user that the client claimed to be, if there is such a user.
    """

    message: str
    why: str
    user: str | None = None


StepResult = Challenge | Accepted | Rejected


class Exchange(Protocol):
    """One authentication."""

    def step(self, token: bytes) -> StepResult | Generator[Step, Any, StepResult]:
        """The client's next token. Where the result takes steps, no further token comes before it."""


class Authority(Protocol):
    """Judges clients. `session`: seconds until they must authenticate again; `patience`: that they have for it."""

    @property
    def mechanisms(self) -> Collection[str]: ...

    @property
    def session(self) -> float | None: ...

    @property
    def patience(self) -> float: ...

    def begin(self, mechanism: str, again: bool) -> Exchange:
        """A client wants to authenticate with this mechanism."""

    def failed(self, host: str) -> float:
        """A client from this host failed to; returns the seconds to wait before it is told."""


class Rejecting:
    """An exchange that rejects every client."""

    def __init__(self, rejected: Rejected) -> None:
        self._rejected = rejected

    def step(self, token: bytes) -> StepResult:
        """Reject."""
        return self._rejected


def rejected(error: ClaimError, mechanism: str, again: bool) -> Rejected:
    """What a broker tells a client whose token it does not take. `again`: the client was authenticated before."""
    about = "re-authentication" if again else "authentication"
    usual = f"Authentication failed during {about} due to invalid credentials with SASL mechanism {mechanism}"
    return Rejected(error.told or usual, str(error))


def other_mechanism(before: str, now: str) -> ClaimError:
    """The error of a client that changes its mechanism on reauthentication."""
    told = f"SASL mechanism '{now}' requested by client is not supported for re-authentication of mechanism '{before}'"
    return ClaimError("another mechanism on authentication again", told)


def other_principal(before: str, now: str) -> ClaimError:
    """The error of a client that changes its principal on reauthentication."""
    names = ": ".join(principal.replace(":", ".", 1) for principal in (before, now))
    told = f"Cannot change principals during re-authentication from {names}"
    return ClaimError("another principal on authentication again", told)
