"""Which requests a rule matches."""

from typing import Any

import pytest
from pydantic import BaseModel, Field, ValidationError

from proxy.protocol.api import API_VERSIONS, APIS, FETCH, PRODUCE
from proxy.text.file import Form, Section
from rules.conditions import Client
from rules.match import Match, RequestFacts, Subject

ALICE = Client("User:alice", "10.1.2.3", "app-1", "clients", "PLAIN", True)
REQUEST = RequestFacts(PRODUCE, 9, ALICE, broker=2)
SUBJECT = Subject("orders", 0, "payments-eu", "tx-1")


def match(**options: Any) -> Match:
    return Match.model_validate(options)


def test_an_empty_match_is_about_every_request() -> None:
    assert match().of_request(RequestFacts(API_VERSIONS, 0, Client("User:a")))
    assert match().of_subject(Subject())
    assert match().apis == frozenset(APIS.values())


@pytest.mark.parametrize(
    ("options", "other"),
    [
        ({"api": ("Produce", "Fetch")}, REQUEST._replace(api=API_VERSIONS)),
        ({"version": "3-9"}, REQUEST._replace(version=10)),
        ({"version": (3, 9)}, REQUEST._replace(version=4)),
        ({"broker": 2}, REQUEST._replace(broker=3)),
        ({"broker": (0, 2)}, REQUEST._replace(broker=None)),
        ({"principal": "User:alice"}, REQUEST._replace(client=Client("User:bob"))),
        ({"principal": "User:*"}, REQUEST._replace(client=Client("Group:alice"))),
        ({"from": "10.0.0.0/8"}, REQUEST._replace(client=Client("User:alice", "11.0.0.1"))),
        ({"client_id": "app-*", "tls": True}, REQUEST._replace(client=Client("User:alice"))),
    ],
)
def test_what_is_said_of_a_request_must_hold(options: dict[str, Any], other: RequestFacts) -> None:
    assert match(**options).of_request(REQUEST)
    assert not match(**options).of_request(other)


def test_its_hours_are_asked_apart() -> None:
    in_hours = match(during={"hours": "08:00-18:00"})
    assert in_hours.of_request(REQUEST)
    assert in_hours.is_now(36_000)
    assert not in_hours.is_now(80_000)


@pytest.mark.parametrize(
    ("options", "other"),
    [
        ({"topic": "orders"}, SUBJECT._replace(topic="orders-2")),
        ({"topic": ("x", "ord*")}, SUBJECT._replace(topic=None)),
        ({"partition": 0}, SUBJECT._replace(partition=1)),
        ({"partition": 0}, SUBJECT._replace(partition=None)),
        ({"group": "payments-*"}, SUBJECT._replace(group="analysts")),
        ({"transactional_id": "*"}, SUBJECT._replace(transactional_id=None)),
        ({"topic": "orders", "partition": (0, 1)}, SUBJECT._replace(partition=2)),
    ],
)
def test_what_is_said_of_a_subject_must_hold(options: dict[str, Any], other: Subject) -> None:
    assert match(**options).of_subject(SUBJECT)
    assert not match(**options).of_subject(other)


def test_what_a_part_does_not_say_of_itself_is_not_against_it() -> None:
    meant = match(topic="orders", partition=0)
    assert meant.of_subject(Subject("orders"), is_part=True)
    assert not meant.of_subject(Subject("orders"))
    assert not meant.of_subject(Subject("payments"), is_part=True)


def test_the_apis_that_may_be_meant_are_known() -> None:
    assert match(api=("Produce", "Fetch")).apis == {PRODUCE, FETCH}


class Rules(Section):
    match: Match = Field(description="Which requests.", examples=["{api: Produce}"])


FORM = Form(Rules, "file of rules", 'begin with "match:"', largest=1 << 20)


@pytest.mark.parametrize(
    ("option", "problem"),
    [
        ("api: Prodce", '1:14: unknown api "Prodce"; did you mean "Produce"?'),
        ("version: 9-3", '1:18: "9-3" ends before it begins; write "3-9"'),
        # A range of so many versions has no length in Python, and the text of a near miss asks for it.
        ("version: 3-99999999999999999999", '1:18: "3-99999999999999999999" is not a version; write e.g. "9" or "3-9"'),
        ("version: new", '1:18: "new" is not a version; write e.g. "9" or "3-9"'),
        ("partition: -1", "1:20: -1 is not a number of a partition or a broker; they count from 0"),
        ("broker: '1'", '1:17: "1" is text; a partition or a broker is a number; leave the quotes out'),
        ("broker: kafka-1", '1:17: "kafka-1" is not a number of a partition or a broker; they count from 0'),
        ("topics: t", '1:9: unknown option "topics"; did you mean "topic"?'),
        ("topic: ", '1:16: "topic" has no value; write e.g. "topic: orders*"'),
    ],
)
def test_a_mistake_is_told_with_its_place_and_a_way_out(option: str, problem: str) -> None:
    value, (found,) = FORM.examine(f"match: {{{option}}}\n", "faults.yaml", {}).result()
    assert value is None
    assert str(found) == f"faults.yaml:{problem}"


def test_every_option_has_a_description_and_an_example() -> None:
    section: type[BaseModel] = Match
    for name, option in section.model_fields.items():
        assert option.description, name
        assert option.examples, name


def test_a_match_that_says_nothing_with_an_option_is_refused() -> None:
    with pytest.raises(ValidationError):
        match(api=None)
