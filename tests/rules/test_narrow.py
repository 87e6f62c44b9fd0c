"""The smallest part to take out of a rule."""

from typing import Any

import pytest

from rules import AccessQuestion, Client, Operation, ResourceType
from rules.model import AclRule
from rules.narrow import narrowed

QUESTION = AccessQuestion(Client("User:a", "10.1.2.3"), Operation.READ, ResourceType.TOPIC, "t")


@pytest.mark.parametrize(
    ("options", "option", "taken"),
    [
        ({"deny": ("User:a", "User:b"), "to": "Read", "topics": "t"}, "deny", "User:a"),
        ({"deny": "User:a", "to": ("Read", "Write"), "topics": "t"}, "to", "Read"),
        ({"deny": "User:a", "to": "Read", "topics": ("t", "u")}, "topics", "t"),
        ({"deny": "User:a", "to": "Read", "topics": "t*", "groups": ("g", "h")}, "topics", "t*"),
        ({"deny": "User:a", "to": "Read", "topics": "t", "from": ("10.1.2.3", "::1")}, "from", "10.1.2.3"),
        ({"deny": ("User:a", "User:*", "User:c"), "to": ("Read", "Write"), "topics": "t"}, "to", "Read"),
        ({"deny": "User:a", "to": "Read", "topics": ("t", "t*", "u", "v")}, "topics", "t and t*"),
        ({"allow": "User:a", "to": ("Describe", "Read", "Create"), "topics": "t"}, "to", "Read"),
    ],
)
def test_what_matches_is_taken_out_of_the_list_where_it_is_least(options: Any, option: str, taken: str) -> None:
    less = narrowed(AclRule.model_validate(options), QUESTION)
    assert less is not None
    assert (less.option, less.taken) == (option, taken)


def test_a_rule_that_says_one_thing_cannot_say_less() -> None:
    assert narrowed(AclRule.model_validate({"deny": "User:*", "to": "All", "topics": "t"}), QUESTION) is None
