"""The reason why a request does not match is given with both values."""

from typing import Any

import pytest

from proxy.protocol.api import PRODUCE
from rules.conditions import Client
from rules.match import Match, RequestFacts, Subject
from rules.unlike import unlike_request, unlike_subject

ALICE = Client("User:alice", "10.1.2.3", "app-1", "clients", "PLAIN", True)
REQUEST = RequestFacts(PRODUCE, 9, ALICE, broker=2)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"principal": "User:alice", "version": "3-9", "broker": (1, 2), "from": "10.0.0.0/8"}, ()),
        ({"principal": ("User:bob", "Group:*")}, ('principal is "User:alice", not "User:bob" or "Group:*"',)),
        ({"version": ("3-8", 10)}, ("version is 9, not 3-8 or 10",)),
        ({"broker": 1, "client_id": "app-2*"}, ("broker is 2, not 1", 'client id is "app-1", not "app-2*"')),
        ({"from": ("10.1.2.4", "11.0.0.0/8")}, ('from is "10.1.2.3", not "10.1.2.4" or "11.0.0.0/8"',)),
        ({"tls": False, "during": {"hours": "08:00-09:00"}}, ("tls is true, not false",)),
    ],
)
def test_of_a_request(options: dict[str, Any], said: tuple[str, ...]) -> None:
    match = Match.model_validate(options)
    assert unlike_request(match, REQUEST) == said
    assert match.of_request(REQUEST) is not bool(said)


def test_what_is_not_known_is_said_to_be_so() -> None:
    match = Match.model_validate({"broker": 1, "listener": "clients"})
    unknown = REQUEST._replace(client=Client("User:alice"), broker=None)
    assert unlike_request(match, unknown) == ("broker is not known, not 1", 'listener is not known, not "clients"')


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"topic": "orders", "partition": 0}, ()),
        ({"topic": "order"}, ('topic is "orders", not "order"',)),
        ({"topic": {"literal": "x*"}, "partition": (1, 2)}, ('topic is "orders", not "x*"',)),
        ({"topic": "orders", "partition": (1, 2)}, ("partition is 0, not 1 or 2",)),
        ({"transactional_id": "tx", "topic": "payments"}, ()),  # it has none
    ],
)
def test_of_one_of_the_things_that_it_is_about(options: dict[str, Any], said: tuple[str, ...]) -> None:
    assert unlike_subject(Match.model_validate(options), Subject("orders", 0)) == said
