"""Programs: steps over the fields of a message, as rows of numbers."""

from __future__ import annotations

from proxy.protocol.codec import laid_out
from proxy.protocol.messages.metadata import MetadataRequest
from proxy.protocol.plan import Plan
from proxy.protocol.programs import COMPACT, OPERANDS, Over, ProgramSteps, over, program


def steps(layout: Plan) -> ProgramSteps:
    return [one for step in layout.steps for one in over(step.move, steps)]


def test_what_lies_in_an_array_is_behind_it_and_it_says_how_many_steps_that_are() -> None:
    """Version 4: topics that may be null, each a name; then a boolean."""
    topics, name, last = steps(laid_out(MetadataRequest, 4)[0])
    operation, (width, is_nullable, _, within) = topics
    assert (operation, width, is_nullable, within) == (Over.STRUCTS, 4, True, 1)
    assert name == (Over.BYTES, (2, False))
    assert last == (Over.SKIP, (1,))


def test_lengths_of_a_flexible_message_are_compact() -> None:
    """Version 9: their width is no number of bytes."""
    topics, name, *_ = steps(laid_out(MetadataRequest, 9)[0])
    assert (topics[1][0], name[1][0]) == (COMPACT, COMPACT)


def test_each_step_takes_as_many_numbers() -> None:
    assert program([(Over.SKIP, (8,)), (Over.MAYBE, (1,)), (Over.BYTES, (2, True))]) == (
        *(Over.SKIP, 8, 0, 0, 0),
        *(Over.MAYBE, 1, 0, 0, 0),
        *(Over.BYTES, 2, 1, 0, 0),
    )
    assert len(program([(Over.SKIP, (8,))])) == 1 + OPERANDS
