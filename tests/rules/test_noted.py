"""The rules noted on a request, and on its connection."""

from proxy.core.context import Context
from proxy.protocol.api import METADATA
from proxy.testing import connection
from rules.noted import DecidingRules, note_in_force, note_rules, noted_rules, rules_in_force


class Deciding:
    """Rules that decide nothing."""

    id = "rules"

    def place(self, *asked: object) -> None:
        return None


def test_the_rules_of_a_request_are_those_that_were_noted_last() -> None:
    ctx, rules = Context(connection(), METADATA, 9, 1), [Deciding(), Deciding()]
    assert noted_rules(ctx) is None
    for each in rules:
        note_rules(ctx, each)
        assert noted_rules(ctx) is each


def test_requests_like_a_sample_were_decided_by_its_rules() -> None:
    ctx, rules = Context(connection(), METADATA, 9, 1), Deciding()
    note_rules(ctx, rules)
    assert noted_rules(ctx.as_sample().for_request(2)) is rules


def test_what_is_in_force_on_a_connection_is_asked_until_its_edition_changes() -> None:
    client = connection()
    assert rules_in_force(client)() is None
    in_force: list[DecidingRules | None] = [Deciding(), None]
    before = client.edition
    note_in_force(client, lambda: in_force[0])
    assert client.edition is not before
    assert rules_in_force(client)() is in_force.pop(0)
    assert rules_in_force(client)() is None
