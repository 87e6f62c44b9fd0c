"""Hostile surroundings: no descriptors, a log that cannot be written, processes that are stopped or killed, a port
that is taken, and slow or broken clients of the admin API."""

from __future__ import annotations

import os
import re
import resource
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx

from proxy.admin.connection_limit import MOST
from tests.hostile.canary import HOST, NODE
from tests.hostile.client import Client, NotHeldError, connect, patiently
from tests.hostile.ground import BLOCK, ROOT, Ground, Setting
from tests.hostile.requests import BEAT, beat, metadata
from tests.hostile.settings import OPEN
from tests.hostile.trial import case, cases
from tests.real.ports import free_block, free_port


def _served(ground: Ground, what: str) -> None:
    """Wait until a client gets a response."""
    for _ in patiently(what):
        with suppress(OSError, EOFError), Client(connect(ground.port())) as client:
            client.sock.settimeout(0.5)
            client.ask(BEAT, 4)
            return


def _angry(ground: Ground, times: int) -> None:
    """Make this many connections, each of which is a line in the log."""
    for _ in range(times):
        with suppress(OSError), Client(connect(ground.port())) as client:
            client.send(b"GET / HTTP/1.1\r\n\r\n")
            client.ends()


@contextmanager
def _few_files(pid: int, more: int) -> Iterator[None]:
    """The process may open only this many more files."""
    soft, hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    used = len(list(Path(f"/proc/{pid}/fd").iterdir()))
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (used + more, hard))
    try:
        yield
    finally:
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (soft, hard))


@cases({f"{more} descriptors left": more for more in (0, 1, 5, 40)}, on=OPEN, crowded=True)
def few_files(ground: Ground, more: int) -> str:
    """Clients wait or are refused, and connected ones are served. Once descriptors are free again, all are served."""
    clients = []
    with _few_files(ground.proxy.pid, more):
        for _ in range(ground.times(50, 100)):
            with suppress(OSError):
                client = ground.client()
                client.send(beat())
                clients.append(client)
        answered = sum(not client.silent(0.01) and bool(client.told) for client in clients)
    ground.leave()
    _served(ground, "clients are served again")
    return f"{answered} of {len(clients)} answered meanwhile"


@case("no descriptors, and a port for a new broker", on=OPEN, crowded=True)
def no_files_for_brokers(ground: Ground) -> str:
    """A port that could not be opened for lack of descriptors is opened later."""
    ground.stage.told = {**ground.stage.told, 4: ("127.0.0.9", 9)}
    client = ground.client()
    client.ask(BEAT, 4)
    with _few_files(ground.proxy.pid, 0):
        told = client.ask_quietly(metadata(["orders"]))
    _served(ground, "clients are served again")
    return f"{len(told)} bytes were told"


FULL = Setting("a log on a full disk", log=lambda path: os.open("/dev/full", os.O_WRONLY), alone=True)


def _closed(path: Path) -> int:
    reading, writing = os.pipe()
    os.close(reading)
    return writing


def _stuck(path: Path) -> int:
    reading, writing = os.pipe()
    _unread.append(reading)
    return writing


_unread: list[int] = []  # reading ends of pipes: they stay open and are never read
CLOSED = Setting("a log into a closed pipe", log=_closed, alone=True)
STUCK = Setting("a log that nobody reads", log=_stuck, alone=True)
STUCK_TWO = Setting("a log of two workers that nobody reads", log=_stuck, workers=2, alone=True)


@case("very many lines to say", on=FULL)
@case("very many lines to say", on=CLOSED)
@case("very many lines to say", on=STUCK)
@case("very many lines to say", on=STUCK_TWO)
def no_log(ground: Ground) -> str:
    """Log lines are lost and counted; nothing else is lost."""
    _angry(ground, ground.times(150, 2_000))
    for number in range(100):  # with long names of topics and clients
        with suppress(OSError), Client(connect(ground.port())) as client:
            client.send(metadata([f"{number}" * 9_000], client_id="x" * 9_000) + b"\xff" * 20)
            client.ends()
    _served_by_canary(ground)
    return "the proxy lives"


def _served_by_canary(ground: Ground) -> None:
    with Client(connect(ground.port(node=NODE))) as client:
        client.ask(BEAT, 4)


