"""From a scenario's text to the request that is sent, in one version.

Rules:
* Fields that a scenario leaves out get sensible values: a zero might cause another error. A name in place of a struct
  is a struct of that name: `topicData: [orders]`.
* Fields of other versions are left out; a topic's name becomes its id where the version wants that.
* `$word` is a value kept from an earlier response, and `$version` is the version of the request. `$name(orders)` is a
  name in its form on the wire; other functions give bytes that clients make.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Protocol, cast

from proxy.protocol.api import Api
from proxy.protocol.records.record import Record
from proxy.protocol.records.write import write_batch
from proxy.protocol.schema import Field, Request, Struct, StructType, blank
from proxy.protocol.wire import BYTES, NO_UUID, RECORDS, UUID, Meaning
from tests.acl.embedded import assignment, subscription, uuid_text
from tests.acl.names import Names
from tests.acl.nodes import PASSWORD
from tests.acl.sensible import SENSIBLE, WITH_OWN_NAMES, WORDS

NAMED = (
    Meaning.TOPIC_NAME,
    Meaning.GROUP_ID,
    Meaning.TRANSACTIONAL_ID,
    Meaning.COORDINATOR_KEY,
    Meaning.USER,
    Meaning.RESOURCE_NAME,
)
MANGLED = (*NAMED[:-1], Meaning.TOPIC_REGEX)
PLACEHOLDER = re.compile(r"\$(\w+)(?:\(([^)]*)\))?")


class Ids(Protocol):
    """The id of a topic, by its name on the wire."""

    def of(self, name: str) -> bytes: ...


class Asking:
    """Makes the requests of a scenario from its names, topic ids, and values kept from responses."""

    def __init__(self, names: Names, ids: Ids, kept: dict[str, Any]) -> None:
        self.names, self.ids, self.kept = names, ids, kept
        self.functions: dict[str, Callable[[str], Any]] = {
            "name": names.wire,
            "principal": names.principal,
            "topic_id": lambda name: ids.of(names.wire(name)),
            "topic_id_text": lambda name: uuid_text(ids.of(names.wire(name))),
            "subscription": lambda name: subscription(names.wire(name)),
            "assignment": lambda name: assignment(names.wire(name)),
            "login": lambda user: f"\0{names.wire(user)}\0{PASSWORD}".encode(),
        }

    def request(self, api: Api, version: int, said: Mapping[str, Any]) -> Request:
        """The request in this version."""
        return cast(Request, self._struct(api, api.request, version, {**said}, top=True))

    def _struct(self, api: Api, cls: type[Struct], version: int, said: Any, *, top: bool = False) -> Struct:
        if not isinstance(said, dict):
            said = {naming(cls).json: said}
        struct = blank(cls)
        for field in cls.fields:
            if not field.present(version):
                continue
            if field.json in said:
                value = self._said(api, field, version, said[field.json], said)
            elif field.meaning is Meaning.TOPIC_ID and not field.is_array:
                value = self._id(cls, version, said)
            elif field.tag is not None:
                continue
            else:
                value = self._left_out(api, field, version, top)
            setattr(struct, field.name, value)
        return struct

    def _id(self, cls: type[Struct], version: int, said: Mapping[str, Any]) -> bytes:
        """The id of the named topic, in a version that has no field for its name."""
        named = [field for field in cls.fields if field.meaning is Meaning.TOPIC_NAME]
        if any(field.present(version) for field in named) or not any(field.json in said for field in named):
            return NO_UUID
        name = next(said[field.json] for field in named if field.json in said)
        return self.ids.of(self.names.wire(self.filled(name, version)))

    def _left_out(self, api: Api, field: Field, version: int, top: bool) -> Any:
        if field.is_array:
            return field.default() if top else self._one_partition(api, field, version)
        if field.name in SENSIBLE:
            return SENSIBLE[field.name]
        if field.kind is RECORDS:
            return write_batch([Record(None, b"x")])
        if isinstance(field.kind, StructType):
            return None if field.may_be_null(version) else self._struct(api, field.kind, version, {})
        return None if field.may_be_null(version) and field.required else field.default()

    def _one_partition(self, api: Api, field: Field, version: int) -> Any:
        """The default of an array: the first partition in an array of partitions, else nothing."""
        if field.may_be_null(version):
            return None
        if field.name == "assignments":
            return []
        if field.meaning is Meaning.PARTITION:
            return [0]
        if isinstance(field.kind, StructType) and any(each.meaning is Meaning.PARTITION for each in field.kind.fields):
            return [self._struct(api, field.kind, version, {})]
        return []

    def _said(self, api: Api, field: Field, version: int, value: Any, around: Mapping[str, Any]) -> Any:
        if value is None:
            return None
        if field.is_array:
            return [self._one(api, field, version, each, around) for each in value]
        return self._one(api, field, version, value, around)

    def _one(self, api: Api, field: Field, version: int, value: Any, around: Mapping[str, Any]) -> Any:
        if isinstance(field.kind, StructType):
            return self._struct(api, field.kind, version, value)
        if field.kind is RECORDS:
            return self._records(value, version)
        if isinstance(value, str):
            value = self.filled(value, version)
        if not isinstance(value, str):
            return value
        words = WORDS.get(_word_kind(api, field))
        if words is not None:
            return int(words[value])
        if field.meaning is Meaning.TOPIC_ID:
            return self.ids.of(self.names.wire(value))
        if field.kind is UUID:
            raise ValueError(f"{field.json} is an id: {value!r} is none")
        if field.kind is BYTES:
            return value.encode()
        return self._name(api, field, value, around)

    def _name(self, api: Api, field: Field, value: str, around: Mapping[str, Any]) -> str:
        if field.meaning is Meaning.TOPIC_REGEX:
            return f"{self.names.beginning}(?:{value})"
        if field.meaning is Meaning.PRINCIPAL:
            return self.names.principal(value) if ":" in value else self.names.wire(value) if value != "User" else value
        if field.meaning is Meaning.RESOURCE_NAME:
            said = around.get("resourceType", around.get("resourceTypeFilter"))
            kinds = WORDS["acl_resource_type" if "Acl" in api.name else "config_resource_type"]
            kind = kinds[said] if isinstance(said, str) else said
            return self.names.wire(value) if kind in WITH_OWN_NAMES else value
        return self.names.wire(value) if field.meaning in MANGLED else value

    def _records(self, value: Any, version: int) -> bytes:
        """One record batch: `hello`, `[a, b]`, or a mapping with more options."""
        more = value if isinstance(value, dict) else {"values": value}
        values = more.get("values", ("x",))
        texts = (values,) if isinstance(values, str) else values
        options = {name: self.filled(more[name], version) for name in more if name != "values"}
        return write_batch([Record(None, text.encode()) for text in texts], **options)

    def filled(self, value: Any, version: int) -> Any:
        """A text with its placeholders filled; a text that is one placeholder becomes its value, of any type."""
        if not isinstance(value, str):
            return value
        whole = PLACEHOLDER.fullmatch(value)
        if whole is not None:
            return self._stands_for(whole, version)
        return PLACEHOLDER.sub(lambda match: str(self._stands_for(match, version)), value)

    def _stands_for(self, match: re.Match[str], version: int) -> Any:
        name, argument = match[1], match[2]
        if argument is not None:
            return self.functions[name](self.filled(argument, version))
        return version if name == "version" else self.kept[name]


def naming(cls: type[Struct]) -> Field:
    """The field that names a struct."""
    for meaning in (*NAMED, Meaning.TOPIC_ID, Meaning.MEMBER_ID, Meaning.PARTITION):
        for field in cls.fields:
            if field.meaning is meaning and not field.is_array:
                return field
    return next(field for field in cls.fields if not isinstance(field.kind, StructType))


def _word_kind(api: Api, field: Field) -> str:
    kind = field.name.removesuffix("_filter").removeprefix("resource_pattern_").replace("resource_pattern", "pattern")
    if field.name == "resource_pattern_type":
        return "pattern_type"
    if kind == "resource_type":
        return "acl_resource_type" if "Acl" in api.name else "config_resource_type"
    return kind
