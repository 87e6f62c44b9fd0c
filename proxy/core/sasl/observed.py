"""The tokens of SASL mechanisms as they pass by, as far as they tell who it is. They are secrets: never stored.

Rules:
* A claim is what the client says; it counts once the broker said yes to it. How it says so is the mechanism's own:
  a PLAIN server answers with nothing, a SCRAM server with its signature (`v=`), an OAUTHBEARER one with nothing too.
* A client says who it is once, in its first token. Each further token must be the one that the mechanism has there.
  An OAUTHBEARER server that refused a token would take another in its place: that one never comes to it.
* A yes that answers anything else than such a claim is no yes: `broker` raises.
* Who authenticates with a delegation token is known to the broker alone: the claim has the id of the token (KIP-48).
  So is whose token it is that is no JWT.
* GSSAPI passes: that it succeeded is seen, by the empty token with which Kafka's servers end it; who it was is not.
* So does a mechanism that is not known here. Each yes of the broker counts then, since the last one cannot be told.

Sources: RFC 4616 (PLAIN), RFC 5802 (SCRAM), RFC 7628 (OAUTHBEARER), and what Kafka's own servers make of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple, NoReturn

from proxy.core.sasl import scram
from proxy.core.sasl.bearer import AGAIN, LONGEST_TOKEN, bearer
from proxy.core.sasl.jwt import SUBJECT, is_jwt, jwt, subject
from proxy.core.sasl.name import ClaimError
from proxy.core.sasl.plain import plain


class Claim(NamedTuple):
    """Who a client says that it is. `user` None: that is known to the broker alone."""

    user: str | None
    delegation: str | None = None


NOBODY = Claim(None)

Further = Callable[[bytes], object]  # looks at the client's next token; raises ClaimError


def _plain(token: bytes) -> tuple[Claim, Further]:
    return Claim(plain(token, LONGEST_TOKEN).user), _no_more  # OAuth over PLAIN: a token in place of the password


def _scram(mechanism: str, token: bytes) -> tuple[Claim, Further]:
    first = scram.first(token)
    claim = Claim(None, first.user) if first.is_token else Claim(first.user)
    return claim, partial(scram.final, begun=first, mechanism=mechanism)


def _oauthbearer(claim: str, token: bytes) -> tuple[Claim, Further]:
    said = bearer(token)
    user = subject(jwt(said.token).claims, claim) if is_jwt(said.token) else None
    if said.authorization not in (None, user):
        raise ClaimError("another authorization id than the token's")
    return Claim(user), _understood


def _no_more(token: bytes) -> NoReturn:
    raise ClaimError("a token after the last")


def _understood(token: bytes) -> None:
    if token != AGAIN:
        raise ClaimError("a second token in place of the one that was refused")


class Mechanism(NamedTuple):
    """How a mechanism is followed.

    `claim`: who the client's first token claims to be, and what its next one must be. `tokens`: so many of the client
    there are at the most, and after the one `decisive` the broker says yes, if what it answers is `accepted`.
    """

    claim: Callable[[bytes], tuple[Claim, Further]]
    tokens: int
    decisive: int
    accepted: Callable[[bytes], bool]


def following(claim: str = SUBJECT) -> Mapping[str, Mechanism]:
    """The mechanisms, where tokens have their subject in this claim (Kafka's `sasl.oauthbearer.sub.claim.name`)."""
    signed = {name: Mechanism(partial(_scram, name), 2, 2, lambda token: token[:2] == b"v=") for name in scram.PROOF}
    return {
        "PLAIN": Mechanism(_plain, 1, 1, lambda token: True),
        **signed,
        "OAUTHBEARER": Mechanism(partial(_oauthbearer, claim), 2, 1, lambda token: not token),
    }


FOLLOWED = following()


class ObservedExchange:
    """One authentication as it passes by: tokens of the client and of the broker, in turn."""

    def __init__(self, mechanism: str, followed: Mapping[str, Mechanism] = FOLLOWED) -> None:
        self.mechanism = mechanism
        self.claim: Claim | None = None
        self._followed = followed.get(mechanism)
        self._further: Further = _no_more
        self._tokens = 0  # of the client

    @property
    def in_turn(self) -> bool:
        """Does every token of the client get one of the broker? In a mechanism unknown here the last may not."""
        return self._followed is not None

    def client(self, token: bytes) -> None:
        """A token of the client. Raises ClaimError: it must not pass."""
        self._tokens += 1
        if self._followed is None:
            self.claim = NOBODY
        elif self._tokens == 1:
            self.claim, self._further = self._followed.claim(token)
        elif self._tokens <= self._followed.tokens:
            self._further(token)
        else:
            _no_more(token)

    def broker(self, token: bytes) -> bool:
        """A token of the broker that says no error. Is the client authenticated? Raises ClaimError: it cannot be."""
        if self._followed is None:
            return self.claim is not None and (self.mechanism != "GSSAPI" or not token)
        if self._tokens == self._followed.decisive and self._followed.accepted(token):
            return True
        if not 0 < self._tokens < self._followed.tokens:
            raise ClaimError("the broker takes the client for somebody, and it is not known whom")
        return False
