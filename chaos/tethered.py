"""Tethered: `python -m chaos.tethered MODULE ARGUMENTS` runs a module until its standard input ends.

# Whoever starts it holds the other end of a pipe. However that process ends, killed included, the pipe closes with it.
# Then the module is told to end (SIGTERM). One that has not ended `LONGEST` seconds later is ended at once.
"""

from __future__ import annotations

import os
import runpy
import signal
import sys
import threading
import time

LONGEST = 10.0  # seconds from being told to end until the end


def _end_with_input() -> None:
    while os.read(0, 1024):
        pass  # nothing is said through it
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
