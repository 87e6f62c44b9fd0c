"""SASL in a configuration: how a listener authenticates its clients, and as whom the proxy speaks to a cluster.

Without `sasl:` a listener lets SASL pass, and learns from it who its clients are.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, SecretStr

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


def _secret(value: object) -> object:
    if isinstance(value, SecretStr):
        return value
    if not isinstance(value, str) or not value:
        raise wrong("this is no text", "put it in quotes")  # whatever it is, it is not shown
    return value


Secret = Annotated[SecretStr, BeforeValidator(_secret)]


class ClusterIdentity(Section):
    """Somebody that the proxy can be."""

    username: str = Field(description="The name that brokers know.", examples=["alice"])
    password: Secret = Field(description="The password of that name.", examples=["${KAFKA_PASSWORD}"])


class ClusterSasl(Section):
    """The proxy authenticates itself to the brokers of a cluster."""

    mechanism: MechanismName = Field(
        description="What the brokers speak: PLAIN, SCRAM-SHA-256, SCRAM-SHA-512.",
        examples=["SCRAM-SHA-512"],
    )
    username: str | None = Field(default=None, description="Who the proxy is to the brokers.", examples=["doorkeeper"])
    password: Secret | None = Field(default=None, description="Its password.", examples=["${KAFKA_PASSWORD}"])
    identities: Annotated[dict[str, ClusterIdentity], Field(min_length=1)] | None = Field(
        default=None,
        description="Who it is instead, for some clients, by their principals (`User:alice`).",
        examples=["{User:alice: {username: alice, password: secret}}"],
    )
