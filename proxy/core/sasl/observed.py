"""SASL tokens that pass between client and broker: who the client is. Tokens are secrets and are never stored.

Rules:
* A claim is what the client says of itself. It counts once the broker accepted it. Each mechanism has its own sign of
  acceptance: a PLAIN server answers with an empty token, a SCRAM server with its signature (`v=`), an OAUTHBEARER
  server with an empty token too.
* A client says who it is once, in its first token. Each further token must be the one that the mechanism has there.
  An OAUTHBEARER server that refused a token would take another one in its place: that one never reaches the server.
* An acceptance that answers anything but such a claim is an error: `broker` raises.
* Only the broker knows who authenticates with a delegation token: the claim has the id of the token (KIP-48). Only the
  broker knows whose a token is that is no JWT.
* GSSAPI passes, if its tokens are in the form and order of `gssapi.py`. Its success is seen, by the empty token with
  which Kafka's servers answer the client's last one, but not who the client is.
* An unknown mechanism passes too, where its tokens have headers: without them they could be requests. Then each token
  of the broker counts as acceptance, since the last one is not known.

Sources: RFC 4616 (PLAIN), RFC 4752 (GSSAPI), RFC 5802 (SCRAM), RFC 7628 (OAUTHBEARER), and what Kafka's own servers
make of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple, NoReturn

from proxy.core.sasl import scram
from proxy.core.sasl.bearer import AGAIN, LONGEST_TOKEN, bearer
from proxy.core.sasl.gssapi import GssapiToken, gssapi
from proxy.core.sasl.jwt import SUBJECT, is_jwt, jwt, subject
from proxy.core.sasl.name import ClaimError
from proxy.core.sasl.plain import plain


class Claim(NamedTuple):
    """Who a client claims to be. `user` None: only the broker knows."""

    user: str | None
    delegation: str | None = None


NOBODY = Claim(None)
GSSAPI = "GSSAPI"
NOT_KNOWN_WHOM = "the broker takes the client for somebody, and it is not known whom"

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

    `claim`: reads the client's first token: the claim, and what the next token must be. `tokens`: the most tokens that
    the client sends. After the token number `decisive` the client is authenticated if the broker's answer is
    `accepted`.
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
    """One authentication between client and broker: their tokens, in turn."""

    def __init__(self, mechanism: str, followed: Mapping[str, Mechanism] = FOLLOWED) -> None:
        self.mechanism = mechanism
        self.claim: Claim | None = None
        self._followed = followed.get(mechanism)
        self._further: Further = _no_more
        self._tokens = 0  # of the client

    @property
    def in_turn(self) -> bool:
        """Does every token of the client get one from the broker? The last one of GSSAPI may not."""
        return self._followed is not None

    @property
    def is_over(self) -> bool:
        """Did the client send its last token, which the broker may leave without an answer?"""
        return False

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
        """A token of the broker that is no error. Is the client authenticated? Raises ClaimError: it must not be."""
        if self._followed is None:
            return self.claim is not None
        if self._tokens == self._followed.decisive and self._followed.accepted(token):
            return True
        if not 0 < self._tokens < self._followed.tokens:
            raise ClaimError(NOT_KNOWN_WHOM)
        return False


class ObservedGssapi(ObservedExchange):
    """GSSAPI between client and broker."""

    _last: GssapiToken | None = None  # of the client

    @property
    def is_over(self) -> bool:
        """Did the client send its last token, which the broker may leave without an answer?"""
        return self._last is GssapiToken.WRAPPED

    def client(self, token: bytes) -> None:
        """A token of the client. Raises ClaimError: it must not pass."""
        self._last = gssapi(token, self._last)
        self.claim = NOBODY

    def broker(self, token: bytes) -> bool:
        """A token of the broker that is no error. Is the client authenticated? Raises ClaimError: it must not be."""
        if self.is_over is bool(token):
            raise ClaimError(NOT_KNOWN_WHOM)
        return self.is_over


def observed_exchange(mechanism: str, followed: Mapping[str, Mechanism] = FOLLOWED) -> ObservedExchange:
    """The exchange of a client that named this mechanism."""
    return (ObservedGssapi if mechanism == GSSAPI else ObservedExchange)(mechanism, followed)
