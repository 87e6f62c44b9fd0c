from __future__ import annotations

from collections import Counter
from dataclasses import fields

from proxy.config import Limits
from proxy.core.limits import Counters as LinkCounters
from proxy.telemetry.counters import Counters
from proxy.telemetry.measures import INSTRUMENTS, LIMITS, MEASURES


def test_everything_that_is_counted_is_published_once() -> None:
    counted = {field.name for kind in (Counters, LinkCounters) for field in fields(kind)}
    published = Counter(measure.key for measure in MEASURES)
    assert counted <= published.keys()
    assert set(published.values()) == {1}


def test_every_limit_has_its_measure() -> None:
    measured = {measure.attributes["limit"] for measure in MEASURES if measure.instrument == LIMITS}
    assert measured == set(Limits.model_fields)


def test_every_measure_has_an_instrument_and_shares_no_attributes_with_another() -> None:
    assert {measure.instrument for measure in MEASURES} == {instrument.name for instrument in INSTRUMENTS}
    places = [(measure.instrument, *measure.attributes.items()) for measure in MEASURES]
    assert len(places) == len(set(places))
