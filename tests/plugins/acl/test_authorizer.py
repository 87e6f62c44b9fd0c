"""The authorizer: decisions for a client at this moment, and the events about them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from plugins.acl.request_authorizer import MOST_EVENTS, RequestAuthorizer, authorizer_of
from proxy.core.context import Context
from proxy.protocol.api import METADATA
from proxy.protocol.messages.metadata import MetadataRequest
from proxy.protocol.schema import Request
from rules import Operation, ResourceType
from rules.noted import noted_rules, rules_in_force
from tests.plugins.acl.talk import Rules, Talk, metadata_of, topic_id
from tests.plugins.acl.test_fetch import fetch
from tests.plugins.acl.test_produce import produce

Making = Callable[..., Rules]
READ, TOPIC = Operation.READ, ResourceType.TOPIC


def asked(own: Rules, talk: Talk) -> RequestAuthorizer:
    return authorizer_of(own.acl.authorizer, Context(talk.connection, METADATA, 9, 1))


def test_an_edition_lasts_while_rules_and_client_are_the_same(rules: Making) -> None:
    own = rules("acls: []")
    talk = Talk(own.acl)
    first = asked(own, talk).edition
    own.clock.time += 100
    talk.connection.client_id = "".join(["a", "pp"])
    second = asked(own, talk).edition
    talk.connection.client_id = "".join(["ap", "p"])
    assert first is not second is asked(own, talk).edition
    own.become("acls: [{allow: User:alice, to: Read, topics: t}]")
    assert asked(own, talk).edition is not second


def test_where_a_rule_says_when_each_second_is_an_edition(rules: Making) -> None:
    own = rules("acls: [{allow: User:alice, to: Read, topics: t, during: {hours: 12:00-13:00}}]")
    talk = Talk(own.acl)
    first = asked(own, talk).edition
    own.clock.time += 0.5
    assert asked(own, talk).edition is first
    assert asked(own, talk).may(READ, TOPIC, "t")
    own.clock.time += 3600
    assert asked(own, talk).edition is not first
    assert not asked(own, talk).may(READ, TOPIC, "t")
    own.become("acls: [{allow: User:alice, to: Read, topics: t}]")
    timeless = asked(own, talk).edition
    own.clock.time += 3600
    assert asked(own, talk).edition is timeless


def test_answers_are_let_go_where_memory_is_short_and_no_long_name_is_kept(rules: Making) -> None:
    own = rules("acls: []")
    talk = Talk(own.acl)
    asking = asked(own, talk)
    assert not asking.may(READ, TOPIC, "x" * 30_000)
    assert talk.connection.held == 0
    assert not asking.may(READ, TOPIC, "orders")
    assert talk.connection.held > 0
    talk.connection.let_go()
    assert talk.connection.held == 0
    assert not asking.may(READ, TOPIC, "orders")


@pytest.mark.parametrize("shadow", [False, True])
def test_a_refusal_is_told_with_the_rule_that_decided(rules: Making, shadow: bool) -> None:
    own = rules(
        "acls:\n- {allow: User:*, to: Read, topics: '*'}\n- {deny: User:alice, to: Read, topics: t}", shadow=shadow
    )
    talk = Talk(own.acl)
    assert asked(own, talk).refuses(METADATA, READ, TOPIC, "t") is not shadow
    (event,) = [command.event for command in talk.link.outbox.commands]  # type: ignore[union-attr]
    assert (event.operation, event.resource, event.name) == ("Read", "Topic", "t")  # type: ignore[union-attr]
    assert event.why == "a rule that denies"  # type: ignore[union-attr]
    assert event.place == f"{own.file}:3:3"  # type: ignore[union-attr]
    assert event.enforced is not shadow  # type: ignore[union-attr]


@pytest.mark.parametrize("shadow", [False, True])
def test_what_a_list_leaves_out_is_told_in_shadow_alone(rules: Making, shadow: bool) -> None:
    own = rules("acls: []", shadow=shadow)
    talk = Talk(own.acl)
    assert asked(own, talk).hides(METADATA, READ, TOPIC, "t") is not shadow
    assert len(talk.link.outbox.commands) == shadow


def test_who_may_do_it_to_the_cluster_needs_no_right_to_the_topic(rules: Making) -> None:
    own = rules("acls: [{allow: User:alice, to: ClusterAction, cluster: true}]")
    granted = asked(own, Talk(own.acl))
    assert granted.refuses(METADATA, READ, TOPIC, "t")
    assert not granted.refuses(METADATA, READ, TOPIC, "t", or_cluster=Operation.CLUSTER_ACTION)


def test_of_one_request_so_many_refusals_are_told_and_all_are_counted(rules: Making) -> None:
    own = rules("acls: []")
    talk = Talk(own.acl)
    for request in (1, 2):
        granted = asked(own, talk)
        for number in range(MOST_EVENTS + 50):
            assert granted.refuses(METADATA, READ, TOPIC, f"topic-{number}")
        assert own.worker.counts["refusals{api=Metadata,enforced=yes}"] == request * (MOST_EVENTS + 50)
    assert len(talk.link.outbox.commands) == 2 * MOST_EVENTS


def test_another_authorizer_of_the_same_plugin_takes_over_and_leaves_nothing_of_the_first(rules: Making) -> None:
    first = rules("super_users: [User:alice]")
    talk = Talk(first.acl)
    before = asked(first, talk)
    assert before.may(READ, TOPIC, "t")
    after = asked(rules("acls: []"), talk)
    assert not after.may(READ, TOPIC, "t")
    in_force = rules_in_force(talk.connection)
    assert in_force == after.client.in_force
    assert [note for note in talk.connection.notes.values() if note is not in_force] == [after.client]


def test_a_request_notes_the_rules_that_decide_on_it(rules: Making) -> None:
    own = rules("acls: [{allow: User:alice, to: Read, topics: t}]")
    talk = Talk(own.acl)
    first, second = Context(talk.connection, METADATA, 9, 1), Context(talk.connection, METADATA, 9, 2)
    authorizer_of(own.acl.authorizer, first)
    own.become("acls:\n- {allow: User:alice, to: Read, topics: t}")
    authorizer_of(own.acl.authorizer, second)
    for ctx, line in ((first, 1), (second, 2)):
        noted = noted_rules(ctx)
        assert noted is not None
        assert str(noted.place(READ, TOPIC, "t")).split(":")[-2] == str(line)
        assert noted.place(READ, TOPIC, "u") is None


def test_the_rules_of_a_request_decide_on_all_of_it_until_it_takes_up_others(rules: Making) -> None:
    own = rules("acls: [{allow: User:alice, to: Read, topics: t}]")
    talk = Talk(own.acl)
    ctx = Context(talk.connection, METADATA, 9, 1)
    waiting = authorizer_of(own.acl.authorizer, ctx)
    before = waiting.edition
    own.become("acls: []")
    assert asked(own, talk).refuses(METADATA, READ, TOPIC, "t")
    assert not waiting.refuses(METADATA, READ, TOPIC, "t")
    assert waiting.edition is before
    waiting.take_up(ctx)
    assert waiting.refuses(METADATA, READ, TOPIC, "t")
    assert waiting.edition is not before
    assert noted_rules(ctx) is waiting.client.rights


@pytest.mark.parametrize(
    ("request_", "version"),
    [
        (fetch(13, "mine"), 13),
        (produce(13, "mine"), 13),
        (MetadataRequest(topics=[MetadataRequest.Topic(topic_id=topic_id("mine"), name=None)]), 12),
    ],
    ids=lambda it: getattr(it, "api", it),
)
def test_a_request_that_waited_for_names_is_decided_by_the_rules_in_force_then(
    rules: Making, request_: Request, version: int
) -> None:
    own = rules("acls: []")
    talk = Talk(own.acl)
    assert talk.ask(request_, version) is None
    own.become("acls: [{allow: User:alice, to: All, topics: '*', cluster: true}]")
    talk.answer(metadata_of({"mine": topic_id("mine")}, talk.to_broker[0]))
    assert type(talk.to_broker[-1]) is type(request_)
    assert len(talk.to_broker) == 2
    noted = noted_rules(talk.link.inflight.slots[0][2])
    assert noted is rules_in_force(talk.connection)() is not None
    assert noted.id == own.acl.rules.value.id


def test_rules_are_in_force_until_their_plugin_is_replaced(rules: Making) -> None:
    own = rules("acls: []")
    talk = Talk(own.acl)
    assert rules_in_force(talk.connection)() is None
    asking = asked(own, talk)
    in_force = rules_in_force(talk.connection)
    assert in_force() is asking.client.rights
    own.acl.replaced()
    assert in_force() is None
