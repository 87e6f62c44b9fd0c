"""The longest slice: for how long does one message keep a worker from its other clients?

    python -m tests.bench.longest [--elements 100000] [API ...]

Under `acl` each API gets requests with that many elements in one array, for each of its arrays: all elements refused,
every second one refused, none refused. The broker answers the requests that reach it and the proxy's own. Each line is
about one request and its response: the total CPU time, the CPU time an element, and the longest slice between two turns
of other connections. Times are CPU times of this process: other work of the machine is not in them.
"""

from __future__ import annotations

import gc
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from plugins.acl import Acl
from plugins.address import Address
from proxy.core.commands import Close, Command, ToBroker, Wake
from proxy.core.filters import Filters
from proxy.core.link import Link
from proxy.net.machine import GARBAGE
from proxy.protocol.api import APIS, DESCRIBE_CONFIGS, METADATA, Api
from proxy.protocol.codec import decode
from proxy.protocol.errors import ErrorCode
from proxy.protocol.frame import REQUEST_HEAD
from proxy.protocol.header import read_request_header, request_frame, response_frame
from proxy.protocol.messages.describe_configs import DescribeConfigsResponse
from proxy.protocol.messages.metadata import MetadataResponse
from proxy.protocol.refuse import refuse
from proxy.protocol.schema import Field, Message, Request, Response, Struct, StructType, blank
from proxy.protocol.wire import BYTES, RECORDS, STRING, UUID, Meaning
from proxy.testing import build, connection, from_broker, from_client

RULES = """
acls:
  - {allow: User:some, to: All, topics: open-*}
  - {allow: User:some, to: All, groups: open-*}
  - {allow: User:some, to: All, transactional_ids: open-*}
  - {allow: User:all, to: All, topics: "*", groups: "*", transactional_ids: "*", cluster: true}
"""
GOAL = 0.050  # seconds
OPEN, SHUT = "open-", "shut-"
KINDS: dict[str, tuple[str, Callable[[int], str]]] = {
    "refused": ("User:some", lambda number: SHUT),
    "mixed": ("User:some", lambda number: SHUT if number % 2 else OPEN),
    "allowed": ("User:all", lambda number: OPEN),
}
NAMES = {
    Meaning.TOPIC_NAME,
    Meaning.GROUP_ID,
    Meaning.TRANSACTIONAL_ID,
    Meaning.RESOURCE_NAME,
    Meaning.COORDINATOR_KEY,
    Meaning.USER,
}

Path_ = tuple[Field, ...]


class Line(NamedTuple):
    """The cost of one request. `longest` is its longest slice."""

    title: str
    elements: int
    seconds: float
    longest: float
    slices: int
    ended: str | None

    def __str__(self) -> str:
        each = self.seconds / self.elements * 1e6
        mark = " <- over" if self.longest > GOAL else ""
        ended = f" ({self.ended[:60]})" if self.ended else ""
        return (
            f"{self.title:70} {self.elements:>8,} {self.seconds:8.2f} s {each:7.1f} us {self.slices:6}"
            f" {self.longest * 1e3:8.1f} ms{mark}{ended}"
        )


def paths(cls: type[Struct], version: int, above: Path_ = ()) -> Iterator[Path_]:
    """The arrays in a struct, by the fields that lead to them."""
    for field in cls.fields:
        if not field.present(version):
            continue
        if field.is_array:
            yield (*above, field)
        if isinstance(field.kind, StructType):
            yield from paths(field.kind, version, (*above, field))


def fill(cls: type[Struct], version: int, path: Path_, count: int, name: Callable[[int], str], number: int = 0) -> Any:
    """A struct whose array at the end of `path` has this many elements; all other arrays have as few as possible."""
    struct = blank(cls)
    for field in cls.fields:
        if not field.present(version):
            continue
        on_the_way = bool(path) and field is path[0]
        if field.is_array:
            many = count if on_the_way and len(path) == 1 else int(on_the_way)
            inner = path[1:] if on_the_way else ()
            setattr(struct, field.name, [_one(field, version, inner, count, name, i) for i in range(many)])
        elif isinstance(field.kind, StructType) and not on_the_way and field.may_be_null(version):
            setattr(struct, field.name, None)
        elif not field.tag or on_the_way:
            setattr(struct, field.name, _one(field, version, path[1:] if on_the_way else (), count, name, number))
    return struct


def _one(field: Field, version: int, path: Path_, count: int, name: Callable[[int], str], number: int) -> Any:
    kind = field.kind
    if isinstance(kind, StructType):
        return fill(kind, version, path, count, name, number)
    if kind is STRING or kind.name == "legacy_string":
        return f"{name(number)}{number:06}" if field.meaning in NAMES else ""
    if kind is UUID:
        return name(number).encode() + number.to_bytes(11)
    if kind in (BYTES, RECORDS):
        return b""
    if field.name in ("resource_type",):
        return 2  # a topic
    if field.name == "acks":
        return 1
    return number % 128 if kind.fmt == "b" else number if field.is_array or field.meaning is Meaning.PARTITION else 0


