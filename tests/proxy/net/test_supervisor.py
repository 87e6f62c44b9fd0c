"""The whole proxy as its users run it: `python -m proxy run`, with signals and broken environments."""

from __future__ import annotations

import itertools
import json
import os
import signal
import socket
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer

from chaos.ports import is_free
from proxy.admin.connection_limit import MOST
from proxy.auth.users import save
from proxy.auth.verifiers import verifiers
from proxy.config import load
from proxy.net import supervisor
from tests.certificates import Authority
from tests.mock_brokers import mock_brokers
from tests.real.ports import free_block, free_port
from tests.real.process import Program

LOOPBACK = "127.0.0.1"
ROOT = Path(__file__).parents[3]
LONG = 60.0
ANY_REQUEST = (
    b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"  # a connection with a request stays open for 90 s, one without for 5
)

Run = Callable[..., "Proxy"]


class Proxy(Program):
    """One run of the command, with its ports."""

    def __init__(
        self,
        folder: Path,
        port: int,
        bootstrap: str,
        more: str = "",
        files: int | None = None,
        clusters: str = "",
        modules: Path = ROOT,
    ) -> None:
        self.port = port
        self.folder = folder
        self._file = folder / "gateway.yaml"
        self._start = (
            f"clusters:\n  main: {{bootstrap: [{bootstrap}]}}\n{clusters}"
            f"listeners:\n  clients: {{cluster: main, bind: {LOOPBACK}:{port}}}\n"
        )
        self.write(more)
        command = [sys.executable, "-m", "proxy", "run", "--log", "json", str(self._file)]
        if files is not None:
            command = ["sh", "-c", f'ulimit -n {files}; exec "$@"', "sh", *command]
        super().__init__("proxy", command, folder / "proxy.log", env={"PYTHONPATH": f"{modules}:{ROOT}"})

    def write(self, more: str) -> None:
        """Its configuration: the same beginning, and more."""
        self._file.write_text(f"{self._start}{more}\n")

    def line(self, event: str) -> dict[str, Any]:
        """The first line of this event."""
        found: dict[str, Any] = json.loads(self.expect(f'"event": "{event}"', within=LONG))
        return found

    def lines(self, event: str) -> list[str]:
        return [line for line in self.output().splitlines() if f'"event": "{event}"' in line]


@pytest.fixture(scope="module")
def mock() -> Iterator[str]:
    """Three brokers; gives the address of one."""
    with mock_brokers(3) as broker:
        yield broker


@pytest.fixture
def run(tmp_path: Path, mock: str) -> Iterator[Run]:
    """Start a proxy; it is stopped in the end."""
    running: list[Proxy] = []

    def start(more: str = "", port: int | None = None, bootstrap: str = mock, **rest: Any) -> Proxy:
        folder = tmp_path / str(len(running))
        folder.mkdir()
        running.append(Proxy(folder, port or free_block(5, LOOPBACK), bootstrap, more, **rest))
        return running[-1]

    yield start
    for proxy in running:
        proxy.kill()
        print(proxy.tail())  # shown where a test failed


FAILING_SERVER = """\
import hypercorn.trio
async def serve(*_, **__): raise RuntimeError("out of order")
hypercorn.trio.serve = serve
"""


