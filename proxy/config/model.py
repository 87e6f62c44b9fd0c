"""The options of the configuration file, declared once; those of `limits` are in `limit_options.py`.

These declarations are for readers, and `doorkeeper check` validates a file against them. The JSON Schema for editors is
generated from them, and the reference in `README.md` from that (`reference`). Every option has a description and
examples. The first example is what a message suggests where the option is missing or wrong. A configuration never
changes once it is loaded.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Generic, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field, PlainSerializer, Strict

from proxy.config.limit_options import LimitOptions
from proxy.config.plugins import PluginEntry
from proxy.config.sasl import ClusterSasl, ListenerSasl, Secret
from proxy.config.tls import ListenerTls, OptionalClusterTls
from proxy.config.values import Bind, HostName, HostPort
from proxy.core.topology import Endpoint
from proxy.text.file import Items, Section
from proxy.text.words import wrong

T = TypeVar("T")
MOST_WORKERS = 1_024  # each is a process; the largest machines have some hundred cores


class Named(Mapping[str, T], Generic[T]):
    """An immutable mapping from name to section, in the order of the file."""

    __slots__ = ("_items",)

    def __init__(self, items: Mapping[str, T]) -> None:
        self._items = dict(items)

    def __getitem__(self, name: str) -> T:
        return self._items[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __repr__(self) -> str:
        return f"Named({self._items!r})"


def _limits_left_empty(value: Any) -> Any:
    return {} if value is None else value


UniqueNames = (AfterValidator(Named), PlainSerializer(dict))


def _token(value: Any) -> Any:
    if isinstance(value, str) and not TOKEN.fullmatch(value):
        raise wrong(
            "this is no token", "write 16 characters or more, none of them a space, as of `openssl rand -hex 16`"
        )
    return value


TOKEN = re.compile(r"[!-~]{16,1000}")
AdminToken = Annotated[Secret, BeforeValidator(_token)]


class ClusterOptions(Section):
    """A Kafka cluster that the proxy stands in front of."""

    bootstrap: tuple[HostPort, ...] = Field(
        min_length=1,
        description="Addresses of some of its brokers, tried in turn; all the others are discovered from them.",
        examples=["[kafka-1:9092, kafka-2:9092]"],
    )
    via: Mapping[HostPort, HostPort] | None = Field(
        default=None,
        description="Other addresses at which to dial brokers (tunnels, toxiproxy), by the ones that they advertise.",
        examples=["{kafka-1:9092: 127.0.0.1:20001}"],
    )
    tls: OptionalClusterTls = Field(
        default=None,
        description="TLS with its brokers; `true` trusts the authorities of this machine.",
        examples=["{ca: tls/ca.pem}"],
    )
    sasl: ClusterSasl | None = Field(
        default=None,
        description="How the proxy authenticates to its brokers, if they require it.",
        examples=["{mechanism: SCRAM-SHA-512, username: doorkeeper, password: ${KAFKA_PASSWORD}}"],
    )
    principal_claim: str = Field(
        default="sub",
        min_length=1,
        description="The claim that has the principal, in tokens that pass to its brokers: their"
        " `sasl.oauthbearer.sub.claim.name`.",
        examples=["sub"],
    )

    @property
    def detours(self) -> dict[Endpoint, Endpoint]:
        """For each broker that is dialled elsewhere than its own address says: that address, and the one to dial."""
        return {Endpoint(*broker): Endpoint(*place) for broker, place in (self.via or {}).items()}


class ListenerOptions(Section):
    """A place where clients connect: a bootstrap port, and a port for each broker after it."""

    cluster: str = Field(description="The cluster behind it: a name under `clusters`.", examples=["main"])
    bind: Bind = Field(
        description="The bootstrap port (`bootstrap.servers` of the clients); broker N answers on this port + 1 + N.",
        examples=["0.0.0.0:9192"],
    )
    advertise: HostName | None = Field(
        default=None,
        description="The host that clients are given for every broker; without it, the host of `bind`.",
        examples=["kafka.example.com"],
    )
    tls: ListenerTls | None = Field(
        default=None,
        description="TLS with its clients.",
        examples=["{certificate: tls/server.pem, key: tls/server.key}"],
    )

    sasl: ListenerSasl | None = Field(
        default=None,
        description="How clients authenticate; without it SASL passes to brokers, unless the proxy logs in itself.",
        examples=["{mechanisms: [SCRAM-SHA-512], credentials: users.yaml}"],
    )

    @property
    def advertised_host(self) -> str:
        """The host that clients are told for every broker."""
        return self.advertise or self.bind.host


class Admin(Section):
    """The HTTP side of the proxy, for people and for monitoring."""

    bind: Bind = Field(description="Where it listens; best kept on loopback.", examples=["127.0.0.1:9190"])
    token: AdminToken | None = Field(
        default=None,
        description="The token that requests need (`Authorization: Bearer TOKEN`) to see clients and to add faults."
        " Without it, they are answered on loopback alone; `/health` and `/metrics` need none.",
        examples=["${DOORKEEPER_TOKEN}"],
    )

    @property
    def secret(self) -> str | None:
        """The token itself."""
        return None if self.token is None else self.token.get_secret_value()


class Config(Section):
    """One configuration file of Doorkeeper."""

    clusters: Annotated[Mapping[str, ClusterOptions], *UniqueNames] = Field(
        min_length=1,
        description="The Kafka clusters, each under a name of your choice.",
        examples=["{main: {bootstrap: [kafka-1:9092]}}"],
    )
    listeners: Annotated[Mapping[str, ListenerOptions], *UniqueNames] = Field(
        min_length=1,
        description="Where clients connect, each under a name of your choice.",
        examples=["{clients: {cluster: main, bind: 0.0.0.0:9192, advertise: kafka.example.com}}"],
    )
    plugins: Items[PluginEntry] = Field(
        default=(),
        description="The plugins in force, in order, each with its options; address rewriting is always there.",
        examples=["[acl: {rules: acl.yaml}]"],
    )
    workers: Annotated[int, Strict()] = Field(
        default=1,
        ge=1,
        le=MOST_WORKERS,
        description="Processes that share the ports; one for each core is as fast as it gets.",
        examples=[1],
    )
    limits: Annotated[LimitOptions, BeforeValidator(_limits_left_empty)] = Field(
        default=LimitOptions(),
        description="Protection against clients and brokers that ask for too much.",
        examples=["{frame: 100 MiB}"],
    )
    admin: Admin | None = Field(
        default=None,
        description="The HTTP side: health, metrics, clients and faults, about all workers; off unless given.",
        examples=["{bind: 127.0.0.1:9190}"],
    )
