"""Tethered: `python -m chaos.tethered MODULE ARGUMENTS` runs a module until its standard input ends.

Rules:
* The parent process holds the other end of a pipe. However the parent ends, killed included, the pipe closes with it.
* Then the module gets SIGTERM. If it has not ended `LONGEST` seconds later, its process exits at once.
"""

from __future__ import annotations

import os
import runpy
import signal
import sys
import threading
import time

LONGEST = 10.0  # seconds from SIGTERM to the exit


def _end_with_input() -> None:
    while os.read(0, 1024):
        pass  # the content is of no use
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(LONGEST)
    os._exit(1)


def main() -> None:
    """Run the module that the command line names, with the arguments that follow it."""
    threading.Thread(target=_end_with_input, name="tether", daemon=True).start()
    module, sys.argv[:] = sys.argv[1], sys.argv[1:]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
