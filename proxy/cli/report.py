"""`doorkeeper report`: reports on an audit journal, as a page and as tables. `spark-submit` runs this file too.

Rules:
* The path of the page goes to standard output. Progress and error messages go to standard error.
* Spark is imported when the job runs, so that a mistake in an option is reported at once.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from plugins.audit.keyfile import KeyFileError
from plugins.audit.reports import asked
from plugins.audit.reports.catalogue import REPORTS
from plugins.audit.reports.pipeline.audit_topic import PACKAGE
from plugins.audit.reports.pipeline.place import JournalPlace
from plugins.audit.reports.report import AuditReport
from plugins.audit.signing import public_key
from proxy.cli.checked import checked
from proxy.cli.ending import give_up
from proxy.cli.given import FILE_PATH, reading
from proxy.cli.report_options import access_of, inputs_of
from proxy.text.words import nearest

if TYPE_CHECKING:
    from plugins.audit.reports.progress import Progressed

THIS_MACHINE = "local[*]"
HOST_PORT = r"[^/,\s]+:[0-9]{1,5}"
MASTER = re.compile(
    rf"local(\[(\*|[0-9]+)(,[0-9]+)?\])?|local-cluster\[.+\]|spark://{HOST_PORT}(,{HOST_PORT})*|yarn|k8s://.+"
)
SUBMITTED = "PYSPARK_GATEWAY_PORT"  # is set by spark-submit, which says the master itself
MISSING = "reports need more; `pip install 'doorkeeper[reports]'`"
EPILOG = """\b
Examples:
  doorkeeper report /var/lib/doorkeeper/journal --out march --from 2026-03-01 --to 2026-04-01 --zone Europe/Zurich
  doorkeeper report JOURNAL --out page --only access --only denials --topic 'payments-*'
  doorkeeper report JOURNAL --out page --only offsets --offsets orders-0:100-200      who read these records?
  doorkeeper report kafka://kafka-1:9092/doorkeeper-audit --out page --kafka-config client.properties
  doorkeeper report s3a://bucket/journal --out /shared/page --work s3a://bucket/work --master spark://host:7077
\b
Exit code: 0 if the page is there; 1 if not.
"""


def _report(name: str) -> AuditReport:
    known = {report.name: report for report in REPORTS}
    if name not in known:
        raise ValueError(f'there is no report "{name}"; {nearest(name, known)}')
    return known[name]


def _folder(text: str) -> Path:
    if not text:  # a variable that is not set; the files of an earlier run there would be removed
        raise ValueError('"" is no folder; name one, or write "." for this one')
    folder = JournalPlace.of(text).folder
    if folder is None:
        raise ValueError(f"{text}: the page is written on this machine; give --out a folder of it, and copy that there")
    return folder


def _master(text: str) -> str:
    if not MASTER.fullmatch(text):  # Spark would tell it in twenty lines
        raise ValueError(f'"{text}" is no master of Spark; write spark://host:7077, or local[*] for this machine')
    return text


@click.command("report", epilog=EPILOG)
@click.argument("journal")
@click.option("--out", callback=checked(_folder), required=True, help="The folder for the page and the tables.")
@click.option("--from", "since", metavar="TIME", help="Events at that time and later: 2026-03-01, 2026-03-01T08:30.")
@click.option("--to", "until", metavar="TIME", help="Events before that time.")
@click.option(
    "--zone", callback=checked(asked.zone), default="UTC", show_default=True, help="The time zone of days and hours."
)
@click.option("--hours", callback=checked(asked.work_hours), help="The working hours. [default: Mon-Fri 08:00-18:00]")
@click.option(
    "--only", callback=checked(_report), multiple=True, help="Make only this report; may be given several times."
)
@click.option(
    "--principal",
    "principals",
    callback=checked(asked.principal),
    multiple=True,
    help='Only events of this principal, "User:alice"; may be given several times.',
)
@click.option(
    "--topic",
    "topics",
    callback=checked(asked.name),
    multiple=True,
    help="Only events about this topic. A * at the end stands for any end.",
)
@click.option(
    "--offsets",
    callback=checked(asked.offset_range),
    help="Only events about these records of a topic: orders-0:100-200.",
)
@click.option("--rules", type=FILE_PATH, help="A file of ACL rules to compare with what was done.")
@click.option("--tags", "tags_file", type=FILE_PATH, help="A file that says which topics hold sensitive data.")
@click.option(
    "--key",
    "keys",
    type=FILE_PATH,
    multiple=True,
    help="The key that signed the journal: the public one is enough. May be given several times.",
)
@click.option("--work", help="Where events are kept for the next run, as Spark reads it. [default: OUT/work]")
@click.option(
    "--kafka-config", type=FILE_PATH, help="Of a topic: a file of settings of Kafka's clients, as for SASL and TLS."
)
@click.option(
    "--packages", default=PACKAGE, show_default=True, help="Of a topic: Spark's Kafka source, which it fetches."
)
@click.option("--jars", help="Of a topic: jars of Spark's Kafka source instead, joined by commas; nothing is fetched.")
@click.option(
    "--master", callback=checked(_master), help="spark://host:7077 is a cluster. [default: local[*], this machine]"
)
def command(journal: str, out: Path, only: tuple[AuditReport, ...], **said: Any) -> None:
    """Make reports on the JOURNAL of an audit: one HTML page, and each table as CSV and as Parquet.

    JOURNAL is a folder, any URL that Spark reads, or an audit topic: kafka://HOST:PORT/TOPIC.
    Needs `pip install 'doorkeeper[reports]'`.
    """
    inputs = inputs_of(journal, said)
    with reading():
        try:
            keys = tuple(map(public_key, said["keys"]))
        except KeyFileError as error:
            give_up(str(error))
    master = said["master"] or (None if SUBMITTED in os.environ else THIS_MACHINE)
    access = access_of(journal, said, is_begun=master is None)
    try:
        from plugins.audit.reports.job import ReportError, ReportJob, run
    except ModuleNotFoundError:
        give_up(MISSING)
    try:
        with _progress() as tell:
            reports = tuple(dict.fromkeys(only)) or REPORTS
            page = run(ReportJob(journal, out, reports, inputs, master, said["work"], keys, access), tell)
    except ReportError as error:
        give_up(str(error))
    except KeyboardInterrupt:
        sys.exit(130)
    click.echo(page)


@contextmanager
def _progress() -> Iterator[Callable[[Progressed], None]]:
    """A progress bar on a terminal, otherwise one line for each step."""
    if not sys.stderr.isatty():
        yield lambda step: click.echo(f"{step.done} of {step.total}: {step.what}", err=True)
        return
    with click.progressbar(length=1, file=sys.stderr, item_show_func=str, show_eta=False) as bar:
        bar.update(0, "Spark starts")

        def tell(step: Progressed) -> None:
            bar.length = step.total
            bar.update(step.done - bar.pos, step.what)

        yield tell


if __name__ == "__main__":
    command()
