"""The wire's vocabulary."""

import struct
from typing import get_args

from proxy.protocol import wire
from proxy.protocol.wire import Meaning, Primitive

PRIMITIVES = [value for value in vars(wire).values() if isinstance(value, Primitive)]
TYPES = {name: get_args(value) for name, value in vars(wire).items() if hasattr(value, "__metadata__")}


def test_a_primitive_of_fixed_width_is_as_wide_as_its_letters_say():
    for primitive in PRIMITIVES:
        if primitive.fmt is not None:
            assert struct.calcsize(">" + primitive.fmt) == primitive.size, primitive


def test_every_type_says_how_it_is_written_and_at_most_one_meaning():
    for name, (_, primitive, *meanings) in TYPES.items():
        assert primitive in PRIMITIVES, name
        assert len(meanings) <= 1, name
        assert all(isinstance(meaning, Meaning) for meaning in meanings), name


def test_every_meaning_has_a_type():
    given = {meaning for _, _, *meanings in TYPES.values() for meaning in meanings}
    assert given == set(Meaning)