@case("an end while nobody reads the log", on=Setting("a log that nobody reads, ending", log=_stuck, alone=True))
def ends_unread(ground: Ground) -> str:
    """A second proxy gets SIGTERM, and ends."""
    file, port = ground.folder / "other.yaml", free_block(BLOCK, HOST)
    text = ground.file.read_text().replace(f":{ground.ports['clients']}", f":{port}")
    file.write_text(text.replace(f":{ground.admin}", f":{free_port(HOST)}"))
    reading, writing = os.pipe()
    command = [sys.executable, "-m", "proxy", "run", str(file)]
    other = subprocess.Popen(command, stdout=writing, stderr=writing, cwd=ROOT, start_new_session=True)
    os.close(writing)
    try:
        for _ in patiently("it listens"):
            with suppress(OSError):
                connect(port).close()
                break
        with suppress(OSError):
            for _ in range(100):
                with Client(connect(port)) as client:
                    client.send(b"SSH-2.0-x\r\n")
                    client.ends()
        other.send_signal(signal.SIGTERM)
        try:
            code = other.wait(8)
        except subprocess.TimeoutExpired:
            raise NotHeldError("it did not end within 8 s") from None
    finally:
        other.kill()
        other.wait()
        os.close(reading)
    return f"ended with {code}"


@case("stopped, and going on (SIGSTOP, SIGCONT)", on=OPEN, halted=True)
def stopped(ground: Ground) -> str:
    """As when a machine sleeps: all connections still work afterwards."""
    client = ground.client()
    client.ask(BEAT, 4)
    ground.proxy.send_signal(signal.SIGSTOP)
    try:
        client.send(beat(2))
        assert client.silent(ground.times(1, 4)), "a stopped process answered"
    finally:
        ground.proxy.send_signal(signal.SIGCONT)
    client.answer(BEAT, 4, 2)
    return "answered afterwards"


KILLED = Setting("two workers, one of them killed", workers=2, alone=True)


@case("a worker is killed", on=KILLED, crowded=True, cut=True, kept=60)
def killed(ground: Ground) -> str:
    """Another worker takes its place, and its clients can reconnect."""
    workers = ground.watch.pids()[1:]
    for _ in range(ground.times(1, 3)):
        os.kill(ground.watch.pids()[1], signal.SIGKILL)
        for _ in patiently("there is another"):
            now = ground.watch.pids()[1:]
            if len(now) == len(workers) and set(now) != set(workers):
                workers = now
                break
    for _ in range(20):
        _served(ground, "clients are served again")
    return "another took its place"


@case("a worker is stopped for good", on=KILLED, crowded=True, cut=True, halted=True, kept=60)
def stalled(ground: Ground) -> str:
    """One worker hangs: clients of the other are served."""
    worker = ground.watch.pids()[1]
    os.kill(worker, signal.SIGSTOP)
    try:
        _served(ground, "clients are served by the other")
    finally:
        os.kill(worker, signal.SIGCONT)
    _served(ground, "clients are served again")
    return "the other one serves"


@case("the port of another program", on=OPEN)
def taken(ground: Ground) -> str:
    """A second proxy on the same ports does not start, and names the process that has them."""
    command = [sys.executable, "-m", "proxy", "run", str(ground.file), "--log", "json"]
    done = subprocess.run(command, capture_output=True, cwd=ROOT, timeout=20)
    assert done.returncode == 1, done.stderr
    assert str(ground.proxy.pid).encode() in done.stderr, f"it does not say who: {done.stderr!r}"
    return "exit code 1, and a line that names the other process"


@case("a port of a broker that is taken", on=OPEN)
def broker_port_taken(ground: Ground) -> str:
    """A new broker needs a port that another program has: no client sees the broker's real address."""
    with socket.create_server((HOST, ground.port(node=5))):
        ground.stage.told = {**ground.stage.told, 5: ("127.0.0.9", 9)}
        client = ground.client()
        told = client.ask_quietly(metadata(["orders"]))
    return f"{len(told)} bytes were told"


