"""Blame: the error names every place where bytes can be cut, and complete messages have no error."""

import random

from proxy.protocol.blame import blame_bytes, blame_message
from proxy.protocol.codec import encode
from proxy.protocol.problem import Fault
from proxy.protocol.wire import BOOL
from tests.proxy.protocol.generate import EVERY, make


def test_wherever_a_message_is_cut_a_field_or_place_is_named():
    dice = random.Random(13)
    for cls, version in EVERY:
        body = encode(make(cls, version, dice), version)
        if body:
            cut = dice.randrange(len(body))
            problem = blame_bytes(cls, version, body[:cut])
            assert problem.position is not None, (cls, version)
            assert problem.position <= cut
            assert problem.fault is (Fault.CLIENT if cls.side == "request" else Fault.BROKER)


def test_a_whole_message_is_read_to_its_end_before_more_is_found_too_much():
    dice = random.Random(14)
    for cls, version in EVERY:
        body = encode(make(cls, version, dice), version)
        assert blame_bytes(cls, version, body + b"x").what == "1 bytes too many"
        assert blame_bytes(cls, version, body + b"x").position == len(body)


def test_each_field_that_cannot_be_written_is_found():
    dice = random.Random(15)
    for cls, version in EVERY:
        for field in cls.fields:
            if field.present(version) and field.kind is not BOOL:  # anything is true or false
                message = make(cls, version, dice)
                setattr(message, field.name, object())
                problem = blame_message(message, version, TypeError())
                assert problem.field == field.name, (cls, version, field.name)
                assert problem.fault is Fault.OURS
