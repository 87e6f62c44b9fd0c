"""Authorities follow changes of their credentials and keys."""

from pathlib import Path

import pytest

from proxy.auth.authority import ListenerAuthority
from proxy.auth.identity import BearerIdentity
from proxy.auth.users import save
from proxy.auth.verifiers import verifiers
from proxy.config.sasl import ClusterSasl, ListenerSasl
from proxy.core.sasl.authority import Accepted, Rejected
from proxy.net.authorities import CREDENTIALS, authority, upstream_identity
from proxy.net.building import Building
from proxy.text.problems import BadFileError
from tests.proxy.auth.stepping import step


def sasl(file: Path, **more: object) -> ListenerSasl:
    return ListenerSasl.model_validate(
        {"mechanisms": ["PLAIN", "SCRAM-SHA-256"], "credentials": str(file), **more}, context={"folder": file.parent}
    )


def accepts(judge: ListenerAuthority, password: str) -> bool:
    outcome = step(judge.begin("PLAIN", False), b"\0alice\0" + password.encode())
    assert isinstance(outcome, Accepted | Rejected)
    return isinstance(outcome, Accepted)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "users.yaml"
    save(file, {"alice": verifiers("old")})
    return file


def test_it_judges_by_what_the_file_says_now(file: Path) -> None:
    building = Building({})
    judge = authority(building, "clients", sasl(file), 30.0)
    assert judge.mechanisms == ("PLAIN", "SCRAM-SHA-256")
    assert accepts(judge, "old")
    assert judge.begin("SCRAM-SHA-256", False)
    save(file, {"alice": verifiers("new")})
    building.built[CREDENTIALS, str(file)].thing.look()
    assert accepts(judge, "new")
    assert not accepts(judge, "old")


def test_a_file_that_two_listeners_name_is_read_once(file: Path) -> None:
    building = Building({})
    assert authority(building, "one", sasl(file), 30.0) is not authority(building, "two", sasl(file), 30.0)
    assert [key for key in building.built if key[0] == CREDENTIALS] == [(CREDENTIALS, str(file))]


def test_other_options_make_another_authority_of_the_same_file(file: Path) -> None:
    first = Building({})
    judge = authority(first, "clients", sasl(file), 30.0)
    again = Building(first.built)
    assert authority(again, "clients", sasl(file), 30.0) is judge
    other = Building(first.built)
    assert authority(other, "clients", sasl(file, session="1h"), 30.0) is not judge
    key = CREDENTIALS, str(file)
    assert other.built[key] is first.built[key]


def test_a_file_that_cannot_be_used_says_why(file: Path) -> None:
    file.write_text("broken: [")
    with pytest.raises(BadFileError, match=r"users\.yaml"):
        authority(Building({}), "clients", sasl(file), 30.0)


def test_the_proxy_speaks_by_passwords_or_by_a_token() -> None:
    by_password = {"mechanism": "PLAIN", "username": "proxy", "password": "secret"}
    assert upstream_identity(ClusterSasl.model_validate(by_password)).token is None
    client = {"endpoint": "https://login.example.com/token", "client_id": "proxy", "client_secret": "secret"}
    by_token = upstream_identity(ClusterSasl.model_validate({"mechanism": "OAUTHBEARER", "oauthbearer": client}))
    assert by_token.token is not None
    assert isinstance(by_token.identities.of(None), BearerIdentity)
