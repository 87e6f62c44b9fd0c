"""Responses that never arrive."""

from pathlib import Path

from tests.plugins.faults.talking import FaultFile, FaultTalk, errors, produce, serving


def test_an_answer_that_is_dropped_is_to_what_was_done_and_the_next_one_comes(tmp_path: Path) -> None:
    talk = FaultTalk(FaultFile(tmp_path, "faults: [{match: {api: Produce}, when: {times: 1}, do: drop}]"), serving)
    assert talk.ask(produce("orders"), 9) is None
    assert (len(talk.to_broker), talk.closed) == (1, None)
    talk._sent.pop(0)
    assert errors(talk.ask(produce("orders"), 9)) == {("orders", 0): "NONE"}