def answer(request: Any, version: int) -> Response | None:
    """A broker's response."""
    api: Api = request.api
    if api is METADATA and version >= 10:
        topics = [
            MetadataResponse.Topic(
                error_code=0 if t.name is None or t.name.startswith(OPEN) else 3,
                name=t.name if t.name is not None else str(t.topic_id[:5], "utf-8", "replace") + t.topic_id[5:].hex(),
                topic_id=t.topic_id,
                partitions=[],
            )
            for t in request.topics or ()
        ]
        return MetadataResponse(brokers=[], topics=topics)
    if api is DESCRIBE_CONFIGS and len(request.resources) == 1 and request.resources[0].resource_type == 4:
        result = DescribeConfigsResponse.Result
        config = result.Config(name="auto.create.topics.enable", value="true", read_only=True, is_sensitive=False)
        return DescribeConfigsResponse(
            throttle_time_ms=0,
            results=[result(error_code=0, error_message=None, resource_type=4, resource_name="1", configs=[config])],
        )
    return refuse(api, version, request, ErrorCode.NONE)


class Trial:
    """One connection. `turn` times each of its steps."""

    def __init__(self, filters: Filters, principal: str) -> None:
        self.connection = connection()
        self.connection.principal, self.connection.mechanism = principal, "PLAIN"
        self.connection.broker_id, self.connection.broker_versions = 1, {32: (0, 4), 3: (0, 13)}
        self.link = Link(self.connection, filters)
        self.link.begin()
        self.times: list[float] = []
        self.ended: str | None = None
        self._to_broker = bytearray()

    def turn(self, do: Callable[[], list[Command]]) -> list[Command]:
        start = time.process_time()
        commands = do()
        self.times.append(time.process_time() - start)
        return commands

    def release(self) -> None:
        start = time.process_time()
        self.link.release()
        self.times.append(time.process_time() - start)

    def play(self, frame: bytearray) -> None:
        waiting = [self.turn(lambda: from_client(self.link, frame))]
        while waiting:
            for command in waiting.pop():
                if isinstance(command, ToBroker):
                    self._to_broker += command.data
                elif isinstance(command, Wake):
                    token = command.token
                    waiting.append(self.turn(lambda: self.link.wake(token)))  # noqa: B023
                elif isinstance(command, Close):
                    self.ended = command.reason
            while not waiting and len(self._to_broker) >= 4 and not self.link.closed:
                size, key_and_version, number = REQUEST_HEAD.unpack_from(self._to_broker)
                asked = bytes(self._to_broker[4 : 4 + size])
                del self._to_broker[: 4 + size]
                api, version = APIS[key_and_version >> 16], key_and_version & 0xFFFF
                said = answer(decode(api.request, version, asked[read_request_header(asked)[1] :]), version)
                if said is not None:
                    data = bytearray(response_frame(said, version, number))
                    waiting.append(self.turn(lambda: from_broker(self.link, data)))  # noqa: B023


def measured(title: str, filters: Filters, principal: str, request: Request, version: int, count: int) -> Line:
    """Play one request and its response."""
    frame = bytearray(request_frame(request, version, 1, "app"))
    trial = Trial(filters, principal)
    del request
    gc.collect()
    gc.freeze()
    trial.play(frame)
    trial.release()
    gc.unfreeze()
    return Line(title, count, sum(trial.times), max(trial.times), len(trial.times), trial.ended)


def trials(wanted: list[str], count: int, filters: Filters) -> Iterator[Line]:
    """Measure every wanted API, version, array and kind of names."""
    for api in APIS.values():
        if api.inter_broker or (wanted and api.name not in wanted):
            continue
        for version in sorted({api.newest, api.versions[0]}, reverse=True):
            for path in paths(api.request, version):
                for kind, (principal, name) in KINDS.items():
                    where = ".".join(field.name for field in path)
                    request: Message = fill(api.request, version, path, count, name)
                    assert isinstance(request, Request)
                    title = f"{api.name} v{version} {where} {kind}"
                    yield measured(title, filters, principal, request, version, count)


def main(arguments: list[str]) -> None:
    """Print a line for each request, and then the worst."""
    count = 100_000
    if arguments[:1] == ["--elements"]:
        count, arguments = int(arguments[1]), arguments[2:]
    gc.set_threshold(*GARBAGE)
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        rules = Path(folder, "acl.yaml")
        rules.write_text(RULES)
        filters = Filters([build(Address), build(Acl, rules=str(rules))])
        for line in trials(arguments, count, filters):
            lines.append(line)
            print(line, flush=True)
    print("\nThe worst:")
    for line in sorted(lines, key=lambda line: -line.longest)[:20]:
        print(line)


if __name__ == "__main__":
    main(sys.argv[1:])
