"""The declaration of a rule."""

from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from rules.conditions import OURS
from rules.hours import Hours
from rules.model import RESOURCES, AclFile, AclRule
from rules.values import Pattern
from rules.vocabulary import PatternType, Permission, ResourceType

RULE: dict[str, Any] = {"allow": "User:a", "to": "Read", "topics": "t"}


@pytest.mark.parametrize("section", [AclRule, AclFile, Hours])
def test_every_option_has_a_description_and_an_example(section: type[BaseModel]) -> None:
    for name, option in section.model_fields.items():
        assert option.description, name
        assert option.examples, name


def test_one_value_stands_where_a_list_may() -> None:
    assert AclRule.model_validate(RULE) == AclRule.model_validate(
        {"allow": ("User:a",), "to": ("Read",), "topics": ("t",)}
    )


def test_a_rule_knows_what_it_is_about() -> None:
    acl = AclRule.model_validate({**RULE, "topics": ("t", "u*"), "cluster": True})
    assert list(acl.resources()) == [
        (ResourceType.TOPIC, Pattern(PatternType.LITERAL, "t")),
        (ResourceType.TOPIC, Pattern(PatternType.PREFIXED, "u")),
        (ResourceType.CLUSTER, Pattern(PatternType.LITERAL, "kafka-cluster")),
    ]
    assert set(RESOURCES.values()) == set(ResourceType)


def test_a_rule_allows_or_denies() -> None:
    acl = AclRule.model_validate({"deny": "User:a", "to": "Read", "topics": "t"})
    assert (acl.permission, acl.principals) == (Permission.DENY, ("User:a",))


def test_what_kafka_cannot_say_is_known() -> None:
    options = {"client_id": "a", "listener": "l", "mechanism": "PLAIN", "tls": False, "during": {"days": "Mon"}}
    assert options.keys() == set(OURS)
    acl = AclRule.model_validate({**RULE, "from": ("10.1.2.3", "10.0.0.0/8"), **options})
    assert acl.ours == ("from", *OURS)
    assert AclRule.model_validate({**RULE, "from": "10.1.2.3"}).ours == ()


@pytest.mark.parametrize(
    "name", sorted(name for name, option in AclRule.model_fields.items() if not option.is_required())
)
def test_an_option_without_a_value_is_refused(name: str) -> None:
    with pytest.raises(ValidationError):
        AclRule.model_validate({**RULE, AclRule.model_fields[name].alias or name: None})


def test_a_rule_never_changes() -> None:
    with pytest.raises(ValidationError):
        AclRule.model_validate(RULE).to = ()  # type: ignore[misc]
