"""A timer of the kernel gives an epoll one event each time it is over."""

from __future__ import annotations

import errno
import os
import resource
import select
from collections.abc import Iterator

import pytest

from proxy.net.kernel_timer import KernelTimer

SOON, NEVER = 0.001, 1000.0  # seconds


@pytest.fixture
def timer() -> Iterator[KernelTimer]:
    timer = KernelTimer()
    yield timer
    timer.close()


@pytest.fixture
def epoll(timer: KernelTimer) -> Iterator[select.epoll]:
    with select.epoll() as epoll:
        epoll.register(timer.fd, select.EPOLLIN | select.EPOLLET)
        yield epoll


def left(timer: KernelTimer) -> str:
    """How long it still runs, as the kernel says it."""
    with open(f"/proc/self/fdinfo/{timer.fd}") as file:
        return next(line.partition(": ")[2].strip() for line in file if line.startswith("it_value"))


def test_each_start_gives_one_event(timer: KernelTimer, epoll: select.epoll) -> None:
    for _ in range(3):
        timer.start(SOON)
        assert epoll.poll() == [(timer.fd, select.EPOLLIN)]
        assert epoll.poll(0) == []


def test_another_start_counts_anew(timer: KernelTimer, epoll: select.epoll) -> None:
    timer.start(NEVER)
    assert left(timer).startswith("(999, ")
    timer.start(SOON)
    assert epoll.poll() == [(timer.fd, select.EPOLLIN)]


def test_a_time_may_have_whole_seconds_and_a_part_of_one(timer: KernelTimer) -> None:
    timer.start(70.5)
    assert left(timer).startswith("(70, 4")


def test_a_timer_that_is_stopped_does_not_run(timer: KernelTimer) -> None:
    timer.start(NEVER)
    timer.stop()
    assert left(timer) == "(0, 0)"


def test_a_system_without_room_for_a_timer_says_so() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    used = os.open("/", os.O_RDONLY)
    os.close(used)
    resource.setrlimit(resource.RLIMIT_NOFILE, (used, hard))
    try:
        with pytest.raises(OSError, match=os.strerror(errno.EMFILE)) as caught:
            KernelTimer()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert caught.value.errno == errno.EMFILE
