"""PLAIN and SCRAM against a credentials file.

Rules:
* A password is never kept, nor told to anybody; a name that failed is not told either, since people type passwords into
  the wrong field.
* Whether it was the user or the password that is wrong shows in nothing: the same work is done for both.
"""

from __future__ import annotations

from collections.abc import Callable

from scramp import ScramException, ScramMechanism

from proxy.auth.users import Users
from proxy.auth.verifiers import Verifier, fits, nobodys
from proxy.core.sasl import Accepted, Challenge, Outcome, Rejected

Known = Callable[[], Users]

PLAIN_HASH = "SCRAM-SHA-256"  # which of a user's verifiers a password of PLAIN is held against
BAD = "Authentication failed: Invalid username or password"
BAD_PLAIN = "Invalid SASL/PLAIN response: expected 3 tokens, got {}"
OTHER_AUTHORIZATION = "Authentication failed: Client requested an authorization id that is different from username"
WHY = "unknown user or wrong password"


class Plain:
    """One authentication with a user's name and password (RFC 4616)."""

    def __init__(self, users: Known) -> None:
        self._users = users

    def step(self, token: bytes) -> Outcome:
        """The one token there is."""
        parts = token.split(b"\0")
        if len(parts) != 3:
            return Rejected(BAD_PLAIN.format(len(parts)), "a token that is none of PLAIN's")
        try:
            authorization, user, password = (part.decode() for part in parts)
        except UnicodeDecodeError:
            return Rejected(BAD, WHY)
        if not user or not password:
            empty = "username" if not user else "password"
            return Rejected(f"Authentication failed: {empty} not specified", f"no {empty}")
        known = self._users().get(user)
        verifier = nobodys(user, PLAIN_HASH) if known is None else known[PLAIN_HASH]
        if not fits(password, verifier, PLAIN_HASH) or known is None:
            return Rejected(BAD, WHY)
        if authorization not in ("", user):
            return Rejected(OTHER_AUTHORIZATION, "another authorization id than the user")
        return Accepted(user)


class Scram:
    """One authentication that never shows the password (RFC 5802)."""

    def __init__(self, users: Known, mechanism: str, again: bool) -> None:
        self._users = users
        self._mechanism = mechanism
        self._server = ScramMechanism(mechanism).make_server(self._verifier)
        self._user = ""
        self._known = False
        self._begun = False
        about = "re-authentication" if again else "authentication"
        message = f"Authentication failed during {about} due to invalid credentials with SASL mechanism {mechanism}"
        self._no = Rejected(message, WHY)

    def _verifier(self, user: str) -> Verifier:
        self._user = user
        known = self._users().get(user)
        self._known = known is not None
        return nobodys(user, self._mechanism) if known is None else known[self._mechanism]

    def step(self, token: bytes) -> Outcome:
        """The client's first message, and its final one."""
        try:
            message = token.decode()
            if not self._begun:
                self._begun = True
                self._server.set_client_first(message)
                return Challenge(self._server.get_server_first().encode())
            self._server.set_client_final(message)
            signature: str = self._server.get_server_final()
        except (ScramException, ValueError):
            return self._no
        return Accepted(self._user, signature.encode()) if self._known else self._no
