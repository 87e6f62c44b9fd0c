"""Hostile files: rules, users and certificates that are replaced by invalid files, and full disks.

Whatever replaces a file, the old content stays in force, and the proxy loads a good file afterwards.
"""

from __future__ import annotations

import os
import resource
import shutil
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from proxy.auth.users import save
from proxy.protocol.header import request_frame
from proxy.protocol.messages.create_acls import CreateAclsRequest
from tests.certificates import Authority
from tests.hostile.canary import HOST
from tests.hostile.client import NotHeldError, patiently
from tests.hostile.ground import Ground, Setting
from tests.hostile.logins import KNOWN, PASSWORDS, plain
from tests.hostile.requests import BEAT, metadata
from tests.hostile.sealed import sealed, trusting
from tests.hostile.settings import RULED, SASL, TLS, ruled
from tests.hostile.trial import case, cases

Put = Callable[[Path], object]  # puts something in the place of a file


def _laughs() -> str:
    """A YAML bomb: each line repeats the one before ten times (a billion in the end)."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    return "\n".join(lines)


INSTEAD: dict[str, Put] = {
    "garbage": lambda file: file.write_bytes(os.urandom(10_000)),
    "nothing": lambda file: file.write_bytes(b""),
    "half of itself": lambda file: file.write_bytes(file.with_suffix(".good").read_bytes()[:-20]),
    "zeros": lambda file: file.write_bytes(bytes(100_000)),
    "brackets": lambda file: file.write_bytes(b"[" * 100_000),
    "a billion laughs": lambda file: file.write_text(_laughs()),
    "10 MB of one line": lambda file: file.write_bytes(b"x" * 10_000_000),
    "a directory": lambda file: file.mkdir(),
    "a pipe": os.mkfifo,
    "no file at all": lambda file: None,
    "/dev/zero": lambda file: file.symlink_to("/dev/zero"),
    "a link to itself": lambda file: file.symlink_to(file),
}

SOME = ("garbage", "a directory", "a pipe", "no file at all", "/dev/zero")
LOOKED_AT = 0.7  # seconds


def replaced(ground: Ground, name: str, put: Put, holds: Callable[[], object], anew: Callable[[], bool]) -> None:
    """Replace the file by `put`, then restore it: `holds` must succeed all the time, and at last `anew` comes true."""
    file = ground.folder / name
    good, before = file.with_suffix(".good"), ground.watch.log_size()
    shutil.copy2(file, good)
    file.unlink()
    try:
        put(file)
        holds()
        with suppress(NotHeldError):  # the log tells of some; the proxy has seen each one by then
            for _ in patiently("it is told", LOOKED_AT):
                if ground.watch.log_size() > before:
                    break
        holds()
    finally:
        shutil.rmtree(file) if file.is_dir() and not file.is_symlink() else file.unlink(missing_ok=True)
        good.rename(file)
    holds()
    for _ in patiently(f"a good {name} is taken again"):
        if anew():
            break


@cases({f"rules replaced by {what}": put for what, put in INSTEAD.items()}, on=RULED)
def rules(ground: Ground, put: Put) -> str:
    file = ground.folder / "acl.yaml"
    good, name = file.read_text(), f"again-{ground.number()}"

    def reaches(topic: str) -> bool:
        before = bytes(ground.stage.heard).count(topic.encode())
        with ground.client() as client:
            client.send(metadata(["secrets"], 1) + metadata([topic], 2))
            client.frame()
            client.frame()
        return bytes(ground.stage.heard).count(topic.encode()) > before

    def holds() -> None:
        assert reaches("orders"), "what is allowed was refused"

    def is_allowed(wanted: bool) -> bool:
        with suppress(EOFError):  # the rules changed while it was checked
            return reaches(name) is wanted
        return False

    def taken() -> bool:
        file.write_text(f"{good}  - {{allow: User:ANONYMOUS, to: Describe, topics: {name}}}\n")
        return any(is_allowed(True) for _ in patiently("they are in force"))

    replaced(ground, "acl.yaml", put, holds, taken)
    file.write_text(good)
    assert any(is_allowed(False) for _ in patiently("the first ones are in force again"))
    assert not any(b"secrets" in frame for frame in ground.stage.asked), "what is denied reached the broker"
    return "the old ones stay in force"


@cases({f"users replaced by {what}": INSTEAD[what] for what in SOME}, on=SASL)
def users(ground: Ground, put: Put) -> str:
    name = f"again-{ground.number()}"

    def enters(user: str) -> bool:
        with ground.stranger("clients") as client:
            return plain(client, user, PASSWORDS["alice"])

    def holds() -> None:
        assert enters("alice"), "alice was refused"

    def taken() -> bool:
        save(ground.folder / "users.yaml", KNOWN | {name: KNOWN["alice"]})
        return any(enters(name) for _ in patiently("they are in force"))

    replaced(ground, "users.yaml", put, holds, taken)
    return "the old ones stay in force"


def _sealed_still(ground: Ground) -> Callable[[], None]:
    context = trusting(ground)

    def holds() -> None:
        with sealed(ground, context) as client:
            client.ask(BEAT, 4)

    return holds


def _read_again(ground: Ground) -> Callable[[], bool]:
    start = ground.watch.log_size()
    return lambda: bool(ground.lines("certificates reloaded", start))


@cases({f"the key replaced by {what}": INSTEAD[what] for what in SOME}, on=TLS)
def keys(ground: Ground, put: Put) -> str:
    replaced(ground, "server.key", put, _sealed_still(ground), _read_again(ground))
    return "the old one stays in force"


@case("the certificate replaced by another's, without its key", on=TLS)
def mismatched(ground: Ground) -> str:
    ground.kept["authority"].issue("other", "127.0.0.1")
    other = (ground.folder / "other.pem").read_bytes()
    put: Put = lambda file: file.write_bytes(other)  # noqa: E731
    replaced(ground, "server.pem", put, _sealed_still(ground), _read_again(ground))
    return "the old one stays in force"


@case("rules rewritten all the time", on=RULED)
def rewritten(ground: Ground) -> str:
    """Clients are served while an operator rewrites the rules."""
    file, good = ground.folder / "acl.yaml", (ground.folder / "acl.yaml").read_text()
    times = ground.times(100, 5_000)
    for number in range(times):
        file.write_text(f"{good}# {number}\n")
        with ground.client() as client:
            client.send(metadata(["orders"]))
            assert b"orders" in client.frame()
        ground.clients.pop()
    file.write_text(good)
    return f"{times} times"


@case("a disk that is full when rules are to be changed", on=SASL, log=200)
def full(ground: Ground) -> str:
    """A client changes rules as `kafka-acls` does: the response is an error, and the file is unchanged."""
    file = ground.folder / "acl.yaml"
    before = file.read_bytes()
    creation = CreateAclsRequest.Creation(
        resource_type=2,
        resource_name="x" * 30_000,
        resource_pattern_type=3,
        principal="User:bob",
        host="*",
        operation=3,
        permission_type=3,
    )
    client = ground.stranger("clients")
    assert plain(client, "admin", PASSWORDS["admin"]), "admin did not come in"
    limits = resource.prlimit(ground.proxy.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(ground.proxy.pid, resource.RLIMIT_FSIZE, (20_000, limits[1]))
    try:
        request = CreateAclsRequest(creations=[creation])
        client.send(request_frame(request, 3, 3, "hostile"))
        answer = client.answer(request, 3, 3)
    finally:
        resource.prlimit(ground.proxy.pid, resource.RLIMIT_FSIZE, limits)
    assert answer.results[0].error_code, "it was told that all is well"
    assert file.read_bytes() == before, "the file is not what it was"
    return "an error, and the file as it was"


def _all_files(ground: Ground) -> dict[str, Any]:
    """A listener with every kind of file: rules, users, a certificate and its key."""
    save(ground.folder / "users.yaml", KNOWN)
    Authority(ground.folder).issue("server", HOST)
    tls = {"certificate": "server.pem", "key": "server.key"}
    listener = ground.listener("sealed", tls=tls, sasl={"mechanisms": ["PLAIN"], "credentials": "users.yaml"})
    return {"listeners": listener, **ruled(ground)}


REPLACED = Setting("two workers with files", _all_files, workers=2, alone=True)
BROKEN = ("acl.yaml", "users.yaml", "server.pem", "server.key")


@case("all files broken, and then every worker killed", on=REPLACED, crowded=True, cut=True, kept=60)
def broken(ground: Ground) -> str:
    """Their replacements serve what was in force."""
    context = trusting(ground)
    good = {name: (ground.folder / name).read_bytes() for name in BROKEN}
    before = ground.watch.pids()[1:]
    for name in BROKEN:
        (ground.folder / name).write_bytes(b"[")
    for pid in before:
        os.kill(pid, signal.SIGKILL)
    try:
        for _ in patiently("clients are served again", 20):
            with suppress(OSError, EOFError):
                client = sealed(ground, context, listener="sealed")
                assert plain(client, "alice", PASSWORDS["alice"]), "alice did not come in"
                client.ask(BEAT, 4)
                break
        assert not set(before) & set(ground.watch.pids()), "the workers live"
        assert not ground.lines("cannot start"), "a worker could not start"
    finally:
        for name, content in good.items():
            (ground.folder / name).write_bytes(content)
    return "served by others"
