"""Subscriptions by regular expression: a member gets only topics that it may see."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from plugins.acl import Acl, kept_subscription, regex, remembered, subscriptions
from plugins.acl.kept_subscription import read, written
from plugins.acl.regex import LONGEST, BadExpressionError, matching
from plugins.acl.subscriptions import LOOK, Members, SubscribedTopicsCheck, Subscription
from proxy.core.filters import Filters
from proxy.core.limits import Limits
from proxy.protocol.api import CONSUMER_GROUP_HEARTBEAT
from proxy.protocol.errors import ErrorCode
from proxy.protocol.fiber import in_slices
from proxy.protocol.messages.consumer_group_describe import ConsumerGroupDescribeRequest, ConsumerGroupDescribeResponse
from proxy.protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)
from proxy.protocol.messages.metadata import MetadataRequest
from proxy.protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from proxy.protocol.schema import Request, Response
from proxy.testing import FakeWorker, build
from tests.plugins.acl.talk import Rules, Talk, metadata_of, topic_id
from tests.plugins.acl.test_checked_request import described

Making = Callable[..., Rules]
SEES = "acls: [{allow: User:alice, to: Read, groups: g}, {allow: User:alice, to: Describe, topics: [a-1, a-2, b-1]}]"
REFUSED = ErrorCode.TOPIC_AUTHORIZATION_FAILED


class Accepted:
    """An answer without an error."""

    error_code = 0


class Group(Talk):
    """A member whose cluster has some topics."""

    def __init__(self, rules: Rules, *topics: str, principal: str = "User:alice") -> None:
        self.topics = {name: topic_id(name) for name in topics or ("a-1", "a-2", "a-secret", "b-1")}
        self.names: dict[str, list[str]] = {}  # of each member, as the coordinator knows them
        self.texts: dict[str, str] = {}  # likewise, in the place of their expressions
        self.tells = 0  # the error of its answers about the group
        self.error: int | None = 0  # of the broker's answers to heartbeats; None: it does not answer them
        super().__init__(rules.acl, principal, self.serves)

    def serves(self, request: Request, version: int) -> Response | None:
        if isinstance(request, MetadataRequest):
            return metadata_of(self.topics, request)
        if isinstance(request, ConsumerGroupDescribeRequest):
            return ConsumerGroupDescribeResponse(throttle_time_ms=0, groups=[self.described(*request.group_ids)])
        if isinstance(request, ConsumerGroupHeartbeatRequest) and self.error is not None:
            if not self.error and request.subscribed_topic_names is not None:
                self.names[request.member_id] = request.subscribed_topic_names
            if not self.error and request.subscribed_topic_regex is not None:
                self.texts[request.member_id] = request.subscribed_topic_regex
            return ConsumerGroupHeartbeatResponse(
                throttle_time_ms=0, error_code=self.error, member_epoch=1, heartbeat_interval_ms=1
            )
        return None

    def described(self, group: str) -> ConsumerGroupDescribeResponse.Group:
        found = described(group)
        found.error_code, found.members = self.tells, []
        for member_id, names in self.names.items():
            (member,) = described(group).members
            member.member_id, member.subscribed_topic_names = member_id, names
            member.subscribed_topic_regex = self.texts.get(member_id)
            found.members.append(member)
        return found

    def beat(self, epoch: int = 1, **more: Any) -> Any:
        request = ConsumerGroupHeartbeatRequest(**{"group_id": "g", "member_id": "m", "member_epoch": epoch} | more)
        return self.ask(request, 1)

    @property
    def told(self) -> list[tuple[list[str] | None, str | None]]:
        """The names in each heartbeat that reached the broker, and the expression if it can match something."""
        return [
            (each.subscribed_topic_names, None if read(each.subscribed_topic_regex) else each.subscribed_topic_regex)
            for each in self.to_broker
            if isinstance(each, ConsumerGroupHeartbeatRequest)
        ]

    @property
    def questions(self) -> int:
        """How often the coordinator was asked about the group."""
        return sum(isinstance(each, ConsumerGroupDescribeRequest) for each in self.to_broker)

    def goes_on(self, rules: Rules) -> Group:
        """The same member and cluster, by a new connection through a proxy with these rules."""
        group = Group(rules)
        group.topics, group.names, group.texts = self.topics, self.names, self.texts
        return group


def test_the_broker_is_told_names_of_what_matches_and_may_be_seen(rules: Making) -> None:
    talk = Group(rules(SEES))
    talk.beat(0, subscribed_topic_regex="a-.*")
    talk.beat()
    assert talk.told == [(["a-1", "a-2"], None), (None, None)]


def test_names_beside_an_expression_are_kept(rules: Making) -> None:
    talk = Group(rules(SEES))
    talk.beat(0, subscribed_topic_regex="a-1", subscribed_topic_names=["b-1"])
    talk.beat(subscribed_topic_names=["a-2"])
    talk.beat(subscribed_topic_regex="")
    talk.beat()
    assert talk.told == [(["a-1", "b-1"], None), (["a-1", "a-2"], None), (["a-2"], ""), (None, None)]


@pytest.mark.parametrize(
    ("at_coordinator", "told"),
    [
        ({"another": ["a-2"], "m": ["b-1"]}, ["a-1", "b-1"]),
        ({"m": ["b-1", "a-secret"]}, ["a-1", "b-1"]),
        ({"another": ["a-2"]}, ["a-1"]),
    ],
)
def test_names_from_before_an_expression_are_kept(
    rules: Making, at_coordinator: dict[str, list[str]], told: list[str]
) -> None:
    talk = Group(rules(SEES))
    talk.names = at_coordinator
    talk.beat(subscribed_topic_regex="a-1")
    talk.beat(subscribed_topic_regex="a-1")
    assert talk.told == [(told, None)] * 2
    assert talk.questions == 1, "then they are known"


def test_an_expression_that_is_taken_back_leaves_the_names_to_the_next(rules: Making) -> None:
    talk = Group(rules(SEES))
    talk.beat(0, subscribed_topic_regex="a-1", subscribed_topic_names=["b-1"])
    talk.beat(subscribed_topic_regex="")
    talk.names = {"m": ["b-1"]}
    talk.beat(subscribed_topic_regex="a-2")
    assert talk.told == [(["a-1", "b-1"], None), (["b-1"], ""), (["a-2", "b-1"], None)]


def test_when_the_rules_change_the_broker_is_told_other_names(rules: Making) -> None:
    own = rules(SEES)
    talk = Group(own)
    talk.beat(0, subscribed_topic_regex="a-.*")
    own.become(SEES.replace("a-2, ", ""))
    talk.beat()
    talk.beat()
    assert talk.told == [(["a-1", "a-2"], None), (["a-1"], None), (None, None)]


def test_when_topics_come_and_go_the_broker_is_told_within_seconds(rules: Making) -> None:
    own = rules(SEES)
    talk = Group(own, "a-1", "a-secret")
    talk.beat(0, subscribed_topic_regex="a-.*")
    talk.topics["a-2"] = topic_id("a-2")
    talk.beat()
    own.clock.time += LOOK
    talk.beat()
    del talk.topics["a-1"]
    own.clock.time += LOOK
    talk.beat()
    assert talk.told == [(["a-1"], None), (None, None), (["a-1", "a-2"], None), (["a-2"], None)]


def test_of_many_members_that_say_much_the_oldest_are_forgotten_if_their_coordinator_keeps_nothing_of_them(
    rules: Making, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_subscription, "LONGEST", 0)
    monkeypatch.setattr(remembered, "ROOM", 5 * subscriptions.SUBSCRIPTION)
    own = rules(SEES)
    talk = Group(own)
    for number in range(10):
        talk.beat(0, member_id=f"m-{number}", subscribed_topic_regex="a-.*")
    own.clock.time += LOOK
    talk.topics["a-1"] = talk.topics.pop("a-2")
    talk.beat(member_id="m-9")
    talk.beat(member_id="m-0")
    assert talk.told[-2:] == [(["a-1"], None), (None, None)]
    for number in range(10):
        talk.beat(-1, member_id=f"m-{number}")
    (subscribed,) = (each for each in own.acl._checks[CONSUMER_GROUP_HEARTBEAT] if hasattr(each, "members"))
    assert subscribed.members.held == 0


def test_members_are_counted_by_the_bytes_that_their_names_take() -> None:
    check = SubscribedTopicsCheck()
    for name in ("m" * 1_000, "\N{PARTY POPPER}" * 1_000):
        check._answered(("g", name), Subscription(), Members(), cast(Any, None), Accepted())
    assert check.members.held > 5_000


def test_two_heartbeats_of_one_member_that_are_answered_in_turns_are_counted_once() -> None:
    check, key, noted = SubscribedTopicsCheck(), ("g", "m"), Members()
    subscriptions = [Subscription(names=[f"{n}-{number}" for n in range(300)]) for number in range(2)]
    under_way = [in_slices(check._answered, key, one, noted, None, Accepted()) for one in subscriptions]
    turns = 0
    while under_way:
        for one in tuple(under_way):
            turns += 1
            try:
                next(one)
            except StopIteration:
                under_way.remove(one)
    assert turns > 4
    check._answered(key, None, noted, cast(Any, None), Accepted())
    assert (check.members.held, noted.held) == (0, 0)


def test_who_left_is_forgotten(rules: Making) -> None:
    own = rules(SEES)
    talk = Group(own)
    talk.beat(0, subscribed_topic_regex="a-.*")
    talk.beat(-1)
    own.clock.time += LOOK
    talk.beat()
    assert talk.told[1:] == [(None, None), (None, None)]


@pytest.mark.parametrize(
    "beat",
    [
        {"epoch": 1, "subscribed_topic_regex": "nothing"},
        {"epoch": 9, "subscribed_topic_regex": "", "subscribed_topic_names": []},
        {"epoch": 0, "subscribed_topic_regex": ".*"},
        {"epoch": -1},
    ],
)
@pytest.mark.parametrize("told", [{"m": ["a-1", "a-2"]}, {"m": []}, {}], ids=["the same", "others", "nothing"])
@pytest.mark.parametrize("error", [ErrorCode.FENCED_MEMBER_EPOCH, ErrorCode.GROUP_AUTHORIZATION_FAILED, None])
def test_a_heartbeat_that_the_broker_does_not_accept_changes_nothing(
    rules: Making, beat: dict[str, Any], error: int | None, told: dict[str, list[str]]
) -> None:
    own = rules(SEES)
    member, stranger = Group(own), Group(own)
    stranger.names = told
    member.beat(0, subscribed_topic_regex="a-.*")
    stranger.error = error
    stranger.beat(**beat)
    own.clock.time += LOOK
    member.topics["a-1"] = member.topics.pop("a-2")
    member.beat()
    assert member.told == [(["a-1", "a-2"], None), (["a-1"], None)]


@pytest.mark.parametrize("elsewhere", [True, False])
def test_a_subscription_that_was_changed_through_another_worker_is_not_put_back(rules: Making, elsewhere: bool) -> None:
    own = rules(SEES)
    member, again = Group(own), Group(own)
    again.names = member.names
    member.beat(0, subscribed_topic_regex="a-.*")
    if elsewhere:
        member.names["m"] = ["b-1"]
    own.clock.time += LOOK
    again.topics["a-1"] = again.topics.pop("a-2")
    for _ in range(2):
        again.beat()
    assert again.told == [(None if elsewhere else ["a-1"], None), (None, None)]
    assert again.questions == 1


def test_an_expression_goes_on_after_a_restart_and_finds_topics_that_come(rules: Making) -> None:
    """The client does not send it again, and the member is not known here."""
    talk = Group(rules(SEES))
    talk.beat(0, subscribed_topic_regex="a-.*", subscribed_topic_names=["b-1"])
    again = talk.goes_on(rules(SEES.replace("a-2", "a-2, a-3")))
    talk.topics["a-3"] = topic_id("a-3")
    for _ in range(2):
        again.beat()
    again.beat(subscribed_topic_regex="")
    assert again.told == [(["a-1", "a-2", "a-3", "b-1"], None), (None, None), (["b-1"], "")]
    assert again.questions == 1


def test_what_the_rules_deny_since_is_taken_back_after_a_restart(rules: Making) -> None:
    talk = Group(rules(SEES))
    talk.beat(0, subscribed_topic_regex="a-.*", subscribed_topic_names=["b-1"])
    again = talk.goes_on(rules(SEES.replace("a-2, b-1", "a-2")))
    again.beat()
    assert again.told == [(["a-1", "a-2"], None)]


def test_after_a_restart_new_names_join_the_expression_and_another_expression_replaces_it(rules: Making) -> None:
    talk = Group(rules(SEES))
    talk.beat(0, subscribed_topic_regex="a-1", subscribed_topic_names=["b-1"])
    named = talk.goes_on(rules(SEES))
    named.beat(subscribed_topic_names=["a-2"])
    assert named.told == [(["a-1", "a-2"], None)]
    assert talk.texts == {"m": written("a-1", ["a-2"])}
    replaced = talk.goes_on(rules(SEES))
    replaced.beat(subscribed_topic_regex="b-.*")
    assert replaced.told == [(["a-2", "b-1"], None)]
    assert talk.texts == {"m": written("b-.*", ["a-2"])}


def test_an_expression_that_was_changed_through_another_worker_to_one_with_the_same_names_counts(rules: Making) -> None:
    own = rules(SEES)
    member, elsewhere = Group(own), Group(rules(SEES))
    elsewhere.names, elsewhere.texts = member.names, member.texts
    member.beat(0, subscribed_topic_regex="a-.*")
    elsewhere.beat(subscribed_topic_regex="a-[12]", subscribed_topic_names=[])
    again = member.goes_on(own)
    again.topics["a-3"] = topic_id("a-3")
    own.become(SEES.replace("a-2", "a-2, a-3"))
    again.beat()
    assert again.told == [(None, None)]


def test_a_subscription_that_is_too_long_to_be_kept_replaces_the_one_that_was(rules: Making) -> None:
    talk = Group(rules("super_users: [User:alice]"))
    talk.beat(0, subscribed_topic_regex="a-1", subscribed_topic_names=[])
    names = [f"{number:0249}" for number in range(40)]
    talk.beat(subscribed_topic_names=names)
    assert talk.told[1:] == [([*names, "a-1"], "")]


@pytest.mark.parametrize("elsewhere", [True, False])
def test_after_a_reload_that_replaces_the_plugin_an_expression_still_finds_topics_that_come(
    rules: Making, tmp_path: Path, elsewhere: bool
) -> None:
    """The client does not send its expression again."""
    talk = Group(rules(SEES))
    talk.beat(0, subscribed_topic_regex="a-.*")
    if elsewhere:
        talk.names["m"] = ["b-1"]
    file = tmp_path / "other.yaml"
    file.write_text(SEES.replace("a-2", "a-2, a-3"))
    assert talk.link.apply(Filters([build(Acl, FakeWorker(), rules=str(file))]), Limits()) == []
    talk.topics["a-3"] = topic_id("a-3")
    for _ in range(2):
        talk.beat()
    assert talk.told[1:] == [(None if elsewhere else ["a-1", "a-2", "a-3"], None), (None, None)]


def test_a_wrong_expression_leaves_the_one_before_in_force(rules: Making) -> None:
    own = rules(SEES)
    talk = Group(own)
    talk.beat(0, subscribed_topic_regex="a-.*")
    assert talk.beat(subscribed_topic_regex="(").error_code == ErrorCode.INVALID_REGULAR_EXPRESSION
    own.become(SEES.replace("a-2, ", ""))
    talk.beat()
    assert talk.told == [(["a-1", "a-2"], None), (["a-1"], None)]


def test_a_member_that_joins_begins_anew(rules: Making) -> None:
    talk = Group(rules(SEES))
    talk.beat(0, subscribed_topic_regex="a-.*")
    talk.beat(0, subscribed_topic_names=["b-1"])
    talk.beat(subscribed_topic_names=["a-1"])
    assert talk.told == [(["a-1", "a-2"], None), (["b-1"], None), (["a-1"], None)]


def test_a_member_that_its_broker_does_not_know_any_more_is_forgotten(rules: Making) -> None:
    talk = Group(rules(SEES))
    talk.beat(0, subscribed_topic_regex="a-.*")
    talk.error = ErrorCode.UNKNOWN_MEMBER_ID
    talk.beat()
    talk.error, talk.names, talk.texts = 0, {}, {}
    talk.beat(subscribed_topic_names=["b-1"])
    assert talk.told[1:] == [(None, None), (["b-1"], None)]


def test_a_name_that_another_client_gave_for_a_member_is_not_told_to_the_broker_by_one_that_may_not_see_it(
    rules: Making,
) -> None:
    own = rules(SEES + "\n".join(["", "super_users: [User:root]"]))
    root, alice = Group(own, principal="User:root"), Group(own)
    alice.names = root.names
    root.beat(0, subscribed_topic_names=["a-secret"], subscribed_topic_regex="a-1")
    own.clock.time += LOOK
    alice.beat()
    alice.beat(subscribed_topic_regex="")
    assert root.told == [(["a-1", "a-secret"], None)]
    assert alice.told == [(["a-1"], None), ([], "")]


@pytest.mark.parametrize(
    ("more", "error"),
    [
        ({"subscribed_topic_names": ["a-1", "a-secret"]}, REFUSED),
        ({"subscribed_topic_regex": "a("}, ErrorCode.INVALID_REGULAR_EXPRESSION),
    ],
)
def test_what_cannot_be_subscribed_to_is_refused_as_a_whole(rules: Making, more: Any, error: int) -> None:
    talk = Group(rules(SEES))
    answer = talk.beat(0, **more)
    assert answer.error_code == error
    assert not talk.told


def test_an_expression_that_takes_too_much_is_refused_as_brokers_refuse_a_wrong_one(
    rules: Making, monkeypatch: pytest.MonkeyPatch
) -> None:
    error = ErrorCode.INVALID_REGULAR_EXPRESSION
    assert Group(rules(SEES)).beat(0, subscribed_topic_regex="(a{1,1000})" * 90).error_code == error
    monkeypatch.setattr(regex, "PATIENCE", -1.0)
    assert Group(rules(SEES)).beat(0, subscribed_topic_regex="a-.*").error_code == error


def test_a_group_that_is_anothers_is_refused_before_its_topics(rules: Making) -> None:
    talk = Group(rules("acls: []"))
    assert talk.beat(0, subscribed_topic_regex=".*").error_code == ErrorCode.GROUP_AUTHORIZATION_FAILED
    assert talk.denied == [("Read", "Group", "g")]


def test_in_shadow_an_expression_passes(rules: Making) -> None:
    talk = Group(rules(SEES, shadow=True))
    talk.beat(0, subscribed_topic_regex="a-.*")
    assert talk.told == [(None, "a-.*")]


def test_one_name_that_may_not_be_seen_refuses_a_share_group_heartbeat(rules: Making) -> None:
    talk = Group(rules(SEES))
    request = ShareGroupHeartbeatRequest(
        group_id="g", member_id="m", member_epoch=0, subscribed_topic_names=["a-1", "a-secret"]
    )
    assert talk.ask(request, 1).error_code == REFUSED


def test_expressions_match_whole_names_in_linear_time() -> None:
    assert matching("a-\\d|b", ["a-1", "a-12", "b", "bb", "xa-1"]) == ["a-1", "b"]
    assert matching("(a*)*b", ["a" * 10_000]) == []
    for bad in ("(", "a" * (LONGEST + 1), "(?=x)", "(a{1,1000})" * 90):
        with pytest.raises(BadExpressionError):
            matching(bad, ["a"])


def test_an_expression_that_takes_long_is_refused_soon() -> None:
    names = [f"{number:0249}" for number in range(5_000)]
    assert matching(r"0*49\d\d", names) == names[4900:]
    began = time.thread_time()
    with pytest.raises(BadExpressionError, match="too long"):
        matching("(.?){500}", names)
    assert time.thread_time() - began < 0.5
