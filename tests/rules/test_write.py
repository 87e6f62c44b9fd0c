"""Written rules are read back unchanged."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.text.yaml_document import read
from rules import examine_text
from rules.write import file_text, on_one_line, quoted

WHOLE = """\
super_users: [User:admin, "User:CN=a, O=b"]
unmatched: allow
acls:
  - allow: [User:alice, "User:al ice"]
    to: [Read, DescribeConfigs]
    topics: [orders, payments-*, "*", {literal: a*}, {prefixed: ""}]
    groups: "my group"
    cluster: true
    transactional_ids: t
    delegation_tokens: d
    users: User:bob
    from: [10.0.0.0/8, {literal: 10.0.0.0/8}, "::1", 0:0:0:0:0:0:0:1]
    client_id: app-*
    listener: clients
    mechanism: [PLAIN, SCRAM-SHA-256]
    tls: false
    during: {days: [Mon, Tue], hours: 08:00-18:00, zone: Europe/Zurich, since: 2026-01-01T00:00:00}
  - deny: User:*
    to: All
    cluster: ["*", kafka-*]
"""


def test_a_file_is_written_as_a_person_would_write_it() -> None:
    snapshot, problems = examine_text(WHOLE, "acl.yaml", {})
    assert snapshot is not None, problems
    assert file_text(snapshot.file) == WHOLE


def test_a_rule_fits_on_one_line() -> None:
    snapshot, _ = examine_text(WHOLE, "acl.yaml", {})
    assert snapshot is not None
    for acl in snapshot.file.acls:
        again, problems = examine_text(f"acls: [{on_one_line(acl)}]\n", "acl.yaml", {})
        assert again is not None, problems
        assert again.file.acls == (acl,)


@given(st.text())
def test_any_text_is_read_as_it_was_written(text: str) -> None:
    for yaml in (f"{quoted(text)}\n", f"[{quoted(text)}, x]\n", f"{{a: {quoted(text)}}}\n"):
        reading = read(yaml, {"a": "WRONG"})
        assert not reading.problems
        value = reading.value
        assert (value["a"] if isinstance(value, dict) else value[0] if isinstance(value, tuple) else value) == text


@pytest.mark.parametrize(
    "text", ["true", "null", "7", "1e3", "~", "", "a: b", "*x", "${HOME}", "$$", "- a", "a #b", "'"]
)
def test_what_would_be_read_as_something_else_is_quoted(text: str) -> None:
    assert quoted(text)[0] == '"'


@pytest.mark.parametrize("text", ["orders", "payments-*", "User:alice", "10.0.0.0/8", "0:0:0:0:0:0:0:1", "a_b.c"])
def test_what_needs_no_quotes_has_none(text: str) -> None:
    assert quoted(text) == text
