"""SASL in a configuration: how a listener authenticates its clients, and as whom the proxy speaks to a cluster.

Without `sasl:` a listener lets SASL pass, and learns from it who its clients are.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from proxy.text.file import Section
from proxy.text.paths import FilePath
from proxy.text.quantities import Seconds
from proxy.text.words import nearest, shown, wrong

OFFERED = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER")
BY_PASSWORD = frozenset(OFFERED) - {"OAUTHBEARER"}


def _mechanism(value: object) -> str:
    if value in OFFERED:
        return str(value)
    if value == "GSSAPI":
        raise wrong("GSSAPI cannot be authenticated here", 'leave "sasl" out: then it passes to the brokers')
    raise wrong(f"unknown mechanism {shown(value)}", nearest(str(value).upper(), OFFERED))


MechanismName = Annotated[
    Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"], BeforeValidator(_mechanism)
]


class ListenerSasl(Section):
    """The proxy authenticates the clients of a listener itself; brokers see nothing of it."""

    mechanisms: tuple[MechanismName, ...] = Field(
        min_length=1,
        description="What clients may authenticate with: PLAIN, SCRAM-SHA-256, SCRAM-SHA-512.",
        examples=["[SCRAM-SHA-512]"],
    )
    credentials: FilePath | None = Field(
        default=None,
        description="The users, in a file that `doorkeeper users` writes; read again when it changes.",
        examples=["users.yaml"],
    )
    session: Seconds | None = Field(
        default=None,
        description="The time after which clients must authenticate again; Kafka's `connections.max.reauth.ms`.",
        examples=["1h"],
    )
