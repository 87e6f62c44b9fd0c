"""The codec alone: microseconds for each operation that the data plane needs.

Each figure is the best of several runs: other work of the machine can only make a run longer.
"""

from __future__ import annotations

import timeit
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from proxy.protocol.codec import decode, encode
from proxy.protocol.messages.fetch import FetchRequest, FetchResponse
from proxy.protocol.messages.metadata import MetadataRequest, MetadataResponse
from proxy.protocol.messages.produce import ProduceRequest, ProduceResponse
from proxy.protocol.picker import picker
from tests.bench.report import Verdict, number, table
from tests.bench.workloads import Target

TOPICS, PARTITIONS, NODES = 100, 10, 3
KIB, MIB = 1 << 10, 1 << 20
REPEATS = 7
SHORTEST = 0.02  # seconds of one repeat


@dataclass(frozen=True)
class Task:
    title: str
    run: Callable[[], object]
    target: Target | None = None


def topic_id(n: int) -> bytes:
    return (1 << 100 | n).to_bytes(16, "big")


def metadata() -> MetadataResponse:
    """The Metadata response of a cluster of three brokers, with 100 topics of 10 partitions each."""
    topic, partition = MetadataResponse.Topic, MetadataResponse.Topic.Partition
    nodes = list(range(NODES))
    return MetadataResponse(
        brokers=[MetadataResponse.Broker(node_id=n, host=f"kafka-{n}.example.com", port=9092) for n in nodes],
        cluster_id="MkU3OEVBNTcwNTJENDM2Qg",
        controller_id=1,
        topics=[
            topic(
                error_code=0,
                name=f"topic-{t}",
                topic_id=topic_id(t),
                partitions=[
                    partition(
                        error_code=0, partition_index=p, leader_id=p % NODES, replica_nodes=nodes, isr_nodes=nodes
                    )
                    for p in range(PARTITIONS)
                ],
            )
            for t in range(TOPICS)
        ],
    )


def rewrite(body: bytes) -> Callable[[], bytes]:
    """Read the brokers, give them other addresses, and reassemble the response."""
    brokers = picker(MetadataResponse, 12, "brokers")

    def run() -> bytes:
        message = brokers.decode(body)
        for broker in message.brokers:
            broker.host = "proxy.example.com"
            broker.port = 19093 + broker.node_id
        return brokers.encode(message)

    return run


def produce(size: int) -> ProduceRequest:
    partition = ProduceRequest.Topic.Partition(index=0, records=bytes(size))
    topic = ProduceRequest.Topic(name="topic-1", partition_data=[partition])
    return ProduceRequest(acks=1, timeout_ms=30_000, topic_data=[topic])


def produced() -> ProduceResponse:
    partition = ProduceResponse.Topic.Partition(index=0, error_code=0, base_offset=7)
    return ProduceResponse(responses=[ProduceResponse.Topic(name="topic-1", partition_responses=[partition])])


def fetch() -> FetchRequest:
    partitions = [
        FetchRequest.Topic.Partition(partition=p, fetch_offset=7, partition_max_bytes=MIB) for p in range(PARTITIONS)
    ]
    topic = FetchRequest.Topic(topic_id=topic_id(1), partitions=partitions)
    return FetchRequest(max_wait_ms=500, min_bytes=1, topics=[topic])


def fetched(size: int) -> FetchResponse:
    partition = FetchResponse.Topic.Partition(partition_index=0, error_code=0, high_watermark=8, records=bytes(size))
    return FetchResponse(responses=[FetchResponse.Topic(topic_id=topic_id(1), partitions=[partition])])


def tasks() -> Iterator[Task]:
    answer = metadata()
    body = encode(answer, 12)
    assert encode(decode(MetadataResponse, 12, body), 12) == body
    size = f"Metadata v12, {TOPICS} topics of {PARTITIONS}"
    yield Task(f"{size}: brokers picked, changed, spliced back", rewrite(body), Target("us", 15))
    yield Task(f"{size}: decode", lambda: decode(MetadataResponse, 12, body), Target("us", 900))
    yield Task(f"{size}: encode", lambda: encode(answer, 12))
    question = encode(MetadataRequest(), 12)
    yield Task("Metadata v12 request: decode", lambda: decode(MetadataRequest, 12, question))

    small, large = encode(produce(100), 11), encode(produce(MIB), 11)
    acks = picker(ProduceRequest, 11, "acks")
    yield Task("Produce v11 request: acks, from its first bytes", lambda: acks.prefix(large, 0))
    yield Task("Produce v11 request, 100 B: decode", lambda: decode(ProduceRequest, 11, small))
    yield Task("Produce v11 request, 1 MiB: decode", lambda: decode(ProduceRequest, 11, large))
    done = encode(produced(), 11)
    leaders = picker(ProduceResponse, 11, "node_endpoints")
    yield Task("Produce v11 response: node_endpoints picked", lambda: leaders.decode(done))

    wanted = encode(fetch(), 17)
    topics = picker(FetchRequest, 17, "topics")
    yield Task(
        f"Fetch v17 request, {PARTITIONS} partitions: topics, from its first bytes", lambda: topics.prefix(wanted, 0)
    )
    yield Task(f"Fetch v17 request, {PARTITIONS} partitions: decode", lambda: decode(FetchRequest, 17, wanted))
    records = encode(fetched(16 * KIB), 17)
    nodes = picker(FetchResponse, 17, "node_endpoints")
    yield Task("Fetch v17 response, 16 KiB: node_endpoints picked", lambda: nodes.decode(records))
    yield Task("Fetch v17 response, 16 KiB: decode", lambda: decode(FetchResponse, 17, records))


def microseconds(run: Callable[[], object]) -> float:
    run()  # compiles
    timer = timeit.Timer(run)
    count = max(1, round(SHORTEST / timer.timeit(10) * 10))
    return min(timer.repeat(REPEATS, count)) / count * 1e6


def measure() -> tuple[str, list[Verdict]]:
    """The table, and the verdicts on targets."""
    rows, found = [], []
    for task in tasks():
        took = microseconds(task.run)
        rows.append([task.title, number(took)])
        if task.target:
            found.append(Verdict(f"{task.title}, us", task.target, took))
    return table(["the codec", "us"], rows), found
