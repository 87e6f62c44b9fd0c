"""`doorkeeper run`: the proxy itself."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

import click

from proxy.cli import OneLineCommand
from proxy.net.allocator import tune_malloc, use_malloc

if TYPE_CHECKING:
    from proxy.logs import Format

EPILOG = """\b
A whole configuration:
  clusters:
    main: {bootstrap: [kafka-1:9092, kafka-2:9092]}
  listeners:
    clients:
      cluster: main
      bind: 0.0.0.0:9192            # clients begin here; broker N answers on 9192 + 1 + N
      advertise: kafka.example.com  # what clients are told instead of the brokers' addresses
\b
It ends on SIGTERM or Ctrl-C, after the requests in flight are answered. On SIGHUP it reads FILE anew and puts in force
what changed, while clients stay connected; the log says what changed, or what is wrong. `doorkeeper schema` has every
option.
"""


@click.command("run", cls=OneLineCommand, epilog=EPILOG)
@click.argument("file", type=click.Path(readable=False))
@click.option(
    "--log",
    "form",
    type=click.Choice(["auto", "text", "json"]),
    default="auto",
    show_default=True,
    help="How to log: text for people, JSON for machines; auto is text on a terminal, JSON elsewhere.",
)
@click.option("-v", "--verbose", is_flag=True, help="Log every connection too, up to 100 lines a second.")
def command(file: str, form: Format, verbose: bool) -> None:
    """Stand between clients and brokers, as the configuration FILE says."""
    is_alone = sys.argv[1:2] == ["run"]  # this process is only the command, so it may execute itself again
    with _signals_at_start():
        if is_alone:
            use_malloc()
            tune_malloc()
        code = _run(file, form, verbose=verbose)
    if is_alone:
        _ignore_signals()
    sys.exit(code)


@contextmanager
def _signals_at_start() -> Iterator[None]:
    """Until the proxy handles signals, a SIGHUP is held back, and Ctrl-C ends the process without a traceback."""
    held = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGHUP})
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        signal.pthread_sigmask(signal.SIG_SETMASK, held)


def _ignore_signals() -> None:
    """Keep the exit code. Python gives its handlers up some time before the process is gone: a signal would kill it."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)


def _run(file: str, form: Format, *, verbose: bool) -> int:
    import structlog  # its import takes a third of a second, so it comes after the process has executed itself again

    from proxy import logs
    from proxy.config import examine

    config, problems = examine(file)
    if config is None:
        for problem in problems:
            click.echo(problem, err=True)
        return 1
    logs.begin(form, verbose=verbose)
    for problem in problems:
        structlog.get_logger().warning("mind the configuration", what=str(problem))
    from proxy.net import supervisor

    return supervisor.run(config, form, verbose=verbose, examine=partial(examine, file))
