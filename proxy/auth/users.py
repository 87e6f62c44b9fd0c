"""The credentials file: users and the verifiers of their passwords. Only `doorkeeper users` writes it.

    version: 1
    users:
      alice:
        SCRAM-SHA-256: {iterations: 4096, salt: ..., stored_key: ..., server_key: ...}
        SCRAM-SHA-512: {iterations: 4096, salt: ..., stored_key: ..., server_key: ...}

Rules:
* A file that others may read is refused, because passwords can be guessed from verifiers. It is written whole or not at
  all, and only its owner may read it.
* Messages about a file do not quote it.
"""

from __future__ import annotations

import base64
import binascii
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from proxy.auth.verifiers import Verifier
from proxy.core.sasl.scram import ITERATIONS, MOST_ITERATIONS
from proxy.text.atomic import write_atomically
from proxy.text.file import Examined, Form, Section
from proxy.text.problems import Problem
from proxy.text.regular import place_of
from proxy.text.words import wrong

Users = Mapping[str, Mapping[str, Verifier]]
OTHERS = stat.S_IRWXG | stat.S_IRWXO
HEAD = '# Written by "doorkeeper users". Passwords are salted and hashed; keep it to yourself all the same.\n'


def _bytes(value: object) -> bytes:
    try:
        decoded = base64.b64decode(value, validate=True) if isinstance(value, str) else b""
    except binascii.Error:
        decoded = b""
    if len(decoded) < 12:
        raise wrong("this is no salt or key in base64", 'write the user anew: "doorkeeper users add"')
    return decoded


def _no_password(value: object) -> object:
    if not isinstance(value, dict) or "password" in value:
        raise wrong("a password does not belong here", 'remove it, and run "doorkeeper users add FILE NAME"')
    if not value:
        raise wrong("there is nothing to know the user by", 'run "doorkeeper users add FILE NAME"')
    return value


Base64 = Annotated[bytes, BeforeValidator(_bytes)]


class StoredVerifier(Section):
    """The verifier of one password for one mechanism."""

    iterations: int = Field(ge=ITERATIONS, le=MOST_ITERATIONS, description="Rounds of hashing.", examples=[4096])
    salt: Base64 = Field(description="Random bytes, in base64.", examples=["..."])
    stored_key: Base64 = Field(description="The hash that a proof is checked by.", examples=["..."])
    server_key: Base64 = Field(description="The key with which the server proves itself.", examples=["..."])

    @property
    def verifier(self) -> Verifier:
        """The verifier in the form that checks passwords."""
        return Verifier(self.salt, self.stored_key, self.server_key, self.iterations)


class StoredUser(Section):
    """The verifiers of one user's password."""

    sha_256: StoredVerifier = Field(
        alias="SCRAM-SHA-256", description="For SCRAM-SHA-256 and PLAIN.", examples=["{...}"]
    )
    sha_512: StoredVerifier = Field(alias="SCRAM-SHA-512", description="For SCRAM-SHA-512.", examples=["{...}"])

    @property
    def verifiers(self) -> dict[str, Verifier]:
        """The user's verifiers by mechanism."""
        return {"SCRAM-SHA-256": self.sha_256.verifier, "SCRAM-SHA-512": self.sha_512.verifier}


class UsersFile(Section):
    """One credentials file."""

    version: Literal[1] = Field(description="Of this format.", examples=[1])
    users: dict[str, Annotated[StoredUser, BeforeValidator(_no_password)]] = Field(
        description="Users by name.", examples=["{}"]
    )


def _check(examined: Examined[UsersFile]) -> None:
    if os.stat(place_of(examined.name)).st_mode & OTHERS:
        way_out = f"others may read this file; run: chmod 600 {examined.name}"
        examined.note([Problem(examined.name, None, way_out)])


START = "begin with: doorkeeper users add FILE NAME"
FORM = Form(UsersFile, "credentials file", START, largest=64 << 20, check=_check, secret=True)


def load(file: str | os.PathLike[str]) -> Users:
    """The users of a file. Raises BadFileError with every problem."""
    return {name: user.verifiers for name, user in FORM.load(file, {}).users.items()}


def save(file: str | os.PathLike[str], users: Users) -> None:
    """Write the file. If that fails, an existing file stays as it was. Raises OSError."""
    path = Path(os.path.realpath(file))  # a link to itself is an OSError later
    lines = [HEAD, "version: 1\n", "users:" + ("\n" if users else " {}\n")]
    for user in sorted(users):
        lines.append(f"  {_quoted(user)}:\n")
        for mechanism, (salt, stored_key, server_key, iterations) in users[user].items():
            keys: dict[str, Any] = {"salt": salt, "stored_key": stored_key, "server_key": server_key}
            written = ", ".join(f'{name}: "{base64.b64encode(key).decode()}"' for name, key in keys.items())
            lines.append(f"    {mechanism}: {{iterations: {iterations}, {written}}}\n")
    write_atomically(path, "".join(lines).encode())


def _quoted(name: str) -> str:
    return "'" + name.replace("'", "''") + "'"
