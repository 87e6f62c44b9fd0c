"""A refused client sees the same error as at a broker: the same exception and words, with the proxy and without.

For a refusal by TLS the words are the TLS library's, so only the kind of exception is compared. All clients try at
once, because each refusal is delayed, and more so after earlier ones.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.certificates import Authority
from tests.proxy.auth.issuer import Issuer
from tests.real.secured.clients import CLIENTS, As
from tests.real.secured.cluster import CLAIM, PASSWORDS
from tests.real.secured.guarding import TLS, Guarding
from tests.real.secured.papers import Papers, show, trust

pytestmark = pytest.mark.real

VALUES = [b"v"]
TRYING = ("librdkafka", "java-4.4.0")
AT_ONCE = 12
NOT_SIGNED = '{"status":"invalid_token"}'
BAD_SCRAM = "Authentication failed during authentication due to invalid credentials with SASL mechanism "
BAD_PLAIN = "Authentication failed: Invalid username or password"
# what is wrong -> mechanism, user, password, error message
PASSWORD_CASES = {
    "a wrong password, PLAIN": ("PLAIN", "alice", "wrong-password", BAD_PLAIN),
    "an unknown user, PLAIN": ("PLAIN", "nobody", PASSWORDS["alice"], BAD_PLAIN),
    "an unknown user, SCRAM": ("SCRAM-SHA-256", "nobody", PASSWORDS["alice"], BAD_SCRAM + "SCRAM-SHA-256"),
    "a wrong password, SCRAM": ("SCRAM-SHA-512", "alice", "wrong-password", BAD_SCRAM + "SCRAM-SHA-512"),
}
TOKEN_CASES = {
    "an expired token": {"exp": 1_000_000_000, "iat": 999_999_000},
    "a token for another audience": {"aud": "other"},
    "a token of another issuer": {"iss": "https://other"},
    "a token by an unknown key": {},
}
CERTIFICATE_CASES = ("no certificate", "a foreign certificate", "an expired certificate", "a foreign server")
CASES = (*PASSWORD_CASES, *TOKEN_CASES, *CERTIFICATE_CASES)
Outcomes = dict[tuple[str, str], dict[str, str]]


def seen(outcome: object) -> str:
    """A client's error, without addresses and times."""
    assert isinstance(outcome, str), f"it was not refused: {outcome}"
    refusal = outcome.partition("SASL authentication error: ")[2].partition(" (after")[0]
    if refusal:
        return refusal
    kind, _, words = outcome.partition(": ")
    if kind == "SaslAuthenticationException":
        return words
    if "SSL" in kind.upper() or "SunCertPath" in kind:
        return "TLS" if "//" in kind else kind
    return outcome


class Wrong:
    """Clients with wrong credentials."""

    def __init__(self, guarding: Guarding, folder: Path) -> None:
        self.guarding = guarding
        self.stranger = Issuer("k2")
        self.foreign = Authority(folder, "foreign")

    def clients(self, case: str) -> dict[str, As]:
        """The clients of a case, by way."""
        at, direct, papers = self.guarding.at, self.guarding.direct, self.guarding.trusted
        if case in PASSWORD_CASES:
            places = {
                "direct": direct("inspected", TLS),
                "inspected": at("inspected", TLS),
                "terminated": at("terminated", TLS),
            }
            return {way: As(place, *PASSWORD_CASES[case][:3], papers) for way, place in places.items()}
        if case in TOKEN_CASES:
            issuer = self.stranger if "unknown key" in case else self.guarding.cluster.issuer
            token = issuer.token(time.time(), sub="alice", **{CLAIM: "alice"} | TOKEN_CASES[case])
            places = {"direct": direct("signed", TLS), "inspected": at("signed", TLS), "terminated": at("tokens", TLS)}
            return {way: As(place, "OAUTHBEARER", "alice", token, papers) for way, place in places.items()}
        places = {"direct": direct("certified", TLS), "proxy": at("certified", TLS)}
        return {way: As(place, None, papers=self._papers(case)) for way, place in places.items()}

    def _papers(self, case: str) -> Papers:
        trusted, authority = self.guarding.trusted, self.guarding.cluster.authority
        if case == "no certificate":
            return trusted
        if case == "a foreign server":
            return show(trust(self.foreign), authority, *authority.issue("alice", organization="Clients"))
        if case == "an expired certificate":
            return show(trusted, authority, *authority.issue("late", organization="Clients", days=(-2, -1)))
        return show(trusted, self.foreign, *self.foreign.issue("alice", organization="Clients"))


@pytest.fixture(scope="module")
def outcomes(guarding: Guarding, tmp_path_factory: pytest.TempPathFactory) -> Outcomes:
    """The error of each client on each way."""
    wrong = Wrong(guarding, tmp_path_factory.mktemp("wrong"))
    tried = [
        (case, client, way, who) for case in CASES for way, who in wrong.clients(case).items() for client in TRYING
    ]

    def run(one: tuple[str, str, str, As]) -> object:
        return CLIENTS[one[1]](one[3], "alice-wrong", VALUES)

    found: Outcomes = {}
    with ThreadPoolExecutor(AT_ONCE) as together:
        for (case, client, way, _), outcome in zip(tried, together.map(run, tried), strict=True):
            found.setdefault((case, client), {})[way] = seen(outcome)
    return found


@pytest.mark.parametrize("client", TRYING)
@pytest.mark.parametrize("case", CASES)
def test_who_is_refused_sees_what_a_broker_shows(outcomes: Outcomes, case: str, client: str) -> None:
    said = outcomes[case, client]
    expected = said["direct"]
    if case in PASSWORD_CASES:
        expected = PASSWORD_CASES[case][3]
    elif case in TOKEN_CASES:
        expected = NOT_SIGNED
    assert said == dict.fromkeys(said, expected)
