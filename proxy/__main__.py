"""`python -m proxy` is `doorkeeper`.

Rules:
* `run` is ready for signals before anything large is imported: a SIGHUP waits until the proxy handles it, and Ctrl-C
  ends the process without a traceback.
"""

import signal
import sys


def main() -> None:
    """Run the command."""
    if sys.argv[1:2] == ["run"]:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGHUP})
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from proxy.cli import main as command

    command(prog_name="doorkeeper")


if __name__ == "__main__":
    main()
