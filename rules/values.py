"""The values of a rule's options, as a person writes them: principals, operations, names of resources.

Rules:
* A single value may be written in place of a list.
* A name is its text. A `*` at its end makes it a prefix, a `*` alone is every name; `{literal: a*}` and
  `{prefixed: "*"}` say so in full, for names that have a `*` of their own.
"""

from typing import Annotated, Any, NamedTuple, TypeVar

from pydantic import BeforeValidator, Field, PlainValidator
from pydantic_core import PydanticCustomError

from proxy.text.words import nearest, shown, wrong
from rules import hosts
from rules.vocabulary import CLUSTER_NAME, WILDCARD, Operation, PatternType, spoken

T = TypeVar("T")
MECHANISMS = ("GSSAPI", "OAUTHBEARER", "PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")


class Pattern(NamedTuple):
    """The names of resources that a rule matches: one name, a prefix, or all names (the LITERAL `*`)."""

    type: PatternType
    name: str

    @property
    def is_every(self) -> bool:
        return self.type is PatternType.LITERAL and self.name == WILDCARD

    def holds(self, name: str) -> bool:
        """Whether the pattern matches a resource of this name."""
        if self.type is PatternType.PREFIXED:
            return name.startswith(self.name)
        return name == self.name or (self.name == WILDCARD and not name.startswith(WILDCARD))

    @property
    def written(self) -> str | dict[str, str]:
        """The value as written in a file."""
        if self.is_every:
            return WILDCARD
        prefixed = self.type is PatternType.PREFIXED
        if WILDCARD in self.name or not self.name:
            return {"prefixed" if prefixed else "literal": self.name}
        return f"{self.name}*" if prefixed else self.name


EVERY = Pattern(PatternType.LITERAL, WILDCARD)


def text(value: object, kind: str, example: str) -> str:
    """A text that is not empty. A number, or a word that YAML reads as a boolean, must be quoted."""
    if isinstance(value, (bool, int, float)):
        raise wrong(f"{shown(value)} is not text here", f"put it in quotes: '{shown(value)}'")
    if not isinstance(value, str) or not value:
        raise wrong(f"{shown(value)} is not a {kind}", f'write e.g. "{example}"')
    return value


def pattern(value: object) -> Pattern:
    """Read a name, `prefix*`, `*`, `{literal: name}` or `{prefixed: beginning}`."""
    if isinstance(value, dict):
        return _in_full(value)
    name = text(value, "name", "orders")
    if name == WILDCARD:
        return EVERY
    if WILDCARD in name[:-1]:
        way_out = f"write {{literal: '{name}'}} if it belongs to the name"
        raise wrong(f'a "*" inside "{name}" has no meaning', way_out)
    if name.endswith(WILDCARD):
        return Pattern(PatternType.PREFIXED, name[:-1])
    return Pattern(PatternType.LITERAL, name)


def _in_full(value: dict[Any, Any]) -> Pattern:
    if len(value) != 1:
        raise wrong(f"{len(value)} options stand where one name must", "write {literal: x} or {prefixed: x}")
    ((kind, name),) = value.items()
    if kind not in ("literal", "prefixed"):
        raise wrong(f'unknown pattern type "{kind}"', nearest(kind, ("literal", "prefixed")))
    if name != "":
        text(name, "name", "orders")
    return Pattern(PatternType.PREFIXED if kind == "prefixed" else PatternType.LITERAL, name)


def cluster(value: object) -> Pattern:
    """Read `true`, or a pattern: the cluster has the name kafka-cluster wherever Kafka asks."""
    if value is False:
        raise wrong("false says nothing", 'leave "cluster" out')
    return Pattern(PatternType.LITERAL, CLUSTER_NAME) if value is True else pattern(value)


def principal(value: object) -> str:
    """Read `Type:name`."""
    name = text(value, "principal", "User:alice")
    if ":" not in name:
        raise wrong(f'"{name}" has no type', f'write "User:{name}"')
    return name


def operation(value: object) -> Operation:
    """Read `DescribeConfigs` or `DESCRIBE_CONFIGS`."""
    word = value if isinstance(value, str) else shown(value)
    found = spoken(Operation, word)
    if not isinstance(found, Operation):
        raise wrong(f"unknown operation {shown(word)}", nearest(word, (known.word for known in Operation)))
    return found


def mechanism(value: object) -> str:
    """Read the name of a SASL mechanism."""
    name = value if isinstance(value, str) else shown(value)
    if name not in MECHANISMS:
        raise wrong(f'unknown mechanism "{name}"', nearest(name, MECHANISMS))
    return name


def _as_list(value: object) -> object:
    return value if value is None or isinstance(value, tuple) else (value,)


def _given(value: object) -> object:
    """Refuse an option that is written without a value: it would have less effect than its author expects."""
    if value is None:
        raise PydanticCustomError("no_value", "no value")
    return value


def _if_any(value: object) -> object:
    return () if value is None else _as_list(value)


Given = Annotated[T | None, BeforeValidator(_given)]
OneOrMany = Annotated[tuple[T, ...], BeforeValidator(_as_list), Field(min_length=1)]
Patterns = OneOrMany[Annotated[Pattern, PlainValidator(pattern)]]
Clusters = OneOrMany[Annotated[Pattern, PlainValidator(cluster)]]
Principals = OneOrMany[Annotated[str, PlainValidator(principal)]]
SuperUsers = Annotated[tuple[Annotated[str, PlainValidator(principal)], ...], BeforeValidator(_if_any)]
Operations = OneOrMany[Annotated[Operation, PlainValidator(operation)]]
Hosts = OneOrMany[Annotated[hosts.HostPattern, PlainValidator(hosts.parse)]]
Mechanisms = OneOrMany[Annotated[str, PlainValidator(mechanism)]]
NameList = OneOrMany[Annotated[str, PlainValidator(lambda value: text(value, "name", "clients"))]]
