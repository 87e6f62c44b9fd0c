"""Annotations: what types of fields say, and types that say nothing of one value."""

import pytest

from proxy.protocol.annotations import wire_type
from proxy.protocol.schema import Struct
from proxy.protocol.wire import BOOL, INT32, STRING, BrokerId, Host, Meaning, array, int32


class Topic(Struct):
    """An element of an array."""


@pytest.mark.parametrize(
    ("annotation", "said"),
    [
        (bool, (BOOL, False, False, None)),
        (Host, (STRING, False, False, Meaning.HOST)),
        (array[Topic] | None, (Topic, True, True, None)),
        (array[BrokerId], (INT32, True, False, Meaning.BROKER_ID)),
        (int32 | None, (INT32, False, True, None)),
    ],
)
def test_a_type_says_how_values_are_written_and_what_they_stand_for(annotation, said):
    assert wire_type(annotation) == said


def test_a_value_has_one_type():
    assert wire_type(Host | int32 | None) is None
