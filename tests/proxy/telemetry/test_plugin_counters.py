from __future__ import annotations

import sys
from threading import Thread

import pytest
from opentelemetry.exporter.prometheus import PrometheusMetricReader
from prometheus_client import generate_latest

from proxy.telemetry.instruments import Instruments
from proxy.telemetry.plugin_counters import MOST, PluginCount, PluginCounters
from proxy.telemetry.report import Report


def counted(counters: PluginCounters) -> dict[tuple[str, frozenset[tuple[str, str]]], int]:
    return {(count.instrument, frozenset(count.attributes.items())): count.value for count in counters.counted()}


def test_a_plugin_that_is_made_anew_goes_on_counting_where_it_was() -> None:
    counters = PluginCounters()
    counters.of("mask", "mask")("masked", "Values masked.").add()
    counters.of("mask", "mask")("masked", "Values masked.").add(2)
    assert counters.counted() == [PluginCount("doorkeeper.mask.masked", "1", "Values masked.", {}, 3)]


def test_a_second_plugin_of_a_kind_shares_the_instrument_and_says_who_it_is() -> None:
    counters = PluginCounters()
    counters.of("mask", "mask")("masked", "Values masked.", topic="a").add()
    counters.of("mask", "mask-2")("masked", "Values masked.", topic="a").add(5)
    assert counted(counters) == {
        ("doorkeeper.mask.masked", frozenset({("topic", "a")})): 1,
        ("doorkeeper.mask.masked", frozenset({("topic", "a"), ("plugin", "mask-2")})): 5,
    }


def test_attributes_without_end_are_counted_together() -> None:
    counters = PluginCounters()
    counter = counters.of("mask", "mask")
    for number in range(MOST + 10):
        counter("masked", "Values masked.", topic=str(number)).add()
    counter("masked", "Values masked.", topic="0").add()
    found = counted(counters)
    assert len(found) == MOST + 1
    assert found["doorkeeper.mask.masked", frozenset({("otel.metric.overflow", "true")})] == 10
    assert found["doorkeeper.mask.masked", frozenset({("topic", "0")})] == 2


def test_counts_may_be_read_while_another_thread_makes_counters() -> None:
    counters = PluginCounters()
    counter = counters.of("mask", "mask")
    before = sys.getswitchinterval()

    def make() -> None:
        for number in range(MOST):
            counter("masked", "Values masked.", topic=str(number))
            counter(f"seen{number}", "Values masked.")

    sys.setswitchinterval(1e-6)
    making = Thread(target=make)
    try:
        making.start()
        while making.is_alive():
            counters.counted()
    finally:
        making.join()
        sys.setswitchinterval(before)
    assert len(counters.counted()) == 2 * MOST


@pytest.mark.parametrize("name", ["", "Masked", "masked records", "a..b", "1st", "masked\n"])
def test_a_name_that_cannot_be_published_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="no counter can be called"):
        PluginCounters().of("mask", "mask")(name, "Values masked.")


def test_a_plugin_cannot_take_a_name_of_the_proxy_itself() -> None:
    with pytest.raises(ValueError, match="no counter can be called"):
        PluginCounters().of("log", "log")("lines_dropped", "Lines.")


@pytest.mark.parametrize("name", ["masked_values", "masked.values_total"])
def test_names_that_are_the_same_to_prometheus_are_refused(name: str) -> None:
    counter = PluginCounters().of("mask", "mask")
    counter("masked.values", "Values masked.")
    counter("masked.values", "Values masked.", topic="a")
    with pytest.raises(ValueError, match='to Prometheus it is the same as "doorkeeper'):
        counter(name, "Values masked.")


def test_the_counts_of_all_workers_are_published_each_with_its_number() -> None:
    workers = [PluginCounters(), PluginCounters()]
    instruments = Instruments([PrometheusMetricReader()])
    for number, counters in enumerate(workers):
        counters.of("my-mask", "my-mask")("masked", "Values masked.", topic="a").add(number + 1)
    instruments.take({number: Report(True, plugins=each.counted()) for number, each in enumerate(workers)})
    text = generate_latest().decode()
    instruments.close()
    assert "# HELP doorkeeper_my_mask_masked_total Values masked." in text
    lines = [line for line in text.splitlines() if line.startswith("doorkeeper_my_mask_masked_total{")]
    assert sorted(line.rsplit(" ", 1)[1] for line in lines) == ["1.0", "2.0"]
    assert sorted(line.partition('worker="')[2][0] for line in lines) == ["0", "1"]
