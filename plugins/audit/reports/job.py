"""The job: from a journal to a folder of pages and tables.

    OUT/index.html          the page                                    OUT/inputs.sha256   the hashes of its inputs
    OUT/NAME.csv            the rows of a report                        OUT/NAME.parquet    the same
    OUT/work/               events as Parquet, for the next run

Rules:
* The same journal with the same options gives the same bytes, on one machine or on many. Only Parquet files may differ
  in bytes, with the same rows: each Java lists the encodings of a file in its own order.
* Files of an earlier run are deleted before the first table is written: a page and its tables are of one run.
* Each report is computed once (`computed.py`).
* One run at a time writes a folder (`alone.py`).
* An error that stops the job is reported in one line. Events that were read already are kept for the next run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from plugins.audit.reports.alone import alone
from plugins.audit.reports.catalogue import REPORTS
from plugins.audit.reports.inputs import Inputs
from plugins.audit.reports.pipeline.audit_topic import PLAIN, AuditTopicPlace, TopicAccess
from plugins.audit.reports.pipeline.computed import computed
from plugins.audit.reports.pipeline.java import NoJavaError
from plugins.audit.reports.pipeline.place import JournalPlace, PlaceError, java_says
from plugins.audit.reports.pipeline.session import SparkMissingError, knows_zone, session
from plugins.audit.reports.progress import Progressed, WorkProgress
from plugins.audit.reports.render.page import HASHES, PAGE, write_page
from plugins.audit.reports.render.sheet import NEEDED, Sheet, not_made, write_sheet
from plugins.audit.reports.report import AuditReport, CannotTellError, ordered

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from plugins.audit.reports.pipeline.events import PeriodEvents

JournalSource = JournalPlace | AuditTopicPlace


class ReportError(Exception):
    """Reports cannot be made. The text is one line for people."""


@dataclass(frozen=True)
class ReportJob:
    """The reports to make. `master` None: as spark-submit says. `work` None: `out/work`. `inputs` lack their facts.

    `keys`: those with which the journal must be signed. `access`: how the topic is read, if `journal` names one.
    """

    journal: str
    out: Path
    reports: tuple[AuditReport, ...]
    inputs: Inputs
    master: str | None
    work: str | None = None
    keys: tuple[Ed25519PublicKey, ...] = ()
    access: TopicAccess = PLAIN

    @property
    def store(self) -> JournalPlace:
        """Where events are kept for the next run."""
        return JournalPlace.of(self.work or str(self.out / "work"))

    @property
    def folders(self) -> list[Path]:
        """The folders of this machine that it writes."""
        return [self.out, *filter(None, [self.store.folder])]


def run(job: ReportJob, tell: Callable[[Progressed], None]) -> Path:
    """Make the reports. Returns the path of the page. Raises ReportError."""
    try:
        place = _begin(job)
        is_fetched = isinstance(place, AuditTopicPlace) and job.master is not None
        with alone(job.folders), session(job.master, job.access.of_spark if is_fetched else {}) as spark:
            return make(job, place, spark, tell)
    except SparkMissingError as error:
        raise ReportError(f"{error}{f'; {job.access.way_out}' if is_fetched else ''}") from None
    except (NoJavaError, PlaceError) as error:
        raise ReportError(str(error)) from None


def make(job: ReportJob, place: JournalSource, spark: SparkSession, tell: Callable[[Progressed], None]) -> Path:
    """As `run`, with an existing session. Errors of Spark become a ReportError of one line."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    if not knows_zone(spark, zone := job.inputs.zone):  # a report would find that after hours, and end the run
        raise ReportError(f"Java does not know the time zone {zone}; give --zone another place that has the same time")
    try:
        return _Run(job, place, spark, tell).page()
    except PlaceError as error:
        raise ReportError(str(error)) from None
    except OSError as error:
        where = job.out if error.filename is None else error.filename  # of a write that the disk refused
        raise ReportError(f"{where}: {error.strerror}; check its permissions and the disk's room") from None
    except PySparkException as error:
        raise ReportError(f"Spark: {str(error).splitlines()[0]}") from error
    except Py4JJavaError as error:
        raise ReportError(f"Spark: {java_says(error)}") from error


def _begin(job: ReportJob) -> JournalSource:
    """The place of the journal. Checks that the reports can be written. Raises PlaceError, ReportError."""
    place = AuditTopicPlace.of(job.journal) or JournalPlace.of(job.journal)
    journal = place.folder if isinstance(place, JournalPlace) else None
    for folder in job.folders:
        if journal is not None and folder.resolve().is_relative_to(journal.resolve()):
            option = "--out" if folder is job.out else "--work"
            raise ReportError(f"{folder}: this is in the journal itself; give {option} another folder")
    try:
        if isinstance(place, JournalPlace):
            place.check()
    except OSError as error:
        raise ReportError(f"{error.filename}: cannot be read ({error.strerror}); check its permissions") from None
    try:
        job.out.mkdir(parents=True, exist_ok=True)
        probe = job.out / ".probe"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise ReportError(f"{job.out}: cannot be written ({error.strerror}); give --out another folder") from None
    return place


class _Run:
    def __init__(
        self, job: ReportJob, place: JournalSource, spark: SparkSession, tell: Callable[[Progressed], None]
    ) -> None:
        self._job = job
        self._place = place
        self._spark = spark
        self._progress = WorkProgress(tell)
        self._progress.total = len(job.reports) + 1

    def page(self) -> Path:
        events, inputs = self._read()
        self._clear()
        sheets = [self._sheet(report, events, inputs) for report in self._job.reports]
        return write_page(self._job.out, inputs, sheets)

    def _clear(self) -> None:
        for name in (PAGE, HASHES, *(name for report in REPORTS for name in report.tables)):
            (self._job.out / name).unlink(missing_ok=True)

    def _read(self) -> tuple[PeriodEvents, Inputs]:
        from plugins.audit.reports.pipeline.events import PeriodEvents
        from plugins.audit.reports.pipeline.inspection import corrupt, counted
        from plugins.audit.reports.pipeline.sources import read_journal, read_topic

        job, place, spark, progress, asked = self._job, self._place, self._spark, self._progress, self._job.inputs
        if isinstance(place, JournalPlace):
            rows, facts = read_journal(spark, place, job.store, asked, job.keys, progress)
        else:
            rows, facts = read_topic(spark, place, job.access, job.store, progress)
        events = PeriodEvents(rows, asked)
        facts = replace(counted(events, facts), corrupt=corrupt(rows))
        progress.step("what is missing is known")
        return events, replace(asked, facts=facts)

    def _sheet(self, report: AuditReport, events: PeriodEvents, inputs: Inputs) -> Sheet:
        out = self._job.out
        try:
            if report.needs and getattr(inputs, report.needs) is None:
                return not_made(report, NEEDED[report.needs])
            frame = ordered(report.rows(events.of(report.scope), inputs), report)
            return write_sheet(out, report, computed(self._spark, frame, report, out), inputs)
        except CannotTellError as error:
            return not_made(report, str(error))
        finally:
            self._progress.step(report.name)