def test_an_admin_side_that_fails_is_a_line_and_the_rest_goes_on(run: Run, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(FAILING_SERVER)  # Python imports it at its start
    proxy = run(f"admin: {{bind: {LOOPBACK}:{free_port(LOOPBACK)}}}", modules=tmp_path)
    line = proxy.line("a task failed")
    assert line["task"] == "answering on the admin side"
    assert "out of order" in str(line["exception"])
    assert "please report" in line["way_out"]
    assert proxy.line("ready")
    brokers = Producer({"bootstrap.servers": f"{LOOPBACK}:{proxy.port}", "log_level": 0}).list_topics(timeout=LONG)
    assert len(brokers.brokers) == 3
    assert proxy.stop() == 0


@pytest.mark.parametrize("workers", [1, 2])
def test_a_client_works_through_it_and_a_signal_ends_it_cleanly(run: Run, workers: int) -> None:
    admin = free_port(LOOPBACK)
    proxy = run(f"workers: {workers}\nadmin: {{bind: {LOOPBACK}:{admin}}}")
    assert proxy.line("listening")["bind"] == f"{LOOPBACK}:{proxy.port}"
    assert proxy.line("ready")["listeners"] == 1
    there = {"bootstrap.servers": f"{LOOPBACK}:{proxy.port}", "log_level": 0}
    topic, values = f"t{workers}", {f"v{number}".encode() for number in range(100)}

    producer = Producer(there)
    brokers = producer.list_topics(timeout=LONG).brokers.values()
    assert {broker.port for broker in brokers} == {proxy.port + 1 + broker.id for broker in brokers}
    for value in values:
        producer.produce(topic, value)
    assert producer.flush(LONG) == 0
    consumer = Consumer({**there, "group.id": topic, "auto.offset.reset": "earliest"})
    consumer.subscribe([topic])
    read: set[bytes | None] = set()
    while read != values:
        read |= {message.value() for message in consumer.consume(100, LONG)}
    consumer.close()

    with urllib.request.urlopen(f"http://{LOOPBACK}:{admin}/health") as answer:
        health = json.load(answer)
    assert health["status"] == "ready"
    assert len(health["workers"]) == workers
    with urllib.request.urlopen(f"http://{LOOPBACK}:{admin}/metrics") as answer:
        metrics = answer.read().decode()
    counts = [line for line in metrics.splitlines() if line.startswith("doorkeeper_connections_total")]
    assert len(counts) == workers
    assert sum(float(line.split()[-1]) for line in counts) >= 4
    assert 'service_name="doorkeeper"' in metrics

    assert proxy.stop() == 0
    *_, last = proxy.output().splitlines()
    ended = json.loads(last)
    assert ended["event"] == "ended"
    assert ended["cut"] == 0
    assert len(proxy.lines("ended")) == (1 if workers == 1 else 3)  # each worker says so too
    assert is_free(LOOPBACK, proxy.port)


def test_a_second_proxy_on_the_same_ports_says_who_has_them(run: Run) -> None:
    first = run("workers: 2")
    first.line("listening")
    for more in ("workers: 2", "workers: 1"):
        second = run(more, port=first.port)
        assert second.wait(LONG) == 1
        said = second.line("cannot start")["why"]
        assert said.startswith(f"{LOOPBACK}:{first.port}: process ")
        assert said.endswith("has the port; stop it, or change listeners.clients.bind")
        assert len(second.output().splitlines()) == 1


@pytest.mark.parametrize("workers", [1, 2])
def test_a_taken_port_of_a_listener_is_said_and_the_others_are_served_until_it_is_free(run: Run, workers: int) -> None:
    """Another proxy shares its ports among its workers: they must not be shared with it."""
    first = run("workers: 2")
    first.line("ready")
    second = run(f"  other: {{cluster: main, bind: {LOOPBACK}:{first.port}}}\nworkers: {workers}")
    refused = second.line("bootstrap port not opened")
    assert refused["listener"] == "other"
    assert refused["why"].startswith(f"{LOOPBACK}:{first.port}: process ")
    assert second.line("listening")["listener"] == "clients"
    assert not second.lines("ready")
    assert first.stop() == 0
    second.line("ready")
    brokers = Producer({"bootstrap.servers": f"{LOOPBACK}:{first.port}", "log_level": 0}).list_topics(timeout=LONG)
    assert len(brokers.brokers) == 3
    assert second.stop() == 0


def test_all_that_keeps_it_from_starting_is_said_at_once(run: Run) -> None:
    with socket.create_server((LOOPBACK, 0)) as taken:
        port = taken.getsockname()[1]
        with socket.create_server((LOOPBACK, 0)) as other:
            more = f"  other: {{cluster: main, bind: 'nowhere.invalid:{free_port(LOOPBACK)}'}}\n"
            proxy = run(f"{more}admin: {{bind: {LOOPBACK}:{other.getsockname()[1]}}}", port=port)
            assert proxy.wait(LONG) == 1
    ways_out = [json.loads(line)["why"].rpartition("change ")[2] for line in proxy.lines("cannot start")]
    assert ways_out == ["listeners.clients.bind", "listeners.other.bind", "admin.bind"]


@pytest.mark.parametrize("files", [7, 8])  # there are none for trio, or none for the reactor
def test_without_descriptors_it_does_not_start_and_says_why_in_one_line(run: Run, files: int) -> None:
    proxy = run(files=files)
    assert proxy.wait(LONG) == 1
    (said,) = proxy.output().splitlines()
    assert json.loads(said)["event"] == "cannot start"
    assert json.loads(said)["why"] == "too many open files; raise the limit of open files (ulimit -n)"


def test_workers_that_cannot_be_started_without_descriptors_are_a_line_each_time(run: Run) -> None:
    proxy = run("workers: 2", files=10)  # there are none for the channel of a worker
    assert proxy.wait(LONG) == 1
    *died, last = map(json.loads, proxy.output().splitlines())
    few = "could not be started: too many open files; raise the limit of open files (ulimit -n)"
    assert {(line["event"], line["why"]) for line in died} == {("worker died", few)}
    assert last["event"] == "cannot start"
    assert last["why"].endswith(f"died 5 times before it was ready; the last one {few}")


@pytest.mark.parametrize("workers", [1, 2])
def test_a_taken_port_of_a_broker_is_said_and_the_others_are_served(run: Run, workers: int) -> None:
    port = free_block(5, LOOPBACK)
    with socket.create_server((LOOPBACK, port + 2)):
        proxy = run(f"workers: {workers}", port=port)
        assert f"{LOOPBACK}:{port + 2}: process {os.getpid()}" in proxy.line("no port for a broker")["why"]
        proxy.line("listening")
        there = {"bootstrap.servers": f"{LOOPBACK}:{port}", "log_level": 0}
        told = Producer(there).list_topics(timeout=LONG).brokers.values()
        assert sorted(broker.port for broker in told) == [0, port + 3, port + 4]
    assert proxy.stop() == 0


def test_a_taken_admin_port_ends_it_with_one_line(run: Run) -> None:
    with socket.create_server((LOOPBACK, 0)) as taken:
        proxy = run(f"admin: {{bind: {LOOPBACK}:{taken.getsockname()[1]}}}")
        assert proxy.wait(LONG) == 1
    assert proxy.line("cannot start")["why"].endswith("has the port; stop it, or change admin.bind")


@pytest.mark.parametrize("workers", [1, 2])
def test_what_the_supervisor_leaves_out_of_the_log_is_a_metric(run: Run, workers: int) -> None:
    admin = free_port(LOOPBACK)
    proxy = run(f"workers: {workers}\nadmin: {{bind: {LOOPBACK}:{admin}}}")
    proxy.line("ready")
    with ExitStack() as held:
        for _ in range(MOST + 20):
            held.enter_context(socket.create_connection((LOOPBACK, admin))).sendall(ANY_REQUEST)
        with urllib.request.urlopen(f"http://{LOOPBACK}:{admin}/metrics") as answer:
            metrics = [line for line in answer.read().decode().splitlines() if 'worker="admin"' in line]
    values = {line.partition("{")[0]: float(line.split()[-1]) for line in metrics if "not_taken" not in line}
    closed = values["doorkeeper_admin_connections_closed_total"]
    assert closed >= 20
    assert values["doorkeeper_log_lines_dropped_total"] == closed - len(proxy.lines("admin connection closed")) > 0
    assert values["doorkeeper_faults_total"] == 0
    assert any('reason="not_taken"' in line for line in metrics) == (workers > 1)  # a single worker reports its log
    assert proxy.stop() == 0


def test_a_worker_that_died_is_a_metric(run: Run) -> None:
    """It begins to count at 0 again, so no other metric shows that."""
    admin = free_port(LOOPBACK)
    proxy = run(f"workers: 2\nadmin: {{bind: {LOOPBACK}:{admin}}}")
    proxy.line("ready")
    by_thread = [task.read_text().split() for task in Path(f"/proc/{proxy.pid}/task").glob("*/children")]
    worker, _ = itertools.chain(*by_thread)
    os.kill(int(worker), signal.SIGKILL)
    proxy.line("worker died")
    with urllib.request.urlopen(f"http://{LOOPBACK}:{admin}/metrics") as answer:
        metrics = answer.read().decode().splitlines()
    (died,) = [line for line in metrics if 'reason="worker_died"' in line]
    assert 'worker="admin"' in died
    assert float(died.split()[-1]) == 1
    assert proxy.stop() == 0


@pytest.mark.parametrize("workers", [1, 2])
def test_an_upstream_that_is_not_there_is_waited_for_and_the_wait_can_be_ended(run: Run, workers: int) -> None:
    admin = free_port(LOOPBACK)
    proxy = run(
        f"workers: {workers}\nadmin: {{bind: {LOOPBACK}:{admin}}}", bootstrap=f"{LOOPBACK}:{free_port(LOOPBACK)}"
    )
    said = proxy.line("upstream unreachable")
    assert "connection refused" in said["tried"]
    assert said["retry_in"] == "0.5s"
    with pytest.raises(urllib.error.HTTPError, match="503") as raised:
        urllib.request.urlopen(f"http://{LOOPBACK}:{admin}/health")
    assert json.load(raised.value)["status"] == "not ready"
    raised.value.close()
    assert proxy.stop() == 0


def test_too_few_open_files_for_the_limit_that_was_asked_for_are_said(run: Run) -> None:
    proxy = run("limits: {connections: 5000}", files=500)
    said = proxy.line("too few open files for limits.connections")
    assert said["hard_limit"] == 500
    assert "ulimit -Hn" in said["way_out"]
    proxy.line("listening")
    assert proxy.stop() == 0


LATE = """\
import atexit, os, subprocess

storm = f"while kill -{number} {{os.getpid()}} 2>/dev/null; do :; done"
atexit.register(subprocess.Popen, ["sh", "-c", storm])
"""


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGINT, signal.SIGTERM])
def test_signals_that_come_when_it_has_ended_do_not_change_the_exit_code(run: Run, tmp_path: Path, number: int) -> None:
    (tmp_path / "sitecustomize.py").write_text(LATE.format(number=int(number)))  # sends them until the process is gone
    proxy = run(modules=tmp_path)
    proxy.line("ready")
    assert proxy.stop() == 0


