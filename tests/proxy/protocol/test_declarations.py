"""Declarations of fields: their meaning, and those that are refused."""

import pytest

from proxy.protocol.declarations import field, since, tagged
from proxy.protocol.structs import Struct
from proxy.protocol.wire import array, int32, string


def test_a_declaration_says_versions_tags_nulls_and_arrays():
    class Example(Struct):
        """One of each."""

        bare: int32
        ranged: array[string] | None = since(2, 4, nullable=3)
        late: string = tagged(7, 5, default="x")

    bare, ranged, late = Example.fields
    assert [bare.required, ranged.required, late.required] == [True, False, False]
    assert [ranged.present(version) for version in range(6)] == [False, False, True, True, True, False]
    assert [ranged.may_be_null(version) for version in (2, 3)] == [False, True]
    assert (late.tag, late.default(), ranged.default(), bare.default()) == (7, "x", [], 0)
    assert ranged.is_array


def test_a_declaration_that_makes_no_sense_is_refused_when_the_class_is_made():
    with pytest.raises(TypeError, match="null needs a type that says so"):

        class Null(Struct):
            name: string = field(default=None)

    with pytest.raises(TypeError, match="a field needs a type"):

        class Bare(Struct):
            name = since(1)
