"""Instruments: OpenTelemetry's view of the counters.

Rules:
* All instruments are observable: they read `latest` when somebody collects, so that nothing is paid until then.
* Every value carries its worker. A worker that was replaced begins at 0 again, as any restarted process does.
"""

from collections.abc import Callable, Iterable, Sequence

from opentelemetry.metrics import CallbackOptions, Observation
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import MetricReader

from proxy.telemetry.measures import INSTRUMENTS, MEASURES, Measure
from proxy.telemetry.report import Reports


class Instruments:
    """The instruments over `latest`, published through the given readers."""

    def __init__(self, readers: Sequence[MetricReader]) -> None:
        self.latest: Reports = {}
        self._provider = MeterProvider(metric_readers=readers)
        meter = self._provider.get_meter("doorkeeper")
        for name, unit, description, grows in INSTRUMENTS:
            create = meter.create_observable_counter if grows else meter.create_observable_gauge
            create(name, [self._observer(name)], unit=unit, description=description)

    def _observer(self, name: str) -> Callable[[CallbackOptions], Iterable[Observation]]:
        mine = [measure for measure in MEASURES if measure.instrument == name]
        return lambda options: self._observe(mine)

    def _observe(self, measures: Sequence[Measure]) -> Iterable[Observation]:
        for worker, report in self.latest.items():
            for key, _, attributes in measures:
                if key in report.reading:
                    yield Observation(report.reading[key], {**attributes, "worker": str(worker)})

    def close(self) -> None:
        """Publish no more."""
        self._provider.shutdown()