STOPPING = """\
import os
from pathlib import Path
from proxy.plugin import Plugin
here = Path(__file__).parent
class Stopping(Plugin):
    def stop(self):
        with open(here / "let go") as let_go:
            os.read(let_go.fileno(), 1)
        (here / f"stopped {os.getpid()}").touch()
"""

HANGING = """\
import threading
from proxy.plugin import ApiVersionsRequest, Call, Plugin, on_request
class Hanging(Plugin):
    @on_request(ApiVersionsRequest)
    def asked(self, ctx, request):
        print("asked", flush=True)
        yield Call(self.never)
    def never(self):
        threading.Event().wait()
"""


def package(folder: Path, name: str, text: str) -> None:
    """Install a plugin into a folder of modules."""
    (folder / f"{name}.py").write_text(text)
    about = folder / f"{name}-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
    (about / "entry_points.txt").write_text(f"[doorkeeper.plugins]\n{name} = {name}:{name.capitalize()}\n")


def end_at_once(proxy: Proxy) -> None:
    """Send it two signals of different kinds, which are never taken for one, and a third."""
    for number, event in ((signal.SIGTERM, "ending"), (signal.SIGINT, "ending at once")):
        os.kill(proxy.pid, number)
        proxy.line(event)
    os.kill(proxy.pid, signal.SIGTERM)


