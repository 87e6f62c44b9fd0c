"""Responses in the form that scenarios compare: without values that may differ between two clusters.

Rules:
* Names are the scenario's, topic ids become names, error codes become words. Addresses, times, generated ids and
  throttle times are left out or replaced by `<word>`. The order of elements does not count.
* Of listings, only the elements that belong to the scenario remain.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Protocol

from proxy.protocol.api import API_VERSIONS, DESCRIBE_QUORUM
from proxy.protocol.errors import ErrorCode
from proxy.protocol.records import RecordBatch, batches
from proxy.protocol.schema import Field, Response, Struct, StructType
from proxy.protocol.wire import BYTES, NO_UUID, RECORDS, STRING, UUID, Meaning
from rules.vocabulary import EVERYBODY, Operation
from tests.acl.names import Names
from tests.acl.requests import NAMED

NOT_REQUESTED = -(2**31)
LEFT_OUT = {Meaning.THROTTLE_TIME, Meaning.HOST, Meaning.PORT, Meaning.CLIENT_HOST, Meaning.CLUSTER_ID}
# Fields whose values one cluster measured, counted or generated.
LEFT_OUT_NAMES = {
    "usable_bytes",
    "total_bytes",
    "partition_size",
    "log_end_offset",
    "last_fetch_timestamp",
    "last_caught_up_timestamp",
    "controller_epoch",
    "endpoint_information_epoch",
}
# Such fields of one API, and API keys that the proxy does not advertise (`test_coverage` checks them).
LEFT_OUT_OF = {
    API_VERSIONS: {"apiKeys", "finalizedFeaturesEpoch"},
    DESCRIBE_QUORUM: {"highWatermark"},
}
MADE = {
    "log_dir": "<folder>",
    "hmac": "<token>",
    "token_id": "<token>",
    "session_id": "<session>",
    "replica_directory_id": "<folder>",
    "coordinator_epoch": "<epoch>",
    "leader_epoch": "<epoch>",
}
TIMES = re.compile(r"timestamp|time_ms$")
MADE_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
DUMP = re.compile(r"\bRequest\(.*", re.DOTALL)  # error messages of a controller hold a dump of the request
DUMPED = "<dump>"
ANSWER = "answer"  # the name for the error of the whole response


class Ids(Protocol):
    """Topics of one cluster by name and by id, with their names on the wire."""

    def name(self, topic_id: bytes) -> str | None: ...

    def learn(self, name: str, topic_id: bytes) -> None: ...


class Telling:
    """Converts responses of one cluster for one scenario."""

    def __init__(self, names: Names, ids: Ids) -> None:
        self.names, self.ids = names, ids
        self.left_out: set[str] = set()
        self.named: frozenset[str] = frozenset()  # Kafka's internal names in the request

    def tell(self, answer: Response, version: int) -> Any:
        """The whole response."""
        self.left_out = LEFT_OUT_OF.get(answer.api, set())
        return self._struct(answer, version)

    def _struct(self, struct: Struct, version: int) -> dict[str, Any]:
        self._learn(struct, version)
        told = {}
        for field in struct.fields:
            if field.json in self.left_out:
                continue
            if not field.present(version) or field.meaning in LEFT_OUT or field.name in LEFT_OUT_NAMES:
                continue
            if field.tag is not None and not struct.has(field.name):
                continue
            told[field.json] = self._field(field, getattr(struct, field.name), version)
        return told

    def _learn(self, struct: Struct, version: int) -> None:
        """Learn a topic's name and id from one struct: a response has these before all brokers know a new topic."""
        said = {field.meaning: getattr(struct, field.name) for field in struct.fields if field.present(version)}
        name, topic_id = said.get(Meaning.TOPIC_NAME), said.get(Meaning.TOPIC_ID, NO_UUID)
        if isinstance(name, str) and name and topic_id != NO_UUID and isinstance(topic_id, bytes):
            self.ids.learn(name, topic_id)

    def _field(self, field: Field, value: Any, version: int) -> Any:
        if value is None or not field.is_array:
            return self._one(field, value, version)
        own = [each for each in value if self._belongs(field, each, version)]
        return sorted((self._one(field, each, version) for each in own), key=json.dumps)

    def _belongs(self, field: Field, value: Any, version: int) -> bool:
        """Is this element about a resource of the scenario, or without a name?"""
        if not isinstance(value, Struct):
            return field.meaning not in NAMED or self.names.is_own(value)
        for inner in value.fields:
            if not inner.present(version) or inner.is_array:
                continue
            told = getattr(value, inner.name)
            if inner.meaning in NAMED[:4] and told:
                return self.names.is_own(told) or bool(getattr(value, "error_code", 0)) or told in self.named
            if inner.name in ("principal", "principal_name"):
                return told == EVERYBODY or self.names.is_own(told.removeprefix("User:"))
        return True

    def _one(self, field: Field, value: Any, version: int) -> Any:
        if isinstance(value, Struct):
            return self._struct(value, version)
        if value is None:
            return None
        if field.meaning is Meaning.ERROR:
            return ErrorCode(value).name
        if field.meaning is Meaning.TOPIC_ID:
            return self._topic(value)
        if field.meaning is Meaning.PRODUCER_ID and value >= 0:
            return "<producer>"
        if field.meaning is Meaning.AUTHORIZED_OPERATIONS:
            return [operation.word for operation in Operation if value >> operation & 1] if value >= 0 else None
        if field.name in MADE:
            return value if value in (0, -1, "") else None if value in (b"", NO_UUID) else MADE[field.name]
        if TIMES.search(field.name) and isinstance(value, int) and value > 0:
            return "<time>"
        return self._plain(field, value)

    def _plain(self, field: Field, value: Any) -> Any:
        if field.kind is RECORDS:
            return [text for batch in batches(value, partial=True) for text in _values(batch)]
        if field.kind is BYTES:
            return bytes(value).decode(errors="replace").replace(self.names.beginning, "")
        if field.kind is UUID:
            return "<id>" if value != NO_UUID else None
        if field.kind is not STRING:
            return value
        if field.meaning is Meaning.ERROR_MESSAGE:
            return DUMPED if DUMP.search(value) else value
        return MADE_ID.sub("<made>", self.names.plain(value))

    def _topic(self, topic_id: bytes) -> str | None:
        if topic_id == NO_UUID:
            return None
        name = self.ids.name(topic_id)
        return "<unknown>" if name is None else self.names.plain(name)

    def errors(self, answer: Response, version: int) -> dict[str, str]:
        """Every error of a response, by resource name; one for all partitions of a topic if their errors are equal."""
        found = [(name, partition, error) for name, partition, error in self._errors(answer, version, "", None)]
        by_name: dict[str, dict[Any, str]] = {}
        for name, partition, error in found:
            key = partition if partition is not None else len(by_name.get(name, ()))
            by_name.setdefault(name, {})[key] = error
        told = {}
        for name, by_partition in by_name.items():
            if len(set(by_partition.values())) == 1:
                told[name] = next(iter(by_partition.values()))
            else:
                told |= {f"{name}-{partition}": error for partition, error in sorted(by_partition.items())}
        return told

    def _errors(self, struct: Struct, version: int, name: str, partition: Any) -> Iterator[tuple[str, Any, str]]:
        for field in struct.fields:
            if not field.present(version) or (field.tag is not None and not struct.has(field.name)):
                continue
            value = getattr(struct, field.name)
            if field.meaning is Meaning.ERROR and not field.is_array:
                label = name or ANSWER
                if field.name not in ("error_code", "partition_error_code"):
                    label = f"{label} {field.json.removesuffix('ErrorCode')}"
                yield label, partition, ErrorCode(value).name
            elif isinstance(field.kind, StructType) and value is not None:
                for each in value if field.is_array else [value]:
                    if not self._belongs(field, each, version):
                        continue
                    own, part = self._called(each, version)
                    deeper = "/".join(filter(None, (name, own)))
                    yield from self._errors(each, version, deeper, partition if part is None else part)

    def _called(self, struct: Struct, version: int) -> tuple[str, Any]:
        """The name of a struct, and its partition."""
        own, partition = "", None
        for field in struct.fields:
            if not field.present(version) or field.is_array:
                continue
            value = getattr(struct, field.name)
            if field.meaning in (*NAMED, Meaning.MEMBER_ID) and value and not own:
                own = self.names.plain(value)
            elif field.meaning is Meaning.TOPIC_ID and not own:
                own = self._topic(value) or ""
            elif field.meaning is Meaning.PARTITION:
                partition = value
        return own, partition


def _values(batch: Any) -> list[str]:
    if not isinstance(batch, RecordBatch):
        return ["<message set>"]
    if batch.attributes & 1 << 5:
        return ["<marker>"]
    return [bytes(record.value or b"").decode() for record in batch.records()]
