"""Instruments: the counters as OpenTelemetry instruments.

Rules:
* All instruments are observable: they read the latest reports when a reader collects, so that nothing is paid until
  then.
* The proxy's own instruments are known beforehand. Those of plugins are made when a report first has them.
* Every value carries its worker. A worker that was replaced begins at 0 again, as any restarted process does. Values
  that the process with the admin side counts beside the workers have `admin` there.
* The service name is `doorkeeper`, unless OTEL_SERVICE_NAME or OTEL_RESOURCE_ATTRIBUTES sets another.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from importlib.metadata import PackageNotFoundError, version

from opentelemetry.metrics import CallbackOptions, Observation
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import MetricReader
from opentelemetry.sdk.resources import OTELResourceDetector, Resource

from proxy.telemetry.counters import CountsByName
from proxy.telemetry.measures import INSTRUMENTS, MEASURES, Measure
from proxy.telemetry.plugin_counters import PluginCount
from proxy.telemetry.report import Reports

NAME = "doorkeeper"
ADMIN = "admin"  # instead of a worker's number

Observe = Callable[[CallbackOptions], Iterable[Observation]]


class Instruments:
    """The instruments over the latest reports, published through the given readers."""

    def __init__(self, readers: Sequence[MetricReader]) -> None:
        self._latest: list[tuple[str, CountsByName]] = []  # each with its worker
        self._counts: dict[str, list[tuple[str, PluginCount]]] = {}  # of plugins: each count with its worker
        self._of_plugins: set[str] = set()
        self._provider = MeterProvider(metric_readers=readers, resource=_service())
        self._meter = self._provider.get_meter(NAME)
        for name, unit, description, grows in INSTRUMENTS:
            create = self._meter.create_observable_counter if grows else self._meter.create_observable_gauge
            create(name, [self._observer(name)], unit=unit, description=description)

    def take(self, reports: Reports, of_admin: CountsByName | None = None) -> None:
        """Take the latest report of every worker, and what the process with the admin side counted beside them."""
        counts: dict[str, list[tuple[str, PluginCount]]] = {}
        for worker, report in reports.items():
            for count in report.plugins:
                counts.setdefault(count.instrument, []).append((str(worker), count))
        latest = [*((str(worker), report.reading) for worker, report in reports.items()), (ADMIN, of_admin or {})]
        self._latest, self._counts = latest, counts  # both at once, since a reader may collect in another thread
        for name in counts.keys() - self._of_plugins:
            self._of_plugins.add(name)
            (_, first), callback = counts[name][0], partial(self._observe_plugins, name)
            self._meter.create_observable_counter(name, [callback], unit=first.unit, description=first.description)

    def _observer(self, name: str) -> Observe:
        mine = [measure for measure in MEASURES if measure.instrument == name]
        return lambda options: self._observe(mine)

    def _observe(self, measures: Sequence[Measure]) -> Iterable[Observation]:
        for worker, reading in self._latest:
            for key, _, attributes in measures:
                if key in reading:
                    yield Observation(reading[key], {**attributes, "worker": worker})

    def _observe_plugins(self, name: str, options: CallbackOptions) -> Iterable[Observation]:
        for worker, count in self._counts.get(name, ()):
            yield Observation(count.value, {**count.attributes, "worker": worker})

    def close(self) -> None:
        """Publish nothing more."""
        self._provider.shutdown()


def _service() -> Resource:
    about: dict[str, str] = {"service.name": NAME}
    with suppress(PackageNotFoundError):  # it may run from a folder where it is not installed
        about["service.version"] = version(NAME)
    return Resource.create().merge(Resource(about)).merge(OTELResourceDetector().detect())
