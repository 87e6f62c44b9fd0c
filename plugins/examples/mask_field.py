"""A field of JSON values is masked for consumers: {"card": "4111..."} arrives as {"card": "***"}.

    - mask_field: {topics: [payments], field: card.number}

Rules:
* All records fetched of these topics are masked, for consumers and for share groups. A topic that is named by an id, of
  which the name is not known, is masked too.
* A value that cannot be changed safely is masked whole: no JSON, a name twice in one object (a reader may take either),
  a number that would not be written as it was read. Null stays null: it deletes a key.
* Records of before Kafka 0.11, and records that cannot be read, are withheld: their partition has an error. Clients are
  not offered the versions of Fetch in which brokers would convert newer records to such old ones.
* Keys and headers stay as they are, and so do the records in the topic.
"""

import json
from decimal import Decimal, InvalidOperation
from typing import Any

from pydantic import Field

from proxy.plugin import (
    FETCH,
    ApiVersionsResponse,
    Context,
    Decision,
    ErrorCode,
    FetchRequest,
    FetchResponse,
    Forward,
    MessageSetError,
    Plugin,
    ProtocolError,
    Record,
    Services,
    ShareFetchRequest,
    ShareFetchResponse,
    Steps,
    on_request,
    on_response,
    rewrite_records,
    turns,
)

MASK = "***"
WITH_BATCHES = 4  # the version of Fetch that brought record batches
WITH_IDS = 13  # and the one that brought topic ids


class MaskField(Plugin):
    """Mask a field of JSON values."""

    class Options(Plugin.Options):
        """What is masked."""

        topics: list[str] = Field(description="The topics whose values are masked.", examples=["[payments]"])
        field: str = Field(description='The field; "." leads to one inside of another.', examples=["card.number"])

    def __init__(self, options: Options, services: Services) -> None:
        super().__init__(options, services)
        self._topics = frozenset(options.topics)
        self._path = options.field.split(".")
        self._masked = services.counter("values", "Values of which something was masked.", unit="{record}")

    @on_request(FetchRequest, fields="topics")
    @on_request(ShareFetchRequest, fields="topics")
    def fetch(self, ctx: Context, request: FetchRequest | ShareFetchRequest) -> Steps:
        """Learn the names of the topics whose ids the answer will have."""
        if isinstance(request, ShareFetchRequest) or ctx.version >= WITH_IDS:
            names = self.services.topics
            yield from names.ask(names.unknown(topic.topic_id for topic in request.topics))
        return None

    @on_response(FetchResponse, fields="responses")
    @on_response(ShareFetchResponse, fields="responses")
    def fetched(self, ctx: Context, response: FetchResponse | ShareFetchResponse) -> Decision:
        """Mask the values."""
        changed = False
        for topic in turns(response.responses):
            if self._is_masked(ctx, topic):
                for partition in turns(topic.partitions):
                    changed |= self._mask_partition(ctx, partition)
        return Forward(response) if changed else None

    @on_response(ApiVersionsResponse, fields="api_keys")
    def offered(self, ctx: Context, response: ApiVersionsResponse) -> Decision:
        """Offer Fetch only in versions whose records can be read."""
        for entry in response.api_keys:
            if entry.api_key == FETCH.key:
                entry.min_version = max(entry.min_version, WITH_BATCHES)
        response.api_keys = [entry for entry in response.api_keys if entry.min_version <= entry.max_version]
        return Forward(response)

    def _is_masked(self, ctx: Context, topic: Any) -> bool:
        by_id = isinstance(topic, ShareFetchResponse.Topic) or ctx.version >= WITH_IDS
        name = self.services.topics.get(topic.topic_id) if by_id else topic.topic
        return name is None or name in self._topics

    def _mask_partition(self, ctx: Context, partition: Any) -> bool:
        """Returns whether it has changed."""
        before = partition.records
        if before is None:
            return False
        try:
            partition.records = rewrite_records(before, self._mask, partial=True)
        except ProtocolError as error:
            is_old = isinstance(error, MessageSetError)
            code = ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT if is_old else ErrorCode.CORRUPT_MESSAGE
            partition.error_code, partition.records = code, b""
            self.services.tell("records withheld", ctx.connection, level="warning", about=code, why=str(error))
        return partition.records is not before

    def _mask(self, record: Record) -> Record:
        if record.value is None:
            return record
        try:
            value = json.loads(bytes(record.value), object_pairs_hook=once, parse_float=exact)
            if not mask(value, self._path):
                return record
            text = json.dumps(value, separators=(",", ":"))
        except (ValueError, RecursionError):  # RecursionError: a value that is nested thousands deep
            text = json.dumps(MASK)
        self._masked.add()
        return record._replace(value=text.encode())


def mask(value: Any, path: list[str]) -> bool:
    """Mask the values that the path leads to, in each element of lists. Returns whether there were any."""
    if isinstance(value, list):
        return sum(mask(each, path) for each in value) > 0  # all of them, not only the first
    if not isinstance(value, dict) or path[0] not in value:
        return False
    if len(path) > 1:
        return mask(value[path[0]], path[1:])
    value[path[0]] = MASK
    return True


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON. Raises ValueError where a name is in it twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name stands twice in an object")
    return found


def exact(text: str) -> float:
    """A number of JSON. Raises ValueError where it would be written as another one."""
    number = float(text)
    try:
        is_same = Decimal(repr(number)) == Decimal(text)
    except InvalidOperation:  # an exponent that Decimal cannot hold
        is_same = False
    if not is_same:
        raise ValueError(f"{text} has more digits than are kept")
    return number
