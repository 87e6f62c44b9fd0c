"""A frame is cut off."""

from pathlib import Path

from tests.plugins.faults.talking import FaultFile, FaultTalk, produce, serving


def test_an_answer_breaks_off_in_the_middle(tmp_path: Path) -> None:
    talk = FaultTalk(FaultFile(tmp_path, "faults: [{match: {api: Produce}, do: {cut: 10}}]"), serving)
    talk.ask(produce("orders"), 9)
    assert len(talk._arriving) == 10
    assert talk.closed == 'fault "fault 1" cuts a frame'
