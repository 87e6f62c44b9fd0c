"""Building Python source."""

import linecache
import traceback

import pytest

from proxy.protocol.emit.source import Source, letters, runs, width
from proxy.protocol.messages.metadata import MetadataResponse
from proxy.protocol.plan import plan


def test_lines_are_indented_by_their_blocks_and_an_empty_block_passes():
    src = Source("f", "x")
    with src.block("if x:"):
        src.add("return 1")
    with src.block("else:"):
        pass
    assert src.lines == ["def f(x):", "    if x:", "        return 1", "    else:", "        pass"]


def test_two_objects_of_the_same_stem_have_two_names():
    src = Source("f", "")
    first, second = object(), object()
    assert src.name("thing", first) == src.name("thing", first) == "thing"
    assert src.name("thing", second) != "thing"


def test_a_traceback_shows_the_printed_line():
    src = Source("f", "x")
    src.add("return 1 / x")
    f = src.compile("a title")
    with pytest.raises(ZeroDivisionError) as problem:
        f(0)
    assert "return 1 / x" in "".join(traceback.format_tb(problem.tb))
    assert linecache.getline("<a title>", 1) == "def f(x):\n"


def test_neighbours_of_fixed_width_are_one_run():
    partition = MetadataResponse.Topic.Partition
    steps = plan(MetadataResponse, 12).steps[-1].move.element.plan.steps[-2].move.element.plan.steps
    first, *others = runs(steps)
    assert [step.field.name for step in first] == ["error_code", "partition_index", "leader_id", "leader_epoch"]
    assert (letters(first), width(first)) == ("hiii", 14)
    assert [len(run) for run in others] == [1, 1, 1]
    assert first[0].struct is partition
