"""The store of a topic on a real cluster: each record once, deleted ones as a gap, and a journal's reports."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from pyspark.sql import SparkSession

from plugins.audit.cloudevents import chain_key, record
from plugins.audit.contents import segment_lines
from plugins.audit.reports.catalogue import REPORTS
from plugins.audit.reports.facts import JournalFacts
from plugins.audit.reports.inputs import Inputs
from plugins.audit.reports.job import ReportError, ReportJob, make
from plugins.audit.reports.pipeline.audit_topic import AuditTopicPlace, TopicAccess
from plugins.audit.reports.pipeline.place import JournalPlace
from plugins.audit.reports.pipeline.topic_store import TopicStore
from plugins.audit.segments import segments
from tests.plugins.audit.reports.journals import write_journal
from tests.plugins.audit.reports.months import month
from tests.real.cluster import Cluster

pytestmark = pytest.mark.real

SECONDS = 60.0
OF_FILES = {"integrity"}  # is about the segments of a journal, which a topic has not


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with Cluster(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


class Topic:
    """A topic, what is on it, and its store."""

    def __init__(self, cluster: Cluster, name: str, folder: Path) -> None:
        self.place = AuditTopicPlace(cluster.bootstrap, name)
        self.name = name
        self._folder = folder
        self._admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
        self._settings = {"bootstrap.servers": cluster.bootstrap, "partitioner": "consistent"}
        self._producer = Producer(self._settings)
        self._admin.create_topics([NewTopic(name, 3, 1)])[name].result()

    def send(self, journal: Path) -> None:
        """All of a journal, as the proxy does."""
        for path in segments(journal):
            for line in segment_lines(path):
                event = json.loads(line)
                made = record(line, chain_key(event["instance"], event["worker"]), "/doorkeeper/main")
                self.say(bytes(made.value or b""), bytes(made.key or b""))
        self.flush()

    def say(self, value: bytes, key: bytes = b"") -> None:
        self._producer.produce(self.name, value, key)
        self._producer.poll(0)

    def flush(self) -> None:
        assert self._producer.flush(SECONDS) == 0

    def delete_before(self, partition: int, offset: int) -> None:
        before = TopicPartition(self.name, partition, offset)
        self._admin.delete_records([before])[before].result()

    def create_again(self) -> None:
        self._admin.delete_topics([self.name])[self.name].result()
        self._admin.create_topics([NewTopic(self.name, 3, 1)])[self.name].result()
        self._producer = Producer(self._settings)

    def store(self, spark: SparkSession) -> TopicStore:
        """As it is after one more run."""
        store = TopicStore(spark, self.place, TopicAccess(), JournalPlace.of(str(self._folder / "work")))
        store.take_in()
        return store


@pytest.fixture
def topic(request: pytest.FixtureRequest, cluster: Cluster, tmp_path: Path) -> Topic:
    return Topic(cluster, f"of-{request.node.name}"[:200], tmp_path)


def event(number: int) -> bytes:
    stamp = {"kind": "request", "schema": 2, "time": "2026-03-01T08:00:00.000000Z", "instance": "a", "worker": 0}
    line = json.dumps({**stamp, "sequence": number}).encode()
    return bytes(record(line, b"a/0", "/doorkeeper/main").value or b"")


def sequences(store: TopicStore) -> list[int]:
    return sorted(row.sequence for row in store.rows().where("date IS NOT NULL").collect())


def test_each_record_is_taken_in_once(spark: SparkSession, topic: Topic) -> None:
    for number in range(1, 21):
        topic.say(event(number))
    topic.flush()
    assert sequences(topic.store(spark)) == list(range(1, 21))
    assert sequences(topic.store(spark)) == list(range(1, 21))
    topic.say(event(21))
    topic.flush()
    store = topic.store(spark)
    assert sequences(store) == list(range(1, 22))
    assert store.partitions() == [0, 1, 2]
    assert not list(store.gaps())


def test_what_others_put_there_is_kept_apart(spark: SparkSession, topic: Topic) -> None:
    topic.say(event(1))
    bare = json.loads(event(2))["data"]
    foreign = [
        b"",
        b"hello",
        b"\xff\xfe",
        json.dumps(bare).encode(),
        event(3).replace(b"doorkeeper.audit.", b"shop."),
        b"[1]",
    ]
    for value in foreign:
        topic.say(value)
    topic.say(event(4).replace(b'"sequence": 4', b'"sequence": "many"'))
    topic.flush()
    store = topic.store(spark)
    assert sequences(store) == [1]
    apart = [row for row in store.rows().collect() if row.date is None]
    assert len(apart) == len(foreign) + 1
    assert {row.file.rpartition("-")[0] for row in apart} == {topic.name}
    assert "hello" in {row.line for row in apart}


def test_records_that_are_gone_before_they_were_read_are_gaps(spark: SparkSession, topic: Topic) -> None:
    for number in range(1, 31):
        topic.say(event(number), b"one key")
    topic.flush()
    (partition,) = {row.partition for row in topic.store(spark)._records().collect()}
    topic.delete_before(partition, 5)
    assert not list(topic.store(spark).gaps())  # they were read
    for number in range(31, 61):
        topic.say(event(number), b"one key")
    topic.flush()
    topic.delete_before(partition, 40)
    store = topic.store(spark)
    assert sequences(store) == [*range(1, 31), *range(41, 61)]
    (gap,) = store.gaps()
    assert gap.place == f"{topic.name}-{partition}"
    assert gap.what.startswith("records 30 to 39 were gone before they were read")


def test_gaps_that_are_too_many_to_be_listed_are_counted(
    spark: SparkSession, topic: Topic, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The marker at the end of a transaction is no record."""
    monkeypatch.setattr("plugins.audit.reports.pipeline.topic_store.MOST", 2)
    producer = Producer({"bootstrap.servers": topic.place.brokers, "transactional.id": topic.name})
    producer.init_transactions()
    for number in range(1, 6):
        producer.begin_transaction()
        producer.produce(topic.name, event(number), partition=0)
        producer.commit_transaction()
    *listed, others = topic.store(spark).gaps()
    assert [gap.what.partition(" were")[0] for gap in listed] == ["records 1 to 1", "records 3 to 3"]
    assert (others.place, others.what, others.gap) == (topic.name, "3 more gaps are not listed here", True)


