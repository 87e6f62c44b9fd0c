"""Addresses as a person writes them: "kafka-1:9092", "[::1]:9092"."""

from ipaddress import IPv6Address
from socket import AF_INET6, inet_aton, inet_pton
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, GetCoreSchemaHandler, WithJsonSchema
from pydantic_core import core_schema

from proxy.core.addresses import LAST_PORT, is_ipv6, is_name
from proxy.core.topology import Endpoint
from proxy.text.quantities import FROM_ENVIRONMENT
from proxy.text.words import shown, wrong


def is_wildcard(host: str) -> bool:
    """Is this every address of the machine? It has many notations: "0.0.0.0", "0", "::", "::0"."""
    try:
        packed = inet_pton(AF_INET6, host.partition("%")[0]) if ":" in host else inet_aton(host)
    except OSError:
        return False
    return not any(packed)


class HostPort(Endpoint):
    """A host and a port; written `host:port`, an IPv6 host in brackets."""

    __slots__ = ()

    @property
    def is_wildcard(self) -> bool:
        """Whether this is every address of the machine: a server can listen there, but no client can connect to it."""
        return is_wildcard(self.host)

    @classmethod
    def parse(cls, value: object) -> "HostPort":
        """Read `host:port` or `[ipv6]:port`; ports are 1 to 65535."""
        if isinstance(value, HostPort):
            return value
        if not isinstance(value, str):
            raise wrong(f"{shown(value)} is not an address", 'write "host:port"')
        if "," in value:
            raise wrong(f'"{value}" has several addresses', f"write each by itself: [{', '.join(value.split(','))}]")
        host, colon, port = value.rpartition(":")
        if not colon or value.endswith("]"):
            raise wrong(f'"{value}" has no port', f'write "{value}:9092"')
        if host.startswith("[") and host.endswith("]"):
            host = host[1:-1]
            if not is_ipv6(host):
                raise wrong(f'"{host}" in brackets is not an IPv6 address', 'write e.g. "[::1]:9092"')
        elif "://" in value:
            raise wrong(f'"{value}" has a scheme', f'write "{value.split("://")[1].rstrip("/")}"')
        elif ":" in host:
            raise wrong(f'"{value}" has more than one ":"', 'write an IPv6 host in brackets: "[::1]:9092"')
        elif not is_name(host):
            raise wrong(f'"{host}" is not a host name', 'write "host:port", without a scheme or spaces')
        if not port.isascii() or not port.isdigit() or not 1 <= int(port[:6]) <= LAST_PORT:
            raise wrong(f'"{port}" is not a port', f"ports are 1 to {LAST_PORT}")
        return cls(host, int(port))

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        return core_schema.no_info_plain_validator_function(cls.parse, serialization=core_schema.to_string_ser_schema())

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: Any, handler: Any) -> dict[str, object]:
        return {"type": "string", "pattern": rf"^(\S+:[0-9]{{1,5}}|.*{FROM_ENVIRONMENT}.*)$"}


def listened_on(address: HostPort) -> HostPort:
    """An address to listen on. The system listens on no IPv4 address in the notation of IPv6 ("::ffff:127.0.0.1")."""
    mapped = IPv6Address(address.host).ipv4_mapped if is_ipv6(address.host) else None
    if mapped is not None:
        raise wrong(f'"{address}" is an IPv4 address in brackets', f'write "{mapped}:{address.port}"')
    return address


Bind = Annotated[HostPort, AfterValidator(listened_on)]


def host(value: object) -> str:
    """A host name or an IP address, without a port."""
    if not isinstance(value, str) or not (is_name(value) or is_ipv6(value)):
        raise wrong(f"{shown(value)} is not a host", "write a name or an IP address, without a port")
    if is_wildcard(value):
        raise wrong(f'nobody can connect to "{value}"', "write the name by which clients reach this machine")
    return value


HostName = Annotated[str, BeforeValidator(host), WithJsonSchema({"type": "string"})]
