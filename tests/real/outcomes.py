"""The outcomes of requests by Kafka's own classes, which read the frames of a ledger, compared with a journal's events.

Compared are the errors of every response; the error of each topic and partition that it names; and of Produce and Fetch
the records and their offsets.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any, NamedTuple

from proxy.protocol.api import APIS
from proxy.protocol.messages.fetch import FetchResponse
from proxy.protocol.messages.list_offsets import ListOffsetsResponse
from proxy.protocol.messages.metadata import MetadataResponse
from proxy.protocol.messages.offset_commit import OffsetCommitResponse
from proxy.protocol.messages.offset_fetch import OffsetFetchResponse
from proxy.protocol.messages.produce import ProduceResponse
from tests.plugins.audit.ledger import Entry, Event
from tests.proxy.protocol.oracles.kafka import Kafka

PRODUCE, FETCH = ProduceResponse.api, FetchResponse.api
OF_PARTITIONS = PRODUCE, FETCH, ListOffsetsResponse.api, OffsetCommitResponse.api, OffsetFetchResponse.api
BY_KEY = {api.key: api for api in APIS.values()}
SIZE = 4  # bytes of a frame before its header
HEAD = 8  # bytes of a response before its header's tagged fields: size and correlation id
BATCH = struct.Struct(">qi9xhi30xi")  # first offset, length, attributes, last offset behind the first, records
BEHIND_LENGTH = 12  # where the length begins to count
IS_CONTROL = 1 << 5  # of attributes
TOPIC = "name", "topic", "topicName"
PARTITION = "partitionIndex", "partition", "index"

Partition = tuple[str, int]  # a topic's name and a partition


class Moved(NamedTuple):
    """Records of one partition that were written or read."""

    records: int
    first: int | None
    last: int | None


class Reading:
    """Reads the frames of a ledger. `kafka` has the classes."""

    def __init__(self, kafka: Kafka) -> None:
        self._kafka = kafka
        self._header = kafka.common.requests.RequestHeader
        self._buffer = kafka.java.nio.ByteBuffer
        self._to_array = kafka.common.utils.Utils.toArray
        self._error = cache(lambda code: str(kafka.common.protocol.Errors.forCode(code).name()))
        self._no_tags = cache(lambda api, version: kafka.kind(api).responseHeaderVersion(version))  # they are one byte
        self._names: dict[str, str] = {}  # of topics, by their ids

    def differences(self, pairs: Iterable[tuple[Entry, Event]]) -> Iterator[str]:
        """What an event says otherwise than its response."""
        pairs = list(pairs)
        for entry, _ in pairs:
            if BY_KEY[entry.api].response is MetadataResponse:
                answer = json.loads(self._kafka.to_json(self._response(entry), entry.version))
                self._names |= {topic["topicId"]: topic["name"] for topic in answer["topics"] if "topicId" in topic}
        for entry, event in pairs:
            for what, theirs, ours in self._compared(entry, event):
                if theirs != ours:
                    yield f"{event['api']} v{entry.version} {entry.number}: {what} {ours}, and Kafka reads {theirs}"

    def _compared(self, entry: Entry, event: Event) -> Iterator[tuple[str, object, object]]:
        """What is compared: its name, by Kafka and in the journal."""
        yield "request_bytes", len(entry.request), event["request_bytes"]
        yield "response_bytes", len(entry.response), event["response_bytes"]
        response = self._response(entry)
        answer = json.loads(self._kafka.to_json(response, entry.version))
        yield "errors", sorted({self._error(code) for code in error_codes(answer)}), sorted(event["errors"])
        resources = [it for it in event.get("resources", ()) if "partition" in it]
        if BY_KEY[entry.api] in OF_PARTITIONS:
            theirs = {place: self._error(code) if code else None for place, code in self._partitions(answer)}
            yield "partitions", theirs, {(it["name"], it["partition"]): it.get("error") for it in resources}
        if BY_KEY[entry.api] is PRODUCE:
            yield "records", self._written(entry, answer), recorded(resources)
        if BY_KEY[entry.api] is FETCH:
            yield "records", self._read(response), recorded(resources)

    def _response(self, entry: Entry) -> Any:
        api = BY_KEY[entry.api]
        body = HEAD + self._no_tags(api, entry.version)
        return self._kafka.read(api.response, entry.version, entry.response[body:])

    def _written(self, entry: Entry, answer: Any) -> dict[Partition, Moved]:
        """What a Produce request wrote: the records are in the request, their first offset is in the answer."""
        buffer = self._buffer.wrap(entry.request[SIZE:])
        self._header.parse(buffer)
        body = SIZE + buffer.position()
        request = self._kafka.read(PRODUCE.request, entry.version, entry.request[body:])
        firsts = {
            (self._name(topic), partition["index"]): partition["baseOffset"]
            for topic in answer["responses"]
            for partition in topic["partitionResponses"]
            if not partition["errorCode"]
        }
        found = {}
        for topic in each(request.topicData()):
            name = str(topic.name()) or self._names[str(topic.topicId().toString())]
            for partition in each(topic.partitionData()):
                place = name, int(partition.index())
                count = sum(batch.records for batch in self._batches(partition.records()))
                if place in firsts:
                    first = firsts[place]
                    found[place] = Moved(count, first, first + count - 1) if first >= 0 else Moved(count, None, None)
        return found

    def _read(self, response: Any) -> dict[Partition, Moved]:
        """What a Fetch response brought."""
        found = {}
        for topic in each(response.responses()):
            name = str(topic.topic()) or self._names[str(topic.topicId().toString())]
            for partition in each(topic.partitions()):
                if batches := self._batches(partition.records()):
                    count = sum(batch.records for batch in batches)
                    place = name, int(partition.partitionIndex())
                    found[place] = Moved(count, batches[0].first, batches[-1].last)
        return found

    def _batches(self, records: Any) -> list[Moved]:
        """What each batch has, without those that end transactions. It is read here, since py4j takes 1 ms for each."""
        data = b"" if records is None else bytes(self._to_array(records.buffer()))
        found, start = [], 0
        while start + BATCH.size <= len(data):
            first, length, attributes, behind, count = BATCH.unpack_from(data, start)
            start += BEHIND_LENGTH + length
            if start <= len(data) and not attributes & IS_CONTROL:
                found.append(Moved(count, first, first + behind))
        return found

    def _name(self, topic: Any) -> str:
        """The name of a topic, in JSON."""
        name = next((topic[word] for word in TOPIC if topic.get(word)), None)
        return name or self._names[topic["topicId"]]

    def _partitions(self, answer: Any) -> Iterator[tuple[Partition, int]]:
        """The partitions that an answer names, each with its error."""
        for topic in nested(answer, lambda it: any(word in it for word in (*TOPIC, "topicId"))):
            for partition in nested(topic, lambda it: any(word in it for word in PARTITION) and "errorCode" in it):
                number = next(partition[word] for word in PARTITION if word in partition)
                yield (self._name(topic), number), partition["errorCode"]


def recorded(resources: Iterable[dict[str, Any]]) -> dict[Partition, Moved]:
    """The records of an event, by partition."""
    return {
        (it["name"], it["partition"]): Moved(it["records"], it.get("first_offset"), it.get("last_offset"))
        for it in resources
        if it.get("records") and "error" not in it
    }


def error_codes(answer: Any) -> Iterator[int]:
    """All errors in an answer, in JSON."""
    for it in nested(answer, lambda it: isinstance(it, dict)):
        yield from (code for word, code in it.items() if word.lower().endswith("errorcode") and code)


def nested(value: Any, wanted: Callable[[Any], bool]) -> Iterator[Any]:
    """All mappings in a JSON value that are wanted."""
    if isinstance(value, dict) and wanted(value):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from nested(inner, wanted)


def each(collection: Any) -> Iterator[Any]:
    """The elements of any collection of Java's."""
    iterator = collection.iterator()
    while iterator.hasNext():
        yield iterator.next()