def test_a_topic_that_is_created_again_is_read_from_its_beginning_and_what_was_read_before_stays(
    spark: SparkSession, topic: Topic
) -> None:
    for number in range(1, 31):
        topic.say(event(number), b"one key")
    topic.flush()
    topic.store(spark)
    topic.create_again()
    for number in range(31, 41):
        topic.say(event(number), b"one key")
    topic.flush()
    for _ in range(2):
        store = topic.store(spark)
        assert sequences(store) == list(range(1, 41))
        (gap,) = store.gaps()
        assert (gap.place, gap.gap) == (topic.name, True)
        assert gap.what.startswith("the topic was created again")


def test_a_topic_of_which_nothing_is_left_is_a_gap(spark: SparkSession, topic: Topic) -> None:
    for number in range(1, 8):
        topic.say(event(number), b"one key")
    topic.flush()
    for partition in range(3):
        topic.delete_before(partition, -1)  # its end
    store = topic.store(spark)
    assert sequences(store) == []
    assert [gap.what.partition(" were")[0] for gap in store.gaps()] == ["records 0 to 6"]


def test_the_reports_are_those_of_the_journal(spark: SparkSession, topic: Topic, tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    write_journal(journal, month(7))
    topic.send(journal)
    made = {}
    for name, place in (("journal", JournalPlace.of(str(journal))), ("topic", topic.place)):
        (tmp_path / name).mkdir(exist_ok=True)
        inputs = Inputs(JournalFacts(str(place), False))
        reports = tuple(report for report in REPORTS if report.name not in OF_FILES)
        make(ReportJob(str(place), tmp_path / name, reports, inputs, "local[2]"), place, spark, lambda step: None)
        made[name] = {path.name: path.read_bytes() for path in (tmp_path / name).glob("*.csv")}
    assert made["topic"] == made["journal"]
    page = (tmp_path / "topic" / "index.html").read_text()
    assert str(topic.place) in page
    assert "A topic has no signatures: " in page


def test_a_topic_that_is_empty_is_one_line(spark: SparkSession, topic: Topic, tmp_path: Path) -> None:
    job = ReportJob(str(topic.place), tmp_path, REPORTS[:1], Inputs(JournalFacts("", False)), "local[2]")
    with pytest.raises(ReportError, match=r"^kafka://.*: the topic has no records$"):
        make(job, topic.place, spark, lambda step: None)


def test_a_topic_that_is_missing_is_one_line(spark: SparkSession, cluster: Cluster, tmp_path: Path) -> None:
    place = AuditTopicPlace(cluster.bootstrap, "no-such-topic")
    job = ReportJob(str(place), tmp_path, REPORTS[:1], Inputs(JournalFacts("", False)), "local[2]")
    with pytest.raises(
        ReportError, match=r"^kafka://.*/no-such-topic: cannot be read \(.*\); check the address"
    ) as raised:
        make(job, place, spark, lambda step: None)
    assert "\n" not in str(raised.value)
