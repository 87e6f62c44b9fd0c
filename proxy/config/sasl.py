"""The options of SASL: how a listener authenticates its clients, and how the proxy authenticates to a cluster.

Without `sasl:` a listener passes SASL through to the brokers, and learns from it who its clients are. But if the proxy
logs in to the brokers itself, by the `sasl:` of their cluster, such a listener has no SASL at all.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeGuard
from urllib.parse import urlsplit

from pydantic import BeforeValidator, Field, SecretStr, StrictBool, ValidationInfo, WithJsonSchema

from proxy.core.addresses import is_ipv6, is_name
from proxy.text.file import Section
from proxy.text.paths import FilePath, beside
from proxy.text.quantities import Seconds, at_least
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


def _is_url(value: object) -> TypeGuard[str]:
    """Is this a URL that can be fetched, as far as its text says?"""
    if not isinstance(value, str) or not value.startswith(("https://", "http://")) or not value.isprintable():
        return False
    try:
        parts = urlsplit(value)
        host, port = (parts.hostname or "").encode("idna").decode(), parts.port
    except ValueError:
        return False
    return port != 0 and (is_name(host) or is_ipv6(host))


def _keys(value: object, info: ValidationInfo) -> str:
    if _is_url(value):
        return value
    if isinstance(value, str) and "://" in value:
        raise wrong(f"{shown(value)} cannot be fetched", 'write an "https://" URL, or the path of a file')
    return beside(value, info)


def _words(value: object) -> object:
    return (value,) if isinstance(value, str) else value


KeysPlace = Annotated[str, BeforeValidator(_keys), WithJsonSchema({"type": "string"})]
Words = Annotated[tuple[str, ...], BeforeValidator(_words, json_schema_input_type=str | tuple[str, ...])]


class Elsewhere(Section):
    """What is fetched from an `https://` URL."""

    ca: FilePath | None = Field(
        default=None,
        description="The authorities that may have signed the certificate of that URL: a PEM file, or a PKCS#12 store;"
        " without it, those of this machine.",
        examples=["tls/ca.pem"],
    )
    ca_password: str | None = Field(
        default=None, repr=False, description="The password of `ca`, if it is a store.", examples=["${CA_PASSWORD}"]
    )


class Oauthbearer(Elsewhere):
    """Whose tokens count."""

    jwks: KeysPlace | None = Field(
        default=None,
        description="The issuer's public keys (JWKS): a file, read again when it changes, or an `https://` URL.",
        examples=["https://login.example.com/keys"],
    )
    issuer: str | None = Field(
        default=None, description="The issuer that a token must have (`iss`).", examples=["https://login.example.com"]
    )
    audience: Words = Field(
        default=(), description="The audiences of which a token must have one (`aud`).", examples=["[kafka]"]
    )
    scope: Words = Field(
        default=(), description="The scopes that a token must have, all of them (`scope`).", examples=["[kafka]"]
    )
    skew: Seconds = Field(default=30.0, description="How far clocks may differ. Kafka's own: 30s.", examples=["30s"])
    principal_claim: str = Field(
        default="sub", min_length=1, description="The claim of a token that has the principal.", examples=["sub"]
    )
    unsecured: StrictBool = Field(
        default=False,
        description="Accept tokens without a signature, so that any client can be anybody. For tests only.",
        examples=["true"],
    )


class ListenerSasl(Section):
    """The proxy authenticates the clients of a listener itself; brokers see nothing of it."""

    mechanisms: tuple[MechanismName, ...] = Field(
        min_length=1,
        description="The mechanisms that clients may use: PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER.",
        examples=["[SCRAM-SHA-512]"],
    )
    credentials: FilePath | None = Field(
        default=None,
        description="The users, in a file that `doorkeeper users` writes; read again when it changes.",
        examples=["users.yaml"],
    )
    oauthbearer: Oauthbearer | None = Field(
        default=None,
        description="Which tokens are accepted, for OAUTHBEARER.",
        examples=["{jwks: https://login.example.com/keys, audience: kafka}"],
    )
    session: Annotated[Seconds, at_least("1ms")] | None = Field(
        default=None,
        description="The time after which clients must authenticate again, Kafka's `connections.max.reauth.ms`;"
        " without it, a session has no end.",
        examples=["1h"],
    )


def _secret(value: object) -> object:
    if isinstance(value, SecretStr):
        return value
    if not isinstance(value, str) or not value:
        raise wrong("this is no text", "put it in quotes")  # it may be a secret, so the message does not show it
    return value


Secret = Annotated[SecretStr, BeforeValidator(_secret)]


class ClusterIdentity(Section):
    """Somebody that the proxy can be."""

    username: str = Field(description="The user at the brokers.", examples=["alice"])
    password: Secret = Field(description="The password of that user.", examples=["${KAFKA_PASSWORD}"])


def _url(value: object) -> object:
    if not _is_url(value):
        raise wrong("this is no URL that can be fetched", 'write e.g. "https://login.example.com/token"')
    return value


class TokenClient(Elsewhere):
    """Where the proxy gets its tokens: OAuth's client credentials (RFC 6749)."""

    endpoint: Annotated[str, BeforeValidator(_url)] = Field(
        description="The token endpoint.", examples=["https://login.example.com/token"]
    )
    client_id: str = Field(description="The client id of the proxy at that endpoint.", examples=["doorkeeper"])
    client_secret: Secret = Field(description="The secret of that client id.", examples=["${OAUTH_SECRET}"])
    scope: str | None = Field(
        default=None, description="The scope of the tokens that are requested.", examples=["kafka"]
    )


class ClusterSasl(Section):
    """The proxy authenticates itself to the brokers of a cluster."""

    mechanism: MechanismName = Field(
        description="The mechanism: PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER.",
        examples=["SCRAM-SHA-512"],
    )
    username: str | None = Field(
        default=None, description="The user as whom the proxy authenticates.", examples=["doorkeeper"]
    )
    password: Secret | None = Field(
        default=None, description="The password of that user.", examples=["${KAFKA_PASSWORD}"]
    )
    identities: Annotated[dict[str, ClusterIdentity], Field(min_length=1)] | None = Field(
        default=None,
        description="Other users, as whom the proxy authenticates for some clients, by their principals"
        " (`User:alice`). Delegation tokens belong to these users.",
        examples=["{User:alice: {username: alice, password: secret}}"],
    )
    oauthbearer: TokenClient | None = Field(
        default=None,
        description="Where the proxy gets its tokens, for OAUTHBEARER; they are renewed before they expire.",
        examples=["{endpoint: https://login.example.com/token, client_id: doorkeeper, client_secret: ${OAUTH_SECRET}}"],
    )
