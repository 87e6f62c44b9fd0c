"""`doorkeeper demo`: brokers, the proxy and a real client on this machine, and what passed between them.

Rules:
* The demo claims only what it saw in this run. Each step checks its claim, and raises `NotSeen` if it does not hold.
* Everything runs on loopback, in memory and in a temporary folder, and is gone when the demo ends. Only the page stays.
"""

import sys
import tempfile
from pathlib import Path

import click

from proxy.cli import OneLineCommand, unreadable
from proxy.cli.ending import give_up
from proxy.cli.given import FILE_PATH

EPILOG = """\b
It starts three brokers (librdkafka's mock cluster, inside this process), `doorkeeper run` in front of them on free
ports, and confluent-kafka as the client. Nothing is left behind but the page of reports, which is made where Spark
is installed, and opened where there is a browser.
\b
Exit code: 0 if every step was seen to work, 1 if not.
"""


@click.command("demo", cls=OneLineCommand, epilog=EPILOG)
@click.option("--report", type=FILE_PATH, help="The folder for the page of reports. [default: a new one]")
@click.option("--no-report", is_flag=True, help="Make no page: it takes Spark a minute.")
def command(report: Path | None, no_report: bool) -> None:
    """See it work: brokers, the proxy and a client, all on this machine."""
    if report is not None and no_report:
        raise click.UsageError("--report and --no-report exclude each other; leave one out")
    try:
        import confluent_kafka as _  # noqa: F401 - the extra [demo]
    except ImportError:
        click.echo("the demo needs a Kafka client; pip install confluent-kafka", err=True)
        sys.exit(1)
    from proxy.cli.demo.account import has_spark
    from proxy.cli.demo.interrupted import interruptible
    from proxy.cli.demo.stage import NotSeen
    from proxy.cli.demo.steps import play

    if report is not None and not has_spark():
        click.echo("the page needs Spark; pip install 'doorkeeper[reports]'", err=True)
        sys.exit(1)
    is_wanted = not no_report and has_spark()
    out = report or Path(tempfile.mkdtemp(prefix="doorkeeper-page-")) if is_wanted else None
    try:
        with interruptible():
            play(_say, out)
    except NotSeen as missing:
        click.echo(f"\nNot seen: {missing}", err=True)
        sys.exit(1)


def _say(text: str) -> None:
    try:
        click.echo(text)
    except BrokenPipeError:
        raise
    except OSError as error:
        give_up(unreadable(error))
