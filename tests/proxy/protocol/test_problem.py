"""Problems: one line with whose fault it is, the fact, and the place."""

import pytest

from proxy.protocol.problem import Fault, ProtocolError


@pytest.mark.parametrize(
    ("details", "line"),
    [
        ({}, "is wrong"),
        ({"api": "Produce request", "version": 9}, "Produce request v9: is wrong"),
        ({"api": "Produce request", "version": 9, "field": "acks"}, "Produce request v9: acks is wrong"),
        ({"field": "acks", "position": 61, "fault": Fault.CLIENT}, "acks is wrong, at byte 61"),
    ],
)
def test_a_problem_is_one_line_with_what_is_known(details, line):
    problem = ProtocolError("is wrong", **details)
    assert str(problem) == line
    assert problem.fault is details.get("fault")
