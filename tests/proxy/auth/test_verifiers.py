"""The verifiers that are stored for a password."""

import pytest
from scramp import ScramMechanism

from proxy.auth import verifiers as module
from proxy.auth.verifiers import ALIKE, MECHANISMS, Verifier, fits, nobodys, verifiers
from proxy.core.sasl.name import LONGEST


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_only_the_password_fits(mechanism: str) -> None:
    kept = verifiers("correct horse")[mechanism]
    assert fits("correct horse", kept, mechanism)
    assert not fits("correct horsf", kept, mechanism)
    assert not fits("\x00", kept, mechanism)


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_verifier_is_what_rfc_5802_says(mechanism: str) -> None:
    kept = verifiers("pässword", 5000)[mechanism]
    assert tuple(kept) == ScramMechanism(mechanism).make_auth_info("pässword", 5000, kept.salt)


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("users", [{}, {"first": verifiers("x"), "second": verifiers("x")}])
def test_nobody_is_like_somebody(mechanism: str, users: dict[str, dict[str, Verifier]]) -> None:
    nobody, somebody = nobodys("x", mechanism, users), verifiers("x")[mechanism]
    assert [len(part) for part in nobody[:3]] == [len(part) for part in somebody[:3]]
    assert nobody == nobodys("x", mechanism, users)
    assert nobody != nobodys("y", mechanism, users)
    assert not fits("", nobody, mechanism)
    assert len(nobodys("\ud800", mechanism, users).salt) == len(somebody.salt)


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_nobody_is_the_same_in_every_process_and_hashed_as_often_as_somebody(
    mechanism: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    users = {f"user-{rounds}": verifiers("x", rounds) for rounds in (5_000, 6_000)}
    here = [nobodys(f"nobody-{n}", mechanism, users) for n in range(50)]
    monkeypatch.setattr(module, "_OURS", b"of another process")
    assert [nobodys(f"nobody-{n}", mechanism, users) for n in range(50)] == here
    assert {nobody.iterations for nobody in here} == {5_000, 6_000}


def test_nobody_is_like_one_of_the_first_users() -> None:
    first, later = ({"SCRAM-SHA-256": Verifier(b"", b"", b"", rounds)} for rounds in (5_000, 6_000))
    users = {f"user-{n}": first if n < ALIKE else later for n in range(5 * ALIKE)}
    assert {nobodys(f"nobody-{n}", "SCRAM-SHA-256", users).iterations for n in range(50)} == {5_000}


@pytest.mark.parametrize(
    ("password", "why"),
    [("", "empty"), ("a\0b", "NUL"), ("\ud800", "surrogates"), ("ä" * LONGEST, f"more than {LONGEST:,} bytes")],
)
def test_a_password_that_no_client_can_send_is_refused(password: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        verifiers(password)


def test_a_password_is_taken_as_it_is() -> None:
    kept = verifiers("IX\u00aa")[MECHANISMS[0]]
    assert fits("IX\u00aa", kept, MECHANISMS[0])
    assert not fits("I\u00adX\u00aa", kept, MECHANISMS[0])
    assert not fits("IXa", kept, MECHANISMS[0])
