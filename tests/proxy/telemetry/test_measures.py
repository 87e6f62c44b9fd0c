from __future__ import annotations

import re
from collections import Counter
from dataclasses import fields
from pathlib import Path

from opentelemetry.exporter.prometheus import PrometheusMetricReader
from prometheus_client import generate_latest

from proxy.config import LimitOptions
from proxy.core.limits import Counters as LinkCounters
from proxy.telemetry.counters import AdminCounters, NetworkCounters
from proxy.telemetry.instruments import Instruments
from proxy.telemetry.measures import FAULTS, INSTRUMENTS, LIMITS, MEASURES
from proxy.telemetry.report import Report

PAGE = (Path(__file__).parents[3] / "proxy" / "telemetry" / "README.md").read_text(encoding="utf-8")


def test_everything_that_is_counted_is_published_once() -> None:
    counted = {field.name for kind in (NetworkCounters, LinkCounters, AdminCounters) for field in fields(kind)}
    published = Counter(measure.key for measure in MEASURES)
    assert counted <= published.keys()
    assert set(published.values()) == {1}


def test_every_limit_has_its_measure() -> None:
    measured = {measure.attributes["limit"] for measure in MEASURES if measure.instrument == LIMITS}
    assert measured == set(LimitOptions.model_fields)


def test_every_measure_has_an_instrument_and_shares_no_attributes_with_another() -> None:
    assert {measure.instrument for measure in MEASURES} == {instrument.name for instrument in INSTRUMENTS}
    places = [(measure.instrument, *measure.attributes.items()) for measure in MEASURES]
    assert len(places) == len(set(places))


def test_the_page_has_every_metric_with_its_labels_and_meaning() -> None:
    told = re.findall(r"^\| `(doorkeeper_\w+)` \| (.*?) ?\| (.*) \|$", PAGE, re.MULTILINE)
    expected = []
    for instrument in INSTRUMENTS:
        unit = "_bytes" if instrument.unit == "By" else ""
        name = instrument.name.replace(".", "_") + unit + ("_total" if instrument.grows else "")
        measures = [measure for measure in MEASURES if measure.instrument == instrument.name]
        labels = ", ".join(f"`{label}`" for label in measures[0].attributes)
        expected.append((name, labels, instrument.description))
    assert told == expected


def test_the_page_explains_every_reason_of_a_fault() -> None:
    (_, after) = PAGE.split("## Reasons of `doorkeeper_faults_total`")
    rows = re.findall(r"^\| (`.*?) \|", after, re.MULTILINE)
    told = {reason for row in rows for reason in re.findall(r"`(\w+)`", row)}
    assert told == {measure.attributes["reason"] for measure in MEASURES if measure.instrument == FAULTS}


def test_what_prometheus_is_given_has_the_names_of_the_page() -> None:
    reader = PrometheusMetricReader()
    instruments = Instruments([reader])
    instruments.take({0: Report(True, reading={measure.key: 1 for measure in MEASURES})})
    text = generate_latest().decode()
    instruments.close()
    given = {line.split("{")[0] for line in text.splitlines() if line.startswith("doorkeeper_")}
    assert given == set(re.findall(r"^\| `(doorkeeper_\w+)` ", PAGE, re.MULTILINE))