@pytest.mark.parametrize("workers", [1, 2])
def test_when_all_is_to_end_at_once_plugins_of_every_worker_stop(run: Run, tmp_path: Path, workers: int) -> None:
    package(tmp_path, "stopping", STOPPING)
    os.mkfifo(tmp_path / "let go")
    with open(tmp_path / "let go", "r+b", buffering=0) as let_go:
        proxy = run(f"workers: {workers}\nplugins: [stopping]", modules=tmp_path)
        proxy.line("ready")
        end_at_once(proxy)
        let_go.write(b"x" * workers)
        assert proxy.wait(LONG) == 1
    assert len(list(tmp_path.glob("stopped *"))) == workers
    *_, last = proxy.output().splitlines()
    assert json.loads(last)["event"] == "ended"


@pytest.mark.parametrize("workers", [1, 2])
def test_a_thread_that_hangs_is_named_and_does_not_keep_it_from_ending(run: Run, tmp_path: Path, workers: int) -> None:
    package(tmp_path, "hanging", HANGING)
    proxy = run(f"workers: {workers}\nlimits: {{drain: 1h}}\nplugins: [hanging]", modules=tmp_path)
    proxy.line("ready")
    client = Producer({"bootstrap.servers": f"{LOOPBACK}:{proxy.port}", "log_level": 0})
    proxy.expect("asked", within=LONG)
    end_at_once(proxy)
    (hung,) = proxy.line("ended by force")["hung"]
    assert hung.startswith("never from proxy.net.resuming.Resuming._perform, in ")
    assert f"called by Hanging.never at {tmp_path / 'hanging.py'}:9" in hung
    assert proxy.wait(LONG) == 1
    del client


