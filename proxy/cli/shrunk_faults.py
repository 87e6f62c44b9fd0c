"""`doorkeeper faults shrink`: which firings of a run are enough for a command to fail.

Rules:
* A failure by another cause would mislead the search, so each failure must repeat.
* A run that takes too long is ended with all its processes.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile

import click

from plugins.faults.replay import RECORD, REPLAY, BadReplayError, ReplayedFiring, read_firings, write_firings
from proxy.cli.checked import checked
from proxy.cli.ending import give_up
from proxy.cli.given import FILE_PATH
from proxy.text.quantities import seconds
from proxy.text.words import printable

TWICE = 2  # runs of each selection that fails
SHOWN, NEAR_THE_END = 10, 4096  # the last lines of the command that are shown, at most; the bytes in which they are
SHRINK_EPILOG = f"""\b
Examples:
  doorkeeper faults shrink -- pytest tests/test_orders.py::test_no_order_is_lost
\b
The command is run again and again, with some of the firings that its first run recorded ({RECORD}) in
{REPLAY}. It should be one test, and take no longer than it must. What fails must fail twice.
When the time is over, the run under way is ended, and the least that was found so far is printed.
Exit code: 0 if few are found; 1 if the command does not fail, or not by faults.
"""


class _TimeOverError(Exception):
    """The time for all runs is over."""


@click.command("shrink", epilog=SHRINK_EPILOG, context_settings={"ignore_unknown_options": True})
@click.option(
    "--out",
    type=FILE_PATH,
    default="shrunk.ledger",
    show_default=True,
    help="The file for the faults that are enough.",
)
@click.option(
    "--within", callback=checked(seconds), default="1h", show_default=True, help="How long all runs may take together."
)
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def shrink(out: Path, within: float, command: tuple[str, ...]) -> None:
    """Find the few firings with which COMMAND still fails. COMMAND is run again and again."""
    from proxy.scenarios.shrink import shrink as shrunk

    _must_be_writable(out)  # all the runs would be for nothing
    until = time.monotonic() + within
    firings: Sequence[ReplayedFiring] = ()
    left = firings  # the fewest that are known to be enough
    with TemporaryDirectory(prefix="doorkeeper-") as folder:
        recorded, tried, said = Path(folder, "recorded"), Path(folder, "tried"), Path(folder, "said")

        def fails(some: Sequence[ReplayedFiring]) -> bool:
            nonlocal left
            write_firings(tried, some)
            failed = all(_fails(command, REPLAY, tried, until, said) for _ in range(TWICE))
            click.echo(f"{'fails' if failed else 'passes'} with {len(some)} of {len(firings)} firings", err=True)
            left = some if failed else left
            return failed

        try:
            if not _fails(command, RECORD, recorded, until, said):
                give_up("the command does not fail; there is nothing to shrink")
            left = firings = _recorded(recorded, said)
            if not fails(firings):
                give_up("the command does not fail with the same firings once more: it fails by something else, too")
            if fails(()):
                give_up("the command fails without any fault, too")
        except _TimeOverError:
            give_up("the time was over before the search began; give it more with --within, or run less")
        try:
            shrunk(firings, fails)
        except _TimeOverError:
            click.echo("the time is over; fewer may be enough, which more time (--within) would show", err=True)
    click.echo(f"it fails with these {len(left)} of {len(firings)} firings:")
    for firing in left:
        click.echo(f"  {printable(str(firing))}")
    with _writing(out):
        write_firings(out, left)
    click.echo(f"{REPLAY}={shlex.quote(str(out))} {shlex.join(command)}")


def _recorded(file: Path, said: Path) -> list[ReplayedFiring]:
    try:
        firings = read_firings(file) if file.exists() else []
    except BadReplayError as error:
        give_up(str(error))
    if not firings:
        why = "the command fails, and no fault fired in it; is its proxy started by it, and by nobody else?"
        give_up("\n".join((why, *_last_lines(said))))
    return firings


def _last_lines(said: Path) -> list[str]:
    with said.open("rb") as file:
        file.seek(max(said.stat().st_size - NEAR_THE_END, 0))
        lines = file.read().decode(errors="replace").splitlines()[-SHOWN:]
    return ["the command said last:", *lines] if lines else []


def _must_be_writable(out: Path) -> None:
    with _writing(out), out.open("ab") if out.exists() else TemporaryFile(dir=out.parent):
        pass


@contextmanager
def _writing(out: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        give_up(f"{out}: cannot be written ({error.strerror}); name another file with --out")


def _fails(command: Sequence[str], variable: str, file: Path, until: float, said: Path) -> bool:
    """Run the command, and end it with all its processes if it takes longer. Raises _TimeOverError.

    Its output goes to the file `said`, in place of that of the run before.
    """
    environment = {name: value for name, value in os.environ.items() if name not in (RECORD, REPLAY)}
    try:
        with said.open("wb") as output:
            running = subprocess.Popen(
                command,
                env={**environment, variable: str(file)},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                process_group=0,
            )
    except OSError as error:
        give_up(f"{command[0]}: cannot be run ({error.strerror}); check its name")
    with running:
        try:
            return running.wait(max(until - time.monotonic(), 0.0)) != 0
        except BaseException as error:
            os.killpg(running.pid, signal.SIGKILL)
            if isinstance(error, subprocess.TimeoutExpired):
                raise _TimeOverError from None
            raise
