"""A host name whose resolution hangs delays no other."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import pytest
import trio

from proxy.net.resolving import OF_ONE_CLUSTER, OF_ONE_NAME, Resolver, look_up_for
from tests.proxy.net.scripted import PATIENCE

ANSWER = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("10.0.0.1", 9092))]


class System:
    """The system's resolver: some names hang until they are let go."""

    def __init__(self) -> None:
        self.let_go = threading.Event()
        self.hanging = self.asked = 0
        self._lock = threading.Lock()

    def getaddrinfo(self, host: bytes, *rest: object) -> list[object]:
        with self._lock:
            self.asked += 1
        if host.startswith(b"hangs"):
            with self._lock:
                self.hanging += 1
            self.let_go.wait()
        if host.startswith(b"nobody"):
            raise socket.gaierror(socket.EAI_NONAME, "no such host")
        return list(ANSWER)


@pytest.fixture
def system(monkeypatch: pytest.MonkeyPatch) -> Iterator[System]:
    system = System()
    monkeypatch.setattr(socket, "getaddrinfo", system.getaddrinfo)
    yield system
    system.let_go.set()


async def give_up(resolver: Resolver, name: bytes, port: int) -> None:
    with trio.move_on_after(0.01):
        await resolver.getaddrinfo(name, port, 0, socket.SOCK_STREAM)


async def test_a_name_that_hangs_takes_few_threads_and_no_other_waits(system: System) -> None:
    resolver = Resolver()
    async with trio.open_nursery() as nursery:
        for port in range(200):
            nursery.start_soon(give_up, resolver, b"hangs.example", port)
    with trio.fail_after(PATIENCE):
        assert await resolver.getaddrinfo(b"kafka.example", 9092, 0, socket.SOCK_STREAM) == ANSWER
        await trio.to_thread.run_sync(int)  # nor do files
    assert system.hanging <= OF_ONE_NAME
    system.let_go.set()
    with trio.fail_after(PATIENCE):
        assert await resolver.getaddrinfo(b"hangs.example", 9092, 0, socket.SOCK_STREAM) == ANSWER


async def hang(nursery: trio.Nursery, system: System, resolver: Resolver, cluster: str) -> None:
    """Have a cluster look up very many names that hang."""

    async def look_up(name: bytes) -> None:
        look_up_for(cluster)
        await resolver.getaddrinfo(name, 9092, 0, socket.SOCK_STREAM)

    for number in range(500):
        nursery.start_soon(look_up, b"hangs-%d.example" % number)
    nursery.start_soon(look_up, b"kafka.example")
    with trio.fail_after(PATIENCE):
        while system.hanging < OF_ONE_CLUSTER:
            await trio.lowlevel.checkpoint()


async def test_a_cluster_whose_names_hang_has_no_other_cluster_wait(nursery: trio.Nursery, system: System) -> None:
    resolver = Resolver()
    await hang(nursery, system, resolver, "bad")
    look_up_for("good")
    with trio.fail_after(PATIENCE):
        assert await resolver.getaddrinfo(b"kafka.example", 9092, 0, socket.SOCK_STREAM) == ANSWER
    assert system.hanging == OF_ONE_CLUSTER


async def test_a_lookup_that_nobody_waits_for_any_more_is_not_begun(system: System) -> None:
    resolver = Resolver()
    async with trio.open_nursery() as nursery:
        await hang(nursery, system, resolver, "")
        nursery.cancel_scope.cancel()
    system.let_go.set()
    with trio.fail_after(PATIENCE):
        assert await resolver.getaddrinfo(b"another.example", 9092, 0, socket.SOCK_STREAM) == ANSWER
    assert system.hanging == OF_ONE_CLUSTER


async def test_who_wants_the_same_at_once_asks_once(system: System) -> None:
    resolver = Resolver()
    async with trio.open_nursery() as nursery:
        for _ in range(100):
            nursery.start_soon(resolver.getaddrinfo, b"kafka.example", 9092)
    assert system.asked == 1
    await resolver.getaddrinfo(b"kafka.example", 9092)
    assert system.asked == 2


async def test_a_name_that_nobody_knows_is_said_to_each_who_asked(system: System) -> None:
    resolver, failed = Resolver(), []

    async def ask() -> None:
        try:
            await resolver.getaddrinfo(b"nobody.example", 9092)
        except socket.gaierror as error:
            failed.append(error.errno)

    async with trio.open_nursery() as nursery:
        for _ in range(3):
            nursery.start_soon(ask)
    assert failed == [socket.EAI_NONAME] * 3
