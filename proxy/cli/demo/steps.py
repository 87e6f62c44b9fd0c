"""The steps of the demo, in the order in which a newcomer gets to know the proxy."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from confluent_kafka import Producer

from chaos.anomalies import AnomalyKind
from chaos.history import History
from proxy.cli.demo.account import account, has_spark, page, shown
from proxy.cli.demo.client import (
    FAULTED,
    SECRET,
    TOPIC,
    Traffic,
    configuration,
    consume,
    produce,
    refused,
    write_once,
)
from proxy.cli.demo.stage import BROKERS, JOURNAL, NotSeen, Stage, addresses, stage

MESSAGES = 1000
REFUSAL = "TOPIC_AUTHORIZATION_FAILED"

Say = Callable[[str], None]


def play(say: Say, report: Path | None = None) -> None:
    """Play all steps. `report`: where the page goes, if one is wanted. Raises NotSeen at the first step that fails."""
    say("Doorkeeper stands between Kafka clients and Kafka brokers. Here are all three, on this machine.\n")
    traffic = Traffic()
    with TemporaryDirectory(prefix="doorkeeper-demo-") as folder:
        with stage(Path(folder)) as scene:
            _introduce(scene, say)
            producer = Producer(configuration(scene.proxy, traffic))
            told = _addresses(scene, producer, say)
            _messages(scene, producer, traffic, say)
            _rule(scene, producer, say)
            _fault(scene, traffic, say)
            _nothing_went_around(scene, told, traffic, say)
        _account(Path(folder, JOURNAL), report, say)
    say("\nEvery step was seen to work. Next: README.md, and doorkeeper run --help")


def _introduce(scene: Stage, say: Say) -> None:
    if len(scene.brokers) != BROKERS:
        raise NotSeen(f"{BROKERS} brokers; there are {len(scene.brokers)}")
    say(f"1. {BROKERS} brokers are up, each on a port of its own.")
    say("2. doorkeeper run gateway.yaml is up in front of them. The whole configuration:\n")
    for line in scene.configuration.splitlines():
        say(f"      {line}")


def _addresses(scene: Stage, client: Producer, say: Say) -> dict[int, str]:
    say(f"\n3. A client that knows only {scene.proxy} asks where the brokers are:\n")
    told = addresses(client)
    if told.keys() != scene.brokers.keys():
        raise NotSeen(f"the same brokers through the proxy: {sorted(told)} instead of {sorted(scene.brokers)}")
    say("                 they say            the client is told")
    for node_id, real in scene.brokers.items():
        say(f"      broker {node_id}   {real:<19} {told[node_id]}")
    for address in told.values():
        if address in scene.brokers.values():
            raise NotSeen(f"a rewritten address: the client was told {address}, which is a broker's own")
    return told


def _messages(scene: Stage, producer: Producer, traffic: Traffic, say: Say) -> None:
    sent = [f"order {number}".encode() for number in range(MESSAGES)]
    written = produce(producer, sent)
    producer.poll(1.0)  # for the last report of its statistics
    spread = ", ".join(f"{count} in {partition}" for partition, count in sorted(written.items()))
    say(f'\n4. It produces {MESSAGES} messages to topic "{TOPIC}"; the brokers acknowledge all.')
    say(f"   By partition: {spread}.")
    found = consume(scene.proxy, traffic, sorted(written), len(sent))
    if Counter(message.value() for message in found) != Counter(sent):
        raise NotSeen("the same messages coming back as were sent")
    say(f"   Another client consumes them: {len(found)} came back, each once, as it was sent.")


def _rule(scene: Stage, producer: Producer, say: Say) -> None:
    say(f'\n5. It tries to write to topic "{SECRET}" too. The rules, acl.yaml:\n')
    for line in scene.rules.splitlines():
        say(f"      {line}")
    error = refused(producer)
    if error != REFUSAL:
        raise NotSeen(f"{REFUSAL} for a message to {SECRET!r}; it ended with {error or 'an acknowledgement'}")
    say(f"\n   The client is told {error}, as by a broker. No broker saw the request.")


def _fault(scene: Stage, traffic: Traffic, say: Say) -> None:
    say(f'\n6. What does a client do when an acknowledgement is lost? A fault for topic "{FAULTED}", faults.yaml:\n')
    for line in scene.faults.splitlines():
        say(f"      {line}")
    history = History()
    partition = write_once(scene.proxy, traffic, history.client("producer"), "payment 1")
    reader = history.client("consumer")
    for message in consume(scene.proxy, traffic, [partition], 2, FAULTED):
        reader.read(FAULTED, partition, message.offset() or 0, (message.value() or b"").decode())
    found = history.check()
    if found.kinds != {AnomalyKind.DUPLICATE}:
        raise NotSeen(f"one message twice in the log; the history shows {found}")
    say("\n   The client sent one message. It got no answer, sent it again, and was told that all is well:\n")
    for line in str(found).splitlines()[1:]:
        say(f"      {line}")


def _nothing_went_around(scene: Stage, told: dict[int, str], traffic: Traffic, say: Say) -> None:
    names = {address: f"broker {node_id}" for node_id, address in told.items()} | {scene.proxy: "bootstrap"}
    say("\n7. What passed through the proxy, as the clients counted it:\n")
    for address, requests in sorted(traffic.requests.items()):
        if address not in names:
            raise NotSeen(f"every request going to the proxy: {requests.total()} went to {address}")
        counts = ", ".join(f"{count} {api}" for api, count in sorted(requests.items()))
        say(f"      {address:<19} {names[address]:<10} {counts}")
    seen = {api for requests in traffic.requests.values() for api in requests}
    for api in ("Metadata", "Produce", "Fetch"):
        if api not in seen:
            raise NotSeen(f"a {api} request among what the clients counted")
    say("\n   None went to a broker's own address.")


def _account(journal: Path, report: Path | None, say: Say) -> None:
    say("\n8. The proxy kept an audit journal of all that, which was sealed and signed as it ended:\n")
    told = account(journal)
    say(f"      {told.events} events are as they were written\n")
    say("      topic       records written     read   refused   faults")
    for name, topic in sorted(told.topics.items()):
        say(f"      {name:<10} {topic.written:>16} {topic.read:>8} {topic.refused:>9} {topic.faults:>8}")
    if told.topics[TOPIC].written != MESSAGES or not told.topics[SECRET].refused or not told.topics[FAULTED].faults:
        raise NotSeen("all of it in the journal")
    if report is not None:
        say("\n   Spark makes all reports on it, which takes a minute ...")
        made = page(journal, report)
        say(f"   The page{', which opens now' if shown(made) else ''}: {made.as_uri()}")
    elif not has_spark():
        say("\n   A page of all reports on it needs Spark: pip install '.[reports]', and run the demo again.")
