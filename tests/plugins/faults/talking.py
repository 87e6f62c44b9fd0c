"""A client, the faults of a file and a broker, on a link without a network: messages in, messages out."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from plugins.faults import Faults
from proxy.core.commands import Command, Wake
from proxy.protocol.errors import ErrorCode
from proxy.protocol.messages.metadata import MetadataRequest
from proxy.protocol.messages.produce import ProduceRequest, ProduceResponse
from proxy.protocol.refuse import refuse
from proxy.testing import FakeClock, FakeWorker, build
from tests.plugins.acl.talk import Broker, Talk, metadata_of, topic_id


class FaultFile:
    """A file of faults and the plugin that goes by it."""

    def __init__(self, folder: Path, text: str) -> None:
        self.file = folder / "faults.yaml"
        self.file.write_text(text)
        self.clock = FakeClock()
        self.worker = FakeWorker(name="faults", clock=self.clock)
        self.plugin = build(Faults, self.worker, rules=str(self.file))

    def become(self, text: str) -> None:
        """The file has other faults now."""
        self.file.write_text(text)
        (reload,) = self.worker.look()
        assert reload.taken, reload.said

    @property
    def told(self) -> list[str]:
        """The ledger."""
        return [str(entry) for entry in self.plugin.ledger]


class FaultTalk(Talk):
    """One connection of one client. What is slept is noted, and over at once; `sleeping` is called before."""

    def __init__(self, faults: FaultFile, broker: Broker | None = None, broker_id: int | None = 1) -> None:
        self.slept: list[float] = []
        self.sleeping: Callable[[], object] = lambda: None
        super().__init__(faults.plugin, broker=broker)  # type: ignore[arg-type]
        self.connection.broker_id = broker_id
        self.connection.broker_versions = {3: (0, 13)}

    def _carry_out(self, commands: list[Command]) -> None:
        for command in commands:
            if isinstance(command, Wake) and command.seconds:
                self.slept.append(command.seconds)
                self.sleeping()
                self._waiting.append(partial(self.link.wake, command.token))
        super()._carry_out(commands)


def produce(*topics: str, partitions: int = 1, acks: int = -1) -> ProduceRequest:
    """Something for each of these topics, by name."""
    each = [
        ProduceRequest.Topic(
            name=name,
            partition_data=[ProduceRequest.Topic.Partition(index=index, records=b"") for index in range(partitions)],
        )
        for name in topics
    ]
    return ProduceRequest(acks=acks, timeout_ms=1000, topic_data=each)


def serving(request: Any, version: int) -> Any:
    """A broker that has all topics, and does all that is asked of it."""
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
    """What an answer says of each partition."""
    return {
        (topic.name, it.index): ErrorCode(it.error_code).name
        for topic in answer.responses
        for it in topic.partition_responses
    }