ADMIN = {
    "half a request": b"GET /metrics HTTP/1.1\r\nHost: x\r\n",
    "a header without end": b"GET / HTTP/1.1\r\nX: " + b"a" * 200_000,
    "100,000 headers": b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 100_000,
    "a body without end": b"POST /health HTTP/1.1\r\nHost: x\r\nContent-Length: 9999999999\r\n\r\n" + b"x" * 1_000_000,
    "Kafka": beat(),
    "zeros": bytes(100_000),
    "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\4\0\0\0\0\0" * 5_000,
    "a path of 60 KB": b"GET /" + b"a/" * 30_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
    "another host": b"GET /metrics HTTP/1.1\r\nHost: evil.example\r\nTransfer-Encoding: chunked\r\n\r\nffffffffff\r\n",
}
SPARE = 20  # descriptors of the canary and of the process itself, which come and go


@cases({f"the admin side is told: {what}": said for what, said in ADMIN.items()}, on=OPEN)
def admin(ground: Ground, said: bytes) -> str:
    """Up to fifty connections at once: the admin API answers others, and Kafka clients are served."""
    many = []
    for _ in range(ground.times(20, 50)):
        client = Client(connect(ground.admin))
        client.push(said, 0.2)
        many.append(client)
        ground.clients.append(client)
    answer = httpx.get(f"http://{HOST}:{ground.admin}/health", timeout=10)
    return f"{len(many)} connections; another was answered {answer.status_code}"


HELD = {
    "connections that say nothing": b"",
    "connections that begin a request": b"GET /metrics HTTP/1.1\r\nHost: x\r\n",
}
UNTAKEN = b"GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n" * 200


@cases({f"the admin side has very many {what}": said for what, said in HELD.items()}, on=OPEN, log=8)
def held(ground: Ground, said: bytes) -> str:
    """A scrape is answered meanwhile, and a client that asks now and then keeps its connection."""
    with httpx.Client(base_url=_admin(ground), timeout=10, trust_env=False) as scraper:
        return _hold(ground, said, scraper.get)


@case("the admin side has very many responses that nobody takes", on=OPEN, log=8)
def untaken(ground: Ground) -> str:
    """A scrape is answered meanwhile. These connections are not silent at first, so another one may be closed."""
    return _hold(ground, UNTAKEN, lambda path: httpx.get(_admin(ground) + path, timeout=10, trust_env=False))


def _admin(ground: Ground) -> str:
    return f"http://{HOST}:{ground.admin}"


def _hold(ground: Ground, said: bytes, get: Callable[[str], httpx.Response]) -> str:
    """Hold very many connections that say this."""
    before, most, times = ground.watch.look().descriptors, 0, ground.times(300, 2_000)
    start = _made_room(get)
    for number in range(times):
        client = Client(connect(ground.admin))
        ground.clients.append(client)
        client.push(said, 0.05)
        if number % 50 == 0:
            get("/metrics").raise_for_status()
            most = max(most, ground.watch.look().descriptors - before)
    for _ in patiently("connections are closed for others"):
        most = max(most, ground.watch.look().descriptors - before)
        if _made_room(get) > start:
            break
    assert most <= MOST + SPARE, f"{most} descriptors"
    assert ground.lines("admin connection closed"), "the log does not tell of it"
    return f"{times} connections, {most} descriptors at the most"


def _made_room(get: Callable[[str], httpx.Response]) -> float:
    """How many connections were closed for others, according to the metrics."""
    found = re.search(r"^doorkeeper_admin_connections_closed_total\{.*\} (.+)$", get("/metrics").text, re.M)
    assert found is not None
    return float(found[1])


ASKING = b"GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n"
UNREAD = b"GET /openapi.json HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1\r\nx\r\n" * 20
VISITS = {"connect and close": b"", "ask and close": ASKING, "send a body that nobody reads, and close": UNREAD}


@cases({f"the admin side: {what}": said for what, said in VISITS.items()}, on=OPEN)
def visits(ground: Ground, said: bytes) -> str:
    """As fast as possible, one after the other, to the admin side: none of them leaves anything."""
    times = ground.times(500, 5_000)
    for _ in range(times):
        with Client(connect(ground.admin)) as client:
            client.send(said)
    httpx.get(f"http://{HOST}:{ground.admin}/health", timeout=10).raise_for_status()
    return f"{times} times"


@case("the metrics, asked for all the time", on=OPEN)
def metrics(ground: Ground) -> str:
    times = ground.times(50, 500)
    with httpx.Client() as client:
        for _ in range(times):
            client.get(f"http://{HOST}:{ground.admin}/metrics", timeout=10).raise_for_status()
    return f"{times} times"
