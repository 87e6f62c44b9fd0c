"""Values as a person writes them: addresses, sizes and durations.

Each is one string with its unit or its parts in it ("kafka-1:9092", "100 MiB", "30s"), so that a number in a
configuration never needs a comment. A bad one is refused with a fact and a way out, which are printed as they are.
"""

import difflib
import re
from collections.abc import Iterable, Mapping
from ipaddress import IPv6Address
from typing import Annotated, Any

from pydantic import BeforeValidator, GetCoreSchemaHandler, WithJsonSchema
from pydantic_core import PydanticCustomError, core_schema

from proxy.core.topology import Endpoint

SIZE_UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "kB": 10**3, "MB": 10**6, "GB": 10**9}
DURATION_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
WILDCARDS = frozenset({"0.0.0.0", "::"})
LAST_PORT = 65_535

# An editor sees the file before the environment is put in: "${NAME}" may stand for any value.
FROM_ENVIRONMENT = r"\$\{[^}]*\}"

_QUANTITY = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,9})?)\s*([A-Za-z]+)")
_HOST_NAME = re.compile(r"(?!-)[A-Za-z0-9_-]{1,63}(?:\.[A-Za-z0-9_-]{1,63})*\.?")


def wrong(fact: str, way_out: str) -> PydanticCustomError:
    """A refusal in our own words: "fact; way out"."""
    return PydanticCustomError("wrong", "{message}", {"message": f"{fact}; {way_out}"})


class Address(Endpoint):
    """A host and a port; written `host:port`, an IPv6 host in brackets."""

    __slots__ = ()

    @property
    def is_wildcard(self) -> bool:
        """Whether it is every address of this machine, where one can listen but to which nobody can connect."""
        return self.host in WILDCARDS

    @classmethod
    def parse(cls, value: object) -> "Address":
        """Read `host:port` or `[ipv6]:port`; ports are 1 to 65535."""
        if isinstance(value, Address):
            return value
        if not isinstance(value, str):
            raise wrong(f"{shown(value)} is not an address", 'write "host:port"')
        host, colon, port = value.rpartition(":")
        if not colon or value.endswith("]"):
            raise wrong(f'"{value}" has no port', f'write "{value}:9092"')
        if host.startswith("[") and host.endswith("]"):
            host = host[1:-1]
            if not _is_ipv6(host):
                raise wrong(f'"{host}" in brackets is not an IPv6 address', 'write e.g. "[::1]:9092"')
        elif "://" in value:
            raise wrong(f'"{value}" has a scheme', f'write "{value.split("://")[1].rstrip("/")}"')
        elif ":" in host:
            raise wrong(f'"{value}" has more than one ":"', 'write an IPv6 host in brackets: "[::1]:9092"')
        elif not _HOST_NAME.fullmatch(host):
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


def shown(value: object) -> str:
    """A value as a message shows it: as YAML writes it, and short."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, (list, tuple)):
        return "a list"
    text = str(value) if len(str(value)) <= 60 else f"{str(value)[:57]}..."
    return f'"{text}"' if isinstance(value, str) else text


def nearest(word: str, known: Iterable[str]) -> str:
    """The way out of a misspelt word: the nearest valid one, or all of them; "" if there is none."""
    words = sorted(known)
    close = nearest_word(word, words)
    if close:
        return f'did you mean "{close}"?'
    return f"known here: {', '.join(words)}" if words else ""


def nearest_word(word: str, known: Iterable[str]) -> str | None:
    """The valid word that a misspelt one most likely stands for, in any case and with "-" for "_"."""
    folded = {candidate.lower(): candidate for candidate in known}
    close = difflib.get_close_matches(word.lower().replace("-", "_"), folded, n=1, cutoff=0.6)
    return folded[close[0]] if close else None


def host(value: object) -> str:
    """A host name or an IP address, without a port."""
    if not isinstance(value, str) or not (_HOST_NAME.fullmatch(value) or _is_ipv6(value)):
        raise wrong(f"{shown(value)} is not a host", "write a name or an IP address, without a port")
    if value in WILDCARDS:
        raise wrong(f'nobody can connect to "{value}"', "write the name by which clients reach this machine")
    return value


def _is_ipv6(text: str) -> bool:
    try:
        IPv6Address(text)
    except ValueError:
        return False
    return True


def size(value: object) -> int:
    """A size in bytes: "100 MiB", "64 KiB", "1 GB"; a bare number is bytes."""
    if isinstance(value, int) and not isinstance(value, bool):
        value = f"{value} B"
    return int(_quantity(value, SIZE_UNITS, "size", "100 MiB"))


def seconds(value: object) -> float:
    """A duration in seconds: "500ms", "10s", "5m"; it must say its unit."""
    if isinstance(value, int) and not isinstance(value, bool):
        raise wrong(f"{value} has no unit", f'write e.g. "{value}s"; units are {", ".join(DURATION_UNITS)}')
    return _quantity(value, DURATION_UNITS, "duration", "10s")


def _quantity(value: object, units: Mapping[str, float], kind: str, example: str) -> float:
    match = _QUANTITY.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None:
        raise wrong(f"{shown(value)} is not a {kind}", f'write e.g. "{example}"')
    number, unit = float(match[1]), match[2]
    if unit not in units:
        raise wrong(f'unknown unit "{unit}"', f"units are {', '.join(units)}")
    if number <= 0:
        raise wrong(f"a {kind} of 0 lets nothing through", f'write e.g. "{example}"')
    return number * units[unit]


def _written_as(*kinds: str, units: Iterable[str]) -> WithJsonSchema:
    pattern = rf"^([0-9.]+ ?({'|'.join(units)})|.*{FROM_ENVIRONMENT}.*)$"
    return WithJsonSchema({"type": list(kinds) if len(kinds) > 1 else kinds[0], "pattern": pattern})


Host = Annotated[str, BeforeValidator(host), WithJsonSchema({"type": "string"})]
Size = Annotated[int, BeforeValidator(size), _written_as("string", "integer", units=SIZE_UNITS)]
Seconds = Annotated[float, BeforeValidator(seconds), _written_as("string", units=DURATION_UNITS)]
