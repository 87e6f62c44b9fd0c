"""A client, the faults of a file and a broker, on a link without a network: messages in, messages out."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from plugins.faults import Faults
from proxy.core.commands import Command, Wake
from proxy.core.link import Link
from proxy.core.plugin import Plugin
from proxy.protocol.errors import ErrorCode
from proxy.protocol.messages.fetch import FetchRequest
from proxy.protocol.messages.metadata import MetadataRequest
from proxy.protocol.messages.produce import ProduceRequest, ProduceResponse
from proxy.protocol.refuse import refuse
from proxy.testing import FakeClock, FakeRows, FakeWorker, build
from tests.plugins.acl.talk import Broker, Talk, metadata_of, topic_id


class FaultFile:
    """A fault file, and the plugin that applies it."""

    def __init__(self, folder: Path, text: str, plugin: type[Faults] = Faults, rows: FakeRows | None = None) -> None:
        self.file = folder / "faults.yaml"
        self.file.write_text(text)
        self.clock = FakeClock()
        self.worker = FakeWorker(name="faults", clock=self.clock, rows=rows or FakeRows())
        self.plugin = build(plugin, self.worker, rules=str(self.file))
        self.links: list[Link] = []

    def become(self, text: str) -> None:
        """Write other faults into the file, and reload it in the plugin and its links."""
        self.file.write_text(text)
        (reload,) = self.worker.look()
        assert reload.taken, reload.said
        for link in self.links:
            link.forget()

    @property
    def told(self) -> list[str]:
        """The entries of the ledger, as text."""
        return [str(entry) for entry in self.plugin.ledger]


class FaultTalk(Talk):
    """One connection of one client. Sleeps are noted and end at once; `sleeping` is called before each.

    `turns`: how often others had their turn while a message was handled.
    """

    def __init__(
        self, faults: FaultFile, broker: Broker | None = None, broker_id: int | None = 1, *before: Plugin
    ) -> None:
        self.faults = faults
        self.slept: list[float] = []
        self.turns = 0
        self.sleeping: Callable[[], object] = lambda: None
        super().__init__(faults.plugin, "User:alice", broker, *before)  # type: ignore[arg-type]
        faults.links.append(self.link)
        self.connection.broker_id = broker_id
        self.connection.broker_versions = {3: (0, 13)}

    @property
    def got(self) -> list[Any]:
        """The responses that arrived and were not taken yet."""
        return self._got

    def _carry_out(self, commands: list[Command]) -> None:
        for command in commands:
            if isinstance(command, Wake) and not command.seconds:
                self.turns += 1
            elif isinstance(command, Wake):
                self.slept.append(command.seconds)
                self.sleeping()
                self._waiting.append(partial(self.link.wake, command.token))
        super()._carry_out(commands)


def produce(*topics: str, partitions: int = 1, acks: int = -1) -> ProduceRequest:
    """A Produce request for these topics, by name."""
    each = [
        ProduceRequest.Topic(
            name=name,
            partition_data=[ProduceRequest.Topic.Partition(index=index, records=b"") for index in range(partitions)],
        )
        for name in topics
    ]
    return ProduceRequest(acks=acks, timeout_ms=1000, topic_data=each)


def fetch(*topics: str, partitions: int = 1, session_id: int = 0, session_epoch: int = -1) -> FetchRequest:
    """A Fetch request for these topics, by name; without a session by default."""
    each = [
        FetchRequest.Topic(
            topic=name,
            partitions=[
                FetchRequest.Topic.Partition(partition=index, fetch_offset=0, partition_max_bytes=1000)
                for index in range(partitions)
            ],
        )
        for name in topics
    ]
    request = FetchRequest(max_wait_ms=0, min_bytes=0, session_id=session_id, session_epoch=session_epoch, topics=each)
    request.forgotten_topics_data, request.rack_id = [], ""
    return request


def serving(request: Any, version: int) -> Any:
    """A broker that has all topics, and answers every request with success."""
    if isinstance(request, MetadataRequest):
        return metadata_of({name: topic_id(name) for name in ("orders", "payments")}, request)
    if isinstance(request, ProduceRequest):
        topics = [
            ProduceResponse.Topic(
                name=topic.name,
                topic_id=topic.topic_id,
                partition_responses=[
                    ProduceResponse.Topic.Partition(index=it.index, error_code=0, base_offset=42)
                    for it in topic.partition_data
                ],
            )
            for topic in request.topic_data
        ]
        return ProduceResponse(responses=topics)
    return refuse(request.api, version, request, ErrorCode.NONE)


def errors(answer: Any) -> dict[tuple[str, int], str]:
    """The error of each partition in a response."""
    return {
        (topic.name, it.index): ErrorCode(it.error_code).name
        for topic in answer.responses
        for it in topic.partition_responses
    }
