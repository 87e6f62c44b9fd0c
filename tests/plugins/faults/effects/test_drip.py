"""Frames arrive piece by piece."""

from pathlib import Path

from tests.plugins.faults.talking import FaultFile, FaultTalk, errors, produce, serving


def test_an_answer_drips_and_is_whole_in_the_end(tmp_path: Path) -> None:
    text = "faults: [{match: {api: Produce}, do: {drip: {bytes: 16, every: 20ms}}}]"
    talk = FaultTalk(FaultFile(tmp_path, text), serving)
    assert errors(talk.ask(produce("orders"), 9)) == {("orders", 0): "NONE"}
    assert len(talk.slept) > 2
    assert set(talk.slept) == {0.02}


def test_a_changed_answer_drips_as_it_was_changed(tmp_path: Path) -> None:
    text = """
        faults:
          - {match: {api: Produce}, do: {drip: 16}}
          - {match: {api: Produce}, do: {error: {code: KAFKA_STORAGE_ERROR, side: after_broker}}}
    """
    talk = FaultTalk(FaultFile(tmp_path, text), serving)
    assert errors(talk.ask(produce("orders"), 9)) == {("orders", 0): "KAFKA_STORAGE_ERROR"}
    assert talk.slept