def test_workers_end_with_a_supervisor_that_was_killed(run: Run) -> None:
    proxy = run("workers: 2")
    proxy.line("listening")
    os.kill(proxy.pid, signal.SIGKILL)
    proxy.wait(LONG)  # for the end of its output, which the workers share: they are gone too
    assert is_free(LOOPBACK, proxy.port)


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("server.pem", "listeners.clients.tls.certificate: no certificate is in"),
        ("ca.pem", "clusters.main.tls.ca: no certificate is in"),
        ("users.yaml", "users.yaml: others may read this file"),
    ],
)
def test_a_file_that_breaks_after_it_was_checked_is_one_line_with_its_place(
    tmp_path: Path, mock: str, capfd: pytest.CaptureFixture[str], file: str, said: str, workers: int
) -> None:
    Authority(tmp_path).issue("server", LOOPBACK)
    save(tmp_path / "users.yaml", {"alice": verifiers("alice-secret")})
    configuration = tmp_path / "gateway.yaml"
    configuration.write_text(
        f"clusters: {{main: {{bootstrap: [{mock}], tls: {{ca: ca.pem}}}}}}\n"
        f"listeners:\n  clients:\n    cluster: main\n    bind: {LOOPBACK}:{free_block(5, LOOPBACK)}\n"
        "    tls: {certificate: server.pem, key: server.key}\n"
        "    sasl: {mechanisms: [SCRAM-SHA-256], credentials: users.yaml}\n"
        f"workers: {workers}\n"
    )
    config = load(configuration)
    (tmp_path / file).write_text("nonsense")
    (tmp_path / file).chmod(0o644)
    assert supervisor.run(config) == 1
    told = "".join(capfd.readouterr())
    assert "cannot start" in told
    assert said in told
    assert "Traceback" not in told


@pytest.mark.parametrize("workers", [1, 2])
def test_each_listener_is_said_when_it_is_open_whatever_becomes_of_the_others(run: Run, workers: int) -> None:
    away = f"  away: {{bootstrap: [{LOOPBACK}:{free_port(LOOPBACK)}]}}\n"
    listener = f"  away: {{cluster: away, bind: {LOOPBACK}:{free_block(8, LOOPBACK)}}}\n"
    proxy = run(f"{listener}workers: {workers}", clusters=away)
    assert proxy.line("listening")["listener"] == "clients"
    there = {"bootstrap.servers": f"{LOOPBACK}:{proxy.port}", "log_level": 0}
    assert len(Producer(there).list_topics(timeout=LONG).brokers) == 3
    assert len(proxy.lines("listening")) == 1
    assert not proxy.lines("ready"), "one of two listeners is not open"
    assert proxy.stop() == 0


