"""Further conditions of a rule, on the client and the time."""

from dataclasses import replace
from typing import Any

import pytest

from rules.conditions import Client, conditions
from rules.model import AclRule

NOON, NIGHT = 12 * 3600.0, 23 * 3600.0  # of 1970-01-01, a Thursday
ALICE = Client("User:alice", "10.1.2.3", "alice-1", "clients", "PLAIN", True)


def acl(**options: Any) -> AclRule:
    return AclRule.model_validate({"allow": "User:alice", "to": "Read", "topics": "t", **options})


@pytest.mark.parametrize(
    ("options", "other"),
    [
        ({"from": "10.0.0.0/8"}, {"host": "11.1.2.3"}),
        ({"from": ("10.1.2.3", "127.0.0.1")}, {"host": "10.1.2.4"}),
        ({"client_id": "alice-*"}, {"client_id": "bob"}),
        ({"client_id": "alice-1"}, {"client_id": ""}),
        ({"listener": ("clients", "others")}, {"listener": "public"}),
        ({"mechanism": "PLAIN"}, {"mechanism": ""}),
        ({"tls": True}, {"tls": False}),
    ],
)
def test_a_condition_holds_of_some_clients(options: dict[str, Any], other: dict[str, Any]) -> None:
    (condition,) = conditions(acl(**options))
    assert condition(ALICE, NOON) is True
    assert condition(replace(ALICE, **other), NOON) is False
    unknown = dict.fromkeys(other)
    assert condition(replace(ALICE, **unknown), NOON) is None


def test_every_client_id_is_every_one() -> None:
    (condition,) = conditions(acl(client_id="*"))
    assert all(condition(replace(ALICE, client_id=name), NOON) for name in ("a", "*a", ""))


def test_a_window_holds_at_some_times() -> None:
    (condition,) = conditions(acl(during={"hours": "08:00-18:00"}))
    assert [condition(ALICE, at) for at in (NOON, NIGHT, None)] == [True, False, None]


def test_from_anywhere_is_no_condition() -> None:
    assert conditions(acl(**{"from": "*"})) == ()
    assert conditions(acl(**{"from": ("10.0.0.0/8", "*")})) == ()
    assert conditions(acl()) == ()


def test_all_conditions_must_hold() -> None:
    assert len(conditions(acl(**{"from": "10.0.0.0/8"}, tls=True, mechanism="PLAIN", during={"days": "Mon"}))) == 4
