"""Mistakes in a state: one line for people, and the paths of the values."""

from proxy.core.state import NotTakenError, StateError
from proxy.text.problems import Finding


def test_an_error_has_every_reason() -> None:
    findings = Finding(("a", 1), "one is wrong"), Finding(("b",), "two is wrong")
    assert StateError(iter(findings)).findings == findings
    assert str(StateError(findings)) == "one is wrong; two is wrong"
    assert NotTakenError("it ends", "it hangs").reasons == ("it ends", "it hangs")
