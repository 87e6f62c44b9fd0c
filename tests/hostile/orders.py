"""The admin API while clients are served: bodies that are expensive to parse or endless, and unauthorized requests."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx

from tests.hostile.canary import HOST
from tests.hostile.client import Client, connect
from tests.hostile.ground import Ground
from tests.hostile.requests import metadata
from tests.hostile.settings import FAULTY, GUARDED
from tests.hostile.trial import case, cases

MIB = 1 << 20
MOST = 1_000  # faults added at run time, at most
WAITING = 50  # clients
PATIENCE = 30.0  # seconds for one response
SLOW = {"match": {"api": "Metadata", "topic": "none-such"}, "do": "hold"}


def _admin(ground: Ground, token: str = "") -> httpx.Client:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return httpx.Client(base_url=f"http://{HOST}:{ground.admin}", headers=headers, timeout=PATIENCE, trust_env=False)


def _filled(size: int, one: str) -> bytes:
    """A JSON array of as many of these as fit into this size."""
    return ("[" + ",".join([one] * ((size - 2) // (len(one) + 1))) + "]").encode()


BODIES: dict[str, Callable[[], bytes]] = {
    "a million zeros": lambda: _filled(MIB, "0"),
    "very many objects without anything": lambda: _filled(MIB, "{}"),
    "very many faults that are wrong": lambda: _filled(MIB, '{"do":"hld"}'),
    "very many faults that are right": lambda: _filled(MIB, json.dumps(SLOW)),
    "one name of a megabyte": lambda: json.dumps([{**SLOW, "name": "n" * (MIB - 200)}]).encode(),
    "one topic of a megabyte": lambda: json.dumps([{"match": {"topic": "t" * (MIB - 200)}, "do": "hold"}]).encode(),
    "a number of a megabyte": lambda: b"9" * (MIB - 10),
    "500,000 lists in each other": lambda: b"[" * (MIB // 2) + b"]" * (MIB // 2),
    "an object with a key 50,000 times": lambda: b"{" + b",".join([b'"a":1'] * 50_000) + b"}",
    "10 MB of faults": lambda: _filled(10 * MIB, json.dumps(SLOW)),
    "half a document": lambda: _filled(MIB, json.dumps(SLOW))[:-200],
    "many delays beside each other": lambda: _filled(MIB, '{"do":[' + ",".join(['{"delay":"1s"}'] * 500) + "]}"),
}


@cases({f"faults are added: {what}": of for what, of in BODIES.items()}, on=FAULTY, peak=300, log=128)
def bodies(ground: Ground, of: Callable[[], bytes]) -> str:
    """All bodies are refused, with a response of a reasonable size, and no fault of theirs is in force afterwards."""
    body, told = of(), set()
    with _admin(ground) as admin:
        before = len(admin.get("/faults").json()["faults"])
        for path in ("/faults", "/populate"):
            for _ in range(ground.times(1, 5)):
                answer = admin.post(path, content=body, headers={"Content-Type": "application/json"})
                assert 400 <= answer.status_code < 500, f"{path}: {answer.status_code}"
                assert len(answer.content) < MIB // 4, f"{path}: an answer of {len(answer.content):,} bytes"
                told.add(answer.status_code)
        assert len(admin.get("/faults").json()["faults"]) == before
    return f"{len(body) >> 10} KiB: {sorted(told)}"


@case("faults are added without end", on=FAULTY, peak=100, log=256)
def endless(ground: Ground) -> str:
    """A fault over the limit is refused; `reset` removes all."""
    with _admin(ground) as admin:
        try:
            whole = [{**SLOW, "name": f"fault-{n}"} for n in range(MOST)]
            admin.post("/populate", json={"faults": whole}).raise_for_status()
            refused = [admin.post("/faults", json=SLOW).status_code for _ in range(ground.times(5, 50))]
            assert set(refused) == {422} or set(refused) == {409}, f"{refused}"
        finally:
            admin.post("/reset").raise_for_status()
    return f"{MOST} faults, and {len(refused)} refusals"


@case("faults come and go beside clients", on=FAULTY, peak=100, log=256)
def changing(ground: Ground) -> str:
    """Requests are served meanwhile, and removed faults leave nothing in memory."""
    many, frame = ground.times(30, 300), metadata(["open-1"])
    with _admin(ground) as admin, ground.client() as client:
        for number in range(many):
            admin.post("/populate", json={"faults": [{**SLOW, "name": f"{number}-{n}"} for n in range(20)]})
            client.send(frame)
            client.frame()
        admin.post("/reset").raise_for_status()
    return f"{many} times 20 faults"


def _crumbs(body: bytes) -> Iterator[bytes]:
    for at in range(len(body)):
        yield body[at : at + 1]


@case("a body that comes a byte at a time", on=FAULTY)
def crumbs(ground: Ground) -> str:
    size = ground.times(20_000, 200_000)
    with _admin(ground) as admin:
        body = _filled(size, "{}")
        answer = admin.post("/faults", content=_crumbs(body), headers={"Content-Type": "application/json"})
    assert 400 <= answer.status_code < 500, f"{answer.status_code}"
    return f"{size:,} pieces: {answer.status_code}"


@case("many wait for the ledger", on=FAULTY, descriptors=WAITING + 10)
def waiting(ground: Ground) -> str:
    """Clients wait for entries that never come, and leave. Hypercorn notices that seconds after their wait is over."""
    many = [Client(connect(ground.admin)) for _ in range(WAITING)]
    ground.clients += many
    for client in many:
        client.send(f"GET /ledger?since=0&wait=2 HTTP/1.1\r\nHost: {HOST}:{ground.admin}\r\n\r\n".encode())
    with _admin(ground) as admin:
        admin.get("/health").raise_for_status()
    for client in many:
        client.reset()
    return f"{len(many)} clients"


QUERIES = (
    "limit=99999999999999999999",
    "since=-1",
    "wait=1e308",
    "wait=nan",
    "since=" + "9" * 5_000,
    "limit=0&" * 2_000,
)


@cases({f"the ledger is asked with {query[:24]}": query for query in QUERIES}, on=FAULTY)
def queries(ground: Ground, query: str) -> str:
    with _admin(ground) as admin:
        told = {admin.get(f"/ledger?{query}").status_code for _ in range(ground.times(20, 100))}
    assert told <= {200, 400, 414, 422}, f"{told}"
    return f"answered with {told}"


GUARDED_PATHS = (
    ("POST", "/faults"),
    ("POST", "/populate"),
    ("POST", "/reset"),
    ("PUT", "/faults/x"),
    ("DELETE", "/faults/x"),
    ("POST", "/faults/x/release"),
    ("GET", "/faults"),
    ("GET", "/ledger"),
    ("GET", "/connections"),
)
WRONG: dict[str, Callable[[str], dict[str, str]]] = {
    "none": lambda token: {},
    "another": lambda token: {"Authorization": f"Bearer {token[:-1]}x"},
    "one that is longer": lambda token: {"Authorization": f"Bearer {token}x"},
    "half of it": lambda token: {"Authorization": f"Bearer {token[: len(token) // 2]}"},
    "it as a password": lambda token: {"Authorization": f"Basic {token}"},
    "one of 50 KB": lambda token: {"Authorization": "Bearer " + "x" * 50_000},
    "one that is not ASCII": lambda token: {"Authorization": "Bearer \xff\xfe"},
    "it in another place": lambda token: {"X-Token": token, "Cookie": f"token={token}"},
}


@cases({f"a token: {what}": of for what, of in WRONG.items()}, on=GUARDED)
def tokens(ground: Ground, of: Callable[[str], dict[str, str]]) -> str:
    """Without the token no client adds, removes or sees anything; the log does not grow with the attempts."""
    token = ground.kept["token"]
    headers = [(name.encode(), value.encode("latin-1")) for name, value in of(token).items()]
    with _admin(ground, token) as admin:
        before = admin.get("/faults").json()
    times, told = ground.times(20, 200), set()

    def ask(admin: httpx.Client) -> None:
        for method, path in GUARDED_PATHS:
            try:
                told.add(admin.request(method, path, headers=headers, json=[SLOW]).status_code)
            except httpx.RemoteProtocolError:  # cut, for a header that is too long
                told.add(431)

    with _admin(ground) as admin, ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(ask, admin) for _ in range(times)]:
            done.result()
    assert told <= {400, 401, 431}, f"answered with {told}"
    with _admin(ground, token) as admin:
        now = admin.get("/faults").json()
    assert [it["name"] for it in now["faults"]] == [it["name"] for it in before["faults"]]
    return f"{times * len(GUARDED_PATHS)} requests: {sorted(told)}"
