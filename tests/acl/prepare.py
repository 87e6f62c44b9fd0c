"""Preparing the scenarios: create all topics at once, and start the coordinators."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import cast

from proxy.protocol.messages.create_topics import CreateTopicsRequest
from proxy.protocol.messages.find_coordinator import FindCoordinatorRequest
from proxy.protocol.messages.metadata import MetadataRequest, MetadataResponse
from proxy.protocol.schema import Response, Struct
from proxy.protocol.wire import NO_UUID, Meaning
from tests.acl.load import Scenario
from tests.acl.names import Names, in_versions
from tests.acl.nodes import Node
from tests.acl.wire import Wire

PATIENCE = 30.0  # seconds until a change is in force


def prepare(node: Node, scenarios: Iterable[Scenario]) -> None:
    """Create all topics, and wait for them and for the coordinators."""
    trusted = Wire(node.trusted)
    named = topics(scenarios)
    Topic = CreateTopicsRequest.Topic  # noqa: N806
    wanted = [
        Topic(name=name, num_partitions=count, replication_factor=1, assignments=[], configs=[])
        for name, count in named.items()
    ]
    checked(trusted.ask(CreateTopicsRequest(topics=wanted, timeout_ms=60_000), 7))

    def there() -> bool:
        asked = [MetadataRequest.Topic(name=name, topic_id=NO_UUID) for name in named]
        request = MetadataRequest(topics=asked, allow_auto_topic_creation=False)
        answer = cast(MetadataResponse, trusted.ask(request, 12))
        return not any(topic.error_code or any(part.error_code for part in topic.partitions) for topic in answer.topics)

    until(there, "the topics")
    for key_type in (0, 1):
        request = FindCoordinatorRequest(key_type=key_type, coordinator_keys=["x"])
        until(lambda request=request: not any(errors(trusted.ask(request, 4))), "a coordinator")  # type: ignore[misc]
    trusted.close()


def topics(scenarios: Iterable[Scenario]) -> dict[str, int]:
    """All topics of the scenarios, by name on the wire, with their numbers of partitions."""
    found: dict[str, int] = {}
    for each in scenarios:
        names = Names(each.number)
        for name, count in each.given.topics.items():
            found |= {names.wire(each): count for each in in_versions(name)}
    return found


def errors(answer: Response) -> Iterator[int]:
    """Every error code in a response, at any depth."""

    def within(struct: Struct) -> Iterator[int]:
        for field in struct.fields:
            if not struct.has(field.name):
                continue
            value = getattr(struct, field.name)
            if field.meaning is Meaning.ERROR and not field.is_array:
                yield value
            for inner in value if isinstance(value, list) else (value,):
                if isinstance(inner, Struct):
                    yield from within(inner)

    return within(answer)


def checked(answer: Response) -> Response:
    assert not any(errors(answer)), answer
    return answer


def until(holds: Callable[[], bool], what: str) -> None:
    """Call `holds` until it is true."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, f"{what}: not there after {PATIENCE:.0f} s"
