"""Redaction: which rule decides on a name, and what replaces it."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from plugins.audit.pseudonyms import Pseudonyms
from plugins.audit.redaction import Method, Redaction, RedactionRule

SECRET = Pseudonyms(bytes(32))


def redaction(*rules: dict[str, Any]) -> Redaction:
    return Redaction([RedactionRule.model_validate(rule) for rule in rules], SECRET)


def test_the_first_rule_that_holds_decides_and_what_none_names_is_kept() -> None:
    rules = redaction(
        {"fields": "principal", "names": "User:svc-*", "how": "keep"},
        {"fields": ("principal", "topic"), "how": "hash"},
        {"fields": "principal", "how": "leave_out"},
    )
    assert rules.how("principal", "User:svc-orders", None) is Method.KEEP
    assert rules.how("principal", "User:alice", None) is Method.HASH
    assert rules.how("topic", "orders", "User:alice") is Method.HASH
    assert rules.how("group", "orders", "User:alice") is Method.KEEP


def test_a_rule_may_be_about_the_events_of_some_principals() -> None:
    rules = redaction({"fields": "topic", "principals": ("User:hr-*", "User:eve"), "how": "mask"})
    assert rules.how("topic", "t", "User:hr-1") is Method.MASK
    assert rules.how("topic", "t", "User:eve") is Method.MASK
    assert rules.how("topic", "t", "User:alice") is Method.KEEP


def test_what_cannot_be_decided_is_redacted() -> None:
    rules = redaction(
        {"fields": "topic", "names": "public-*", "how": "keep"},
        {"fields": "topic", "names": "patients-*", "how": "hash"},
        {"fields": "group", "principals": "User:hr", "how": "hash"},
    )
    assert rules.how("topic", None, "User:alice") is Method.HASH
    assert rules.how("topic", "orders", "User:alice") is Method.KEEP
    assert rules.how("group", "g", None) is Method.HASH


@pytest.mark.parametrize(
    ("field", "name", "masked"),
    [
        ("client_host", "10.1.2.77", "10.1.2.0"),
        ("client_host", "2001:db8:1:2:3::4", "2001:db8:1::"),
        ("client_host", "fe80::1%eth0", "fe80::"),
        ("client_host", "no address", "***"),
        ("client_host", "*", "*"),
        ("principal", "User:alice", "User:***"),
        ("principal", "User:*", "User:*"),
        ("principal", "alice", "***"),
        ("principal", "<default>", "<default>"),
        ("topic", "a:b", "***"),
    ],
)
def test_a_mask_leaves_the_network_and_the_type(field: str, name: str, masked: str) -> None:
    assert redaction().shown(Method.MASK, field, name) == masked


def test_a_hash_is_the_same_with_the_type_and_without_it() -> None:
    shown = redaction().shown
    assert shown(Method.HASH, "principal", "User:alice") == f"User:{SECRET.of('principal', 'alice')}"
    assert shown(Method.HASH, "principal", "alice") == SECRET.of("principal", "alice")
    assert shown(Method.HASH, "principal", "User:a:b") == f"User:{SECRET.of('principal', 'a:b')}"
    assert shown(Method.LEAVE_OUT, "principal", "alice") is None
    assert shown(Method.KEEP, "principal", "alice") == "alice"


def test_what_is_remembered_is_bounded() -> None:
    rules = redaction({"fields": "topic", "how": "mask"})
    for number in range(20_000):
        rules.how("topic", f"t-{number}", None)
    rules.how("topic", "x" * 30_000, None)
    info = rules._decided.cache_info()
    assert info.currsize == info.maxsize
    assert info.misses == 20_000, "a name that no topic has is not kept"


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ({"fields": "principle", "how": "hash"}, 'did you mean "principal"'),
        ({"fields": "topic", "how": "hide"}, "no way to redact"),
        ({"fields": (), "how": "hash"}, "at least 1"),
        ({"fields": "topic", "how": "hash", "names": "a*b"}, "has no meaning"),
        ({"fields": "topic", "how": "hash", "names": None}, "no value"),
    ],
)
def test_a_bad_rule_is_refused(rule: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        RedactionRule.model_validate(rule)


def test_a_rule_says_itself_in_words() -> None:
    rule = {"fields": ("topic", "group"), "how": "hash", "names": "patients-*", "principals": ("User:a", "User:b")}
    assert str(RedactionRule.model_validate(rule)) == ("topic, group: hash names patients-* principals User:a, User:b")
