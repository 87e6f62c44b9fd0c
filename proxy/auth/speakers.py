"""Speakers: the client's half of each SASL mechanism, which the proxy speaks to brokers.

Rules:
* A broker must prove itself where the mechanism provides for it: a SCRAM broker that does not know the password is
  refused.
* A SCRAM broker chooses how many rounds of hashing we compute. One that asks for fewer than Kafka's clients accept, or
  for far more than Kafka's own tools allow, is refused.
* A name or a password that the mechanism has no form for is an IntroductionError, which does not repeat it.
"""

from __future__ import annotations

from typing import Protocol

from proxy.core.sasl.scram import ITERATIONS

MOST_ROUNDS = 100_000  # KIP-554 allows 16,384; the tools before it set no bound
LONGEST = 8 << 10  # bytes of a broker's token; one of Kafka has about a hundred


class IntroductionError(Exception):
    """The broker refused to authenticate us, or cannot be trusted. Its text says why, in a few words."""


class Speaker(Protocol):
    """The client's half of one authentication."""

    @property
    def computes(self) -> bool:
        """Do answers take long?"""

    def first(self) -> bytes:
        """The first token. Raises IntroductionError if there is none."""

    def answer(self, token: bytes) -> bytes | None:
        """The response to the broker's token. None: nothing more is to be sent. Raises IntroductionError."""


def _unsendable(mechanism: str) -> IntroductionError:
    fact = "is empty, or has characters that RFC 4013 forbids, such as a line break"
    return IntroductionError(f"{mechanism} cannot send our name or password: it {fact}")


class ByPlain:
    """A name and a password, sent in clear (PLAIN)."""

    computes = False

    def __init__(self, user: str, password: str) -> None:
        if not user or "\0" in user + password:  # a NUL separates them
            raise _unsendable("PLAIN")
        self._token = b"\0".join((b"", user.encode(), password.encode()))

    def first(self) -> bytes:
        """The name and the password: the only token there is."""
        return self._token

    def answer(self, token: bytes) -> None:
        """None: nothing follows."""


class ByScram:
    """A name, and a proof that we know the password (SCRAM)."""

    computes = True  # 16,384 rounds take 10 ms, and the most that are computed 60

    def __init__(self, mechanism: str, user: str, password: str) -> None:
        from scramp import ScramClient, ScramException  # takes 14 MB, so only where SCRAM is used

        try:
            self._client = ScramClient([mechanism], user, password)
        except ScramException:
            raise _unsendable(mechanism) from None
        self._refused = ScramException, ValueError
        self._proved = False

    def first(self) -> bytes:
        """The client's first message, with the name."""
        first: str = self._client.get_client_first()
        return first.encode()

    def answer(self, token: bytes) -> bytes | None:
        """Our proof. After the next token, None: that is the broker's proof, which is checked."""
        if len(token) > LONGEST:
            raise IntroductionError(f"the broker answered SCRAM with {len(token):,} bytes")
        try:
            if self._proved:
                self._client.set_server_final(token.decode())
                return None
            self._proved = True
            self._client.set_server_first(token.decode())
            rounds = int(self._client.iterations)
            if not ITERATIONS <= rounds <= MOST_ROUNDS:
                taken = f"{ITERATIONS:,} to {MOST_ROUNDS:,} are computed"
                raise IntroductionError(f"the broker asks for {rounds:,} rounds of hashing; {taken}")
            final: str = self._client.get_client_final()
        except self._refused:
            raise IntroductionError("the broker could not prove that it knows the password") from None
        return final.encode()


class ByBearer:
    """A bearer token (RFC 7628)."""

    computes = False

    def __init__(self, token: str) -> None:
        self._token = token

    def first(self) -> bytes:
        """The client's first message, with the token."""
        return b"n,,\x01auth=Bearer " + self._token.encode() + b"\x01\x01"

    def answer(self, token: bytes) -> bytes | None:
        """None, or the acknowledgement of a refusal. The broker answers that with its error."""
        return b"\x01" if token else None