@pytest.mark.parametrize("workers", [1, 2])
def test_the_configuration_is_read_anew_at_a_signal(run: Run, workers: int) -> None:
    port = free_block(8, LOOPBACK)
    listener = f"  second: {{cluster: main, bind: {LOOPBACK}:{port}}}\n"
    proxy = run(f"workers: {workers}")
    proxy.line("ready")
    os.kill(proxy.pid, signal.SIGHUP)
    assert proxy.line("configuration reloaded")["changed"] == "nothing"

    there = {"bootstrap.servers": f"{LOOPBACK}:{proxy.port}", "log_level": 0}
    consumer = Consumer({**there, "group.id": "g"})
    assert len(consumer.list_topics(timeout=LONG).brokers) == 3
    proxy.write(f"{listener}workers: {workers + 1}\nlimits: {{idle: 5}}")
    os.kill(proxy.pid, signal.SIGHUP)
    assert proxy.line("configuration not reloaded")["problems"] == 1
    assert "5 has no unit" in proxy.line("configuration refused")["what"]

    proxy.write(f"{listener}workers: {workers}\nlimits: {{idle: 5m}}")
    os.kill(proxy.pid, signal.SIGHUP)
    proxy.expect('"changed": "listeners.second added, limits.idle"', within=LONG)
    proxy.expect('"listener": "second"', within=LONG)
    elsewhere = {"bootstrap.servers": f"{LOOPBACK}:{port}", "log_level": 0}
    assert {it.port for it in Producer(elsewhere).list_topics(timeout=LONG).brokers.values()} == {
        port + 1 + node_id for node_id in (1, 2, 3)
    }
    assert len(consumer.list_topics(timeout=LONG).brokers) == 3
    consumer.close()
    os.kill(proxy.pid, signal.SIGHUP)
    assert proxy.stop() == 0
    assert not proxy.lines("worker died")


def test_clients_notice_nothing_of_signals(run: Run) -> None:
    """A producer and a consumer at work, while plugins, limits and a listener come and go in two workers."""
    proxy = run("workers: 2")
    proxy.line("ready")
    rules = "".join(f"- {{allow: 'User:*', to: All, {what}: '*'}}\n" for what in ("topics", "groups"))
    (proxy.folder / "acl.yaml").write_text(f"acls:\n{rules}- {{allow: 'User:*', to: All, cluster: true}}\n")
    port = free_block(8, LOOPBACK)
    ways = [
        "limits: {in_flight: 3}",
        "plugins: [acl: {rules: acl.yaml}]",
        f"  second: {{cluster: main, bind: {LOOPBACK}:{port}}}\nplugins: [acl: {{rules: acl.yaml, shadow: true}}]",
        "",
    ]
    there = {"bootstrap.servers": f"{LOOPBACK}:{proxy.port}", "log_level": 0}
    producer = Producer({**there, "linger.ms": 0})
    producer.produce("signals", b"v0")
    assert producer.flush(LONG) == 0  # the topic is there: a consumer would be told of one that is not
    consumer = Consumer({**there, "group.id": "signals", "auto.offset.reset": "earliest"})
    consumer.subscribe(["signals"])
    sent = 1
    read: list[bytes | None] = []
    for signals in range(16):
        proxy.write(f"{ways[signals % len(ways)]}\nworkers: 2".lstrip("\n"))
        os.kill(proxy.pid, signal.SIGHUP)
        until = time.monotonic() + LONG
        while len(proxy.lines("configuration reloaded")) <= signals:
            assert time.monotonic() < until, proxy.tail()
            producer.produce("signals", f"v{sent}".encode())
            sent += 1
            producer.poll(0)
            read += [message.value() for message in consumer.consume(100, 0.01)]
    assert producer.flush(LONG) == 0
    until = time.monotonic() + LONG
    while len(read) < sent and time.monotonic() < until:
        read += [message.value() for message in consumer.consume(100, 0.1)]
    consumer.close()
    assert sorted(filter(None, read)) == sorted(f"v{number}".encode() for number in range(sent))
    for event in ("connection ended", "worker died", "worker replaced", "configuration refused", "a task failed"):
        assert not proxy.lines(event)
    assert proxy.stop() == 0
