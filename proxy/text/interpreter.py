"""The interpreter: one thread has it at a time, and the event loop needs it at once when bytes come."""

from __future__ import annotations

import time


def give_way() -> None:
    """Let another thread have the interpreter, if one waits for it. A thread that computes for long calls this often.

    Without it, the event loop waits for up to 5 ms each time that it wakes up (`sys.getswitchinterval`).
    """
    time.sleep(0)
