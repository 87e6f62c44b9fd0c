"""The options of TLS: the certificate that a side presents, and the authorities that it trusts.

The formats are Kafka's: PEM, and PKCS#12 stores. `certificates` reads the files when the whole configuration is
checked, and again whenever one of them changes.
"""

import re
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, StrictBool, WithJsonSchema

from proxy.auth.mapping import DEFAULT, EXAMPLE, BadRuleError, Mapping
from proxy.config.values import HostName, host
from proxy.core.addresses import LAST_NODE_ID
from proxy.text.file import Section
from proxy.text.paths import FilePath
from proxy.text.words import shown, wrong

Version = Literal["TLSv1.2", "TLSv1.3"]
ID = "{id}"


def _rules(value: Any) -> tuple[str, ...]:
    """One text in Kafka's format, or a list with one rule an item."""
    rules = (value,) if isinstance(value, str) else value
    if not isinstance(rules, (tuple, list)) or not all(isinstance(rule, str) for rule in rules) or not rules:
        raise wrong(f"{shown(value)} is no list of rules", f'write e.g. "principal_mapping: ["{EXAMPLE}", {DEFAULT}]"')
    try:
        Mapping(rules)
    except BadRuleError as error:
        raise wrong(str(error), f'write e.g. "{EXAMPLE}" or {DEFAULT}') from None
    return tuple(rules)


def _hosts(value: object) -> str:
    """A pattern for host names that contains the broker's id."""
    if not isinstance(value, str) or value.count(ID) != 1:
        raise wrong(
            f"{shown(value)} has no place for the id of a broker", f'write e.g. "broker-{ID}.kafka.example.com"'
        )
    host(value.replace(ID, str(LAST_NODE_ID)))  # with the longest id there is
    return value.lower()


def broker_named(hosts: str, name: str) -> int | None:
    """The id of the broker whose host name by this pattern this is. `broker-01` does not name broker 1."""
    before, _, after = map(re.escape, hosts.partition(ID))
    match = re.fullmatch(f"{before}(0|[1-9][0-9]{{0,9}}){after}", name)
    return int(match[1]) if match and int(match[1]) <= LAST_NODE_ID else None


def _optional_section(value: Any) -> Any:
    """`tls: true` is TLS with its defaults. `tls: false` is no TLS."""
    return {} if value is True else None if value is False else value


Rules = Annotated[
    tuple[str, ...], BeforeValidator(_rules), WithJsonSchema({"type": ["string", "array"], "items": {"type": "string"}})
]
HostNames = Annotated[str, BeforeValidator(_hosts), WithJsonSchema({"type": "string"})]


class Pair(Section):
    """A certificate and its key: in PEM files, or together in a PKCS#12 store."""

    certificate: FilePath | None = Field(
        default=None,
        description="A PEM file: the certificate, then the intermediate ones.",
        examples=["tls/server.pem"],
    )
    key: FilePath | None = Field(
        default=None,
        description="The certificate's private key, PEM; without it, the key is in the file of `certificate`.",
        examples=["tls/server.key"],
    )
    key_password: str | None = Field(
        default=None, repr=False, description="The password of an encrypted `key`.", examples=["${KEY_PASSWORD}"]
    )
    keystore: FilePath | None = Field(
        default=None,
        description="A PKCS#12 store with certificate and key, instead of `certificate` and `key`.",
        examples=["tls/server.p12"],
    )
    keystore_password: str | None = Field(
        default=None, repr=False, description="The password of `keystore`.", examples=["${KEYSTORE_PASSWORD}"]
    )

    @property
    def given(self) -> bool:
        """Is there a certificate to present?"""
        return self.certificate is not None or self.keystore is not None


class Trusting(Pair):
    """A side that shows itself, and trusts others."""

    ca: FilePath | None = Field(
        default=None,
        description="The authorities that are trusted: a PEM file, or a PKCS#12 store.",
        examples=["tls/ca.pem"],
    )
    ca_password: str | None = Field(
        default=None, repr=False, description="The password of `ca`, if it is a store.", examples=["${CA_PASSWORD}"]
    )
    versions: tuple[Version, ...] = Field(
        default=("TLSv1.2", "TLSv1.3"),
        min_length=1,
        description="The versions of TLS that are accepted.",
        examples=["[TLSv1.2, TLSv1.3]"],
    )


class ListenerTls(Trusting):
    """TLS with the clients of a listener."""

    client_auth: Literal["none", "requested", "required"] = Field(
        default="none",
        description="Whether clients show a certificate, signed by one of `ca`; as Kafka's `ssl.client.auth`.",
        examples=["required"],
    )
    principal_mapping: Rules = Field(
        default=(DEFAULT,),
        description="From a client certificate's name to its principal: the rules of `ssl.principal.mapping.rules`.",
        examples=[f'["{EXAMPLE}", DEFAULT]'],
    )
    hosts: HostNames | None = Field(
        default=None,
        description="A host name for each broker: all are reached on the one port of `bind`, told apart by that name"
        " (SNI). The name in `advertise` is for `bootstrap.servers`.",
        examples=["broker-{id}.kafka.example.com"],
    )
    certificates: tuple[Pair, ...] = Field(
        default=(),
        description="Further certificates; a client is shown the one that is valid for the name it asks for.",
        examples=["[{certificate: tls/other.pem, key: tls/other.key}]"],
    )


class ClusterTls(Trusting):
    """TLS with the brokers of a cluster."""

    ca: FilePath | None = Field(
        default=None,
        description="The authorities that are trusted: a PEM file, or a PKCS#12 store;"
        " without it, those of this machine.",
        examples=["tls/ca.pem"],
    )
    verify_host: StrictBool = Field(
        default=True,
        description="Whether a broker's certificate must be valid for the host name by which it was dialled.",
        examples=["true"],
    )
    server_name: HostName | None = Field(
        default=None,
        description="The name that every broker's certificate is valid for, if that is not its host name.",
        examples=["kafka.internal"],
    )


OptionalClusterTls = Annotated[
    ClusterTls | None, BeforeValidator(_optional_section, json_schema_input_type=ClusterTls | bool | None)
]


class UnusableError(ValueError):
    """A file, or an option about it, that cannot be used: `option` is the one to change."""

    def __init__(self, option: str, fact: str, way_out: str) -> None:
        super().__init__(f"{fact}; {way_out}")
        self.option = option
