"""The tests of a package's own: with `proxy.testing`, and without a network."""

from my_stamps import Produced, Stamp

from proxy.plugin import Header, ProduceRequest, ProduceResponse, Record, write_batch
from proxy.testing import (
    FakeWorker,
    FromBroker,
    FromClient,
    Playbook,
    ToBroker,
    ToClient,
    build,
    request_frame,
    response_frame,
)


def produce(record: Record) -> bytes:
    """A request with one record, as a client sends it."""
    partition = ProduceRequest.Topic.Partition(index=0, records=write_batch([record]))
    topics = [ProduceRequest.Topic(name="t", partition_data=[partition])]
    return request_frame(ProduceRequest(acks=1, timeout_ms=1000, topic_data=topics), 9, 1, "app")


PLAIN = Record(b"k", b"v", (), 5)
STAMPED = Record(b"k", b"v", (Header("stamp", b"seen"),), 5)
ANSWER = response_frame(ProduceResponse(responses=[], throttle_time_ms=0), 9, 1)


def test_a_record_is_stamped_and_its_request_counted():
    worker = FakeWorker()
    assert (
        Playbook(build(Stamp, text="seen"), build(Produced, worker))
        >> FromClient(produce(PLAIN))
        << ToBroker(produce(STAMPED))
        >> FromBroker(ANSWER)
        << ToClient(ANSWER)
    )
    assert worker.counts == {"requests": 2}  # a playbook is played twice
