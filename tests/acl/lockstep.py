"""Playing a sequence on both sides in lockstep: the result of each request, and where the sides differ.

Rules:
* A difference that a client may see by design (rules/README.md) does not count, but its session is not used again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

from proxy.protocol.errors import ErrorCode
from proxy.protocol.messages.create_topics import CreateTopicsRequest
from proxy.protocol.messages.delete_topics import DeleteTopicsRequest
from proxy.protocol.messages.fetch import FetchRequest, FetchResponse
from proxy.protocol.messages.metadata import MetadataRequest, MetadataResponse
from proxy.protocol.messages.share_acknowledge import ShareAcknowledgeRequest
from proxy.protocol.messages.share_fetch import ShareFetchRequest
from proxy.protocol.wire import NO_UUID
from rules.model import AclRule
from tests.acl.names import Names
from tests.acl.prepare import checked, errors, until
from tests.acl.sequences import FULL, LAST, NEXT, PEOPLE, Allow, Fetch, MakeAnew, Part, ShareFetch, Step
from tests.acl.side import Side
from tests.acl.wire import Wire

BY_ID, WITH_SESSIONS = 13, 7
SHARE_VERSION = 1
FORMERLY = ", formerly"
UNTIMELY = (ErrorCode.INVALID_FETCH_SESSION_EPOCH, ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR)
INVENTED = 999_999_999
Errors = dict[str, tuple[int, bool]]  # by partition: error, and whether it has records (shares: an acknowledge error)


class Told(NamedTuple):
    """The result of a request: the error of the response, whether it has a session, and each partition's result."""

    error: int
    session: bool
    parts: Errors


@dataclass
class Opened:
    """A fetch session as its client sees it."""

    id: int
    who: int
    epoch: int = 1  # of the next request
    usable: bool = True
    rules: int = 0  # how often rules had changed at its last request
    repeated: bool = False  # it had repeated fetches, whose offsets the proxy may not have read


@dataclass
class Play:
    """One side, and the connections to it."""

    side: Side
    names: Names
    sessions: list[Opened] = field(default_factory=list)
    shares: dict[int, int] = field(default_factory=dict)  # epochs of the next requests
    wires: dict[int, Wire] = field(default_factory=dict)
    former: dict[str, bytes] = field(default_factory=dict)  # ids that topics had before

    def close(self) -> None:
        for wire in self.wires.values():
            wire.close()

    def wire(self, who: int) -> Wire:
        if who not in self.wires:
            self.wires[who] = Wire(self.side.port, self.names.wire(PEOPLE[who]))
        return self.wires[who]

    def id(self, part: Part) -> bytes:
        now = self.side.ids.of(self.names.wire(part.topic))
        return self.former.get(part.topic, now) if part.old else now

    def label(self, topic: Any) -> str:
        if getattr(topic, "topic", ""):
            return self.names.plain(topic.topic)
        old = {each: name for name, each in self.former.items()}
        if topic.topic_id in old:
            return old[topic.topic_id] + FORMERLY
        return self.names.plain(self.side.ids.name(topic.topic_id) or "unknown")

    def named(self, cls: type[Any], part: Part, version: int, partitions: list[Any]) -> Any:
        if version >= BY_ID:
            return cls(topic_id=self.id(part), partitions=partitions)
        return cls(topic=self.names.wire(part.topic), partitions=partitions)

    def fetch(self, step: Fetch, session: Opened | None) -> Told:
        """Send one Fetch request."""
        asked = FetchRequest.Topic.Partition
        epoch = epoch_of(step.epoch, 1 if session is None else session.epoch)
        request = FetchRequest(
            max_wait_ms=0,
            min_bytes=0,
            session_id=INVENTED if session is None and step.session is not None else session.id if session else 0,
            session_epoch=epoch,
            topics=[
                self.named(
                    FetchRequest.Topic,
                    part,
                    step.version,
                    [asked(partition=i, fetch_offset=step.offset, partition_max_bytes=9999) for i in part.partitions],
                )
                for part in step.topics
            ],
            forgotten_topics_data=[
                self.named(FetchRequest.ForgottenTopic, part, step.version, [*part.partitions])
                for part in step.forgotten
            ],
        )
        answer = cast(FetchResponse, self.wire(step.who).ask(request, step.version))
        parts = {
            f"{self.label(topic)} {part.partition_index}": (part.error_code, bool(part.records))
            for topic in answer.responses
            for part in topic.partitions
        }
        if not answer.error_code and step.epoch == FULL and step.version >= WITH_SESSIONS:
            self.sessions.append(Opened(answer.session_id, step.who, usable=bool(answer.session_id)))
        elif not answer.error_code and session is not None and step.epoch == NEXT:
            session.epoch += 1
        return Told(answer.error_code, bool(answer.session_id), parts)

    def share(self, step: ShareFetch) -> Told:
        """Send a ShareFetch or ShareAcknowledge. Only refusals are compared: served records depend on other members."""
        cls: Any = ShareAcknowledgeRequest if step.alone else ShareFetchRequest
        epoch = epoch_of(step.epoch, self.shares.get(step.who, 1))
        partition = cls.Topic.Partition
        batch = partition.AcknowledgementBatch(first_offset=0, last_offset=0, acknowledge_types=[1])
        batches = [batch] if step.acknowledges or step.alone else []
        more: dict[str, Any] = {}
        if not step.alone:
            more = {"max_wait_ms": 0, "min_bytes": 0, "max_records": 10, "batch_size": 10}
            more["forgotten_topics_data"] = [
                cls.ForgottenTopic(topic_id=self.id(part), partitions=[*part.partitions]) for part in step.forgotten
            ]
        request = cls(
            **more,
            group_id=self.names.wire("g"),
            member_id=f"AAAAAAAAAAAAAAAAAAAA{step.who}Q",
            share_session_epoch=epoch,
            topics=[
                cls.Topic(
                    topic_id=self.id(part),
                    partitions=[partition(partition_index=i, acknowledgement_batches=batches) for i in part.partitions],
                )
                for part in step.topics
            ],
        )
        answer: Any = self.wire(step.who).ask(request, SHARE_VERSION)
        parts = {}
        for topic in answer.responses:
            for part in topic.partitions:
                codes = {part.error_code, getattr(part, "acknowledge_error_code", 0)}
                if ErrorCode.TOPIC_AUTHORIZATION_FAILED in codes:
                    acknowledged = getattr(part, "acknowledge_error_code", 0) != 0
                    parts[f"{self.label(topic)} {part.partition_index}"] = (part.error_code, acknowledged)
        if not answer.error_code:
            self.shares[step.who] = 1 if epoch == 0 else self.shares.get(step.who, 1) + 1
        return Told(answer.error_code, False, parts)

    def make_anew(self, topic: str) -> None:
        name = self.names.wire(topic)
        self.former[topic] = self.side.ids.of(name)
        checked(self.side.trusted.ask(DeleteTopicsRequest(topics=[_deleted(name)], timeout_ms=30_000), 6))
        until(lambda: self._current(name) is None, f"{name} is gone")
        made = CreateTopicsRequest.Topic(name=name, num_partitions=2, replication_factor=1, assignments=[], configs=[])
        checked(self.side.trusted.ask(CreateTopicsRequest(topics=[made], timeout_ms=30_000), 7))
        until(lambda: self._current(name) is not None and self._is_served(name), f"{name} is there")
        self.side.ids.learn(name, cast(bytes, self._current(name)))

    def _is_served(self, name: str) -> bool:
        topic = FetchRequest.Topic
        asked = [topic.Partition(partition=i, fetch_offset=0, partition_max_bytes=1) for i in (0, 1)]
        request = FetchRequest(max_wait_ms=0, min_bytes=0, topics=[topic(topic=name, partitions=asked)])
        return not any(errors(self.side.trusted.ask(request, 12)))

    def _current(self, name: str) -> bytes | None:
        request = MetadataRequest(
            topics=[MetadataRequest.Topic(name=name, topic_id=NO_UUID)], allow_auto_topic_creation=False
        )
        (topic,) = cast(MetadataResponse, self.side.trusted.ask(request, 12)).topics
        ready = not topic.error_code and len(topic.partitions) == 2 and not any(p.error_code for p in topic.partitions)
        return topic.topic_id if ready else None


def _deleted(name: str) -> DeleteTopicsRequest.Topic:
    return DeleteTopicsRequest.Topic(name=name, topic_id=NO_UUID)


def epoch_of(word: str, following: int) -> int:
    """The epoch for this word."""
    return {FULL: 0, LAST: -1, NEXT: following, "again": following - 1, "ahead": following + 1, "below": -5}[word]


def differences(sides: Sequence[Side], number: int, steps: Sequence[Step]) -> Iterator[str]:
    """Play these steps. Gives the first difference between the sides, and ends there."""
    names = Names(number)
    broker, proxy = plays = [Play(side, names) for side in sides]
    rules = 0
    try:
        for at, step in enumerate(steps, 1):
            if isinstance(step, Allow):
                rules += 1
                for play in plays:
                    play.side.change(number, names.rules(allowed(step)))
            elif isinstance(step, MakeAnew):
                for play in plays:
                    play.make_anew(step.topic)
            elif isinstance(step, ShareFetch):
                one, other = broker.share(step), proxy.share(step)
                if one != other:
                    yield f"step {at}, {step}:\n  the broker: {one}\n  doorkeeper: {other}"
                    return
            else:
                for _ in range(step.times):
                    found = fetched(step, broker, proxy, rules)
                    if found:
                        yield f"step {at}, {step}:\n{found}"
                        return
    finally:
        for play in plays:
            play.close()


def allowed(step: Allow) -> list[AclRule]:
    said: list[dict[str, Any]] = [{"allow": ("User:alice", "User:bob"), "to": "Read", "groups": "g"}]
    said += [
        {"allow": f"User:{who}", "to": "Read", "topics": topics}
        for who, topics in (("alice", step.alice), ("bob", step.bob))
        if topics
    ]
    return [AclRule.model_validate(one) for one in said]


def fetched(step: Fetch, broker: Play, proxy: Play, rules: int) -> str | None:
    """Play one fetch on both sides. Gives their difference."""
    used = [_session(step, play) for play in (broker, proxy)]
    if any(session is not None and not session.usable for session in used):
        return None
    one, other = broker.fetch(step, used[0]), proxy.fetch(step, used[1])
    if one == _forgiven(one, other):
        for session in used:
            if session is not None:
                session.rules = rules
                session.repeated |= step.times > 1
        return None
    if _may_differ(step, one, other, used[0], rules):
        opened = [play.sessions[-1] for play in (broker, proxy) if step.epoch == FULL and not one.error]
        for session in (*used, *opened):
            if session is not None:
                session.usable = False
        return None
    return f"  the broker: {one}\n  doorkeeper: {other}"


def _session(step: Fetch, play: Play) -> Opened | None:
    known = step.session is not None and step.session < len(play.sessions) and step.version >= WITH_SESSIONS
    return play.sessions[cast(int, step.session)] if known else None


def _forgiven(one: Told, other: Told) -> Told:
    """Doorkeeper remembers the name of a deleted topic, so it may refuse the old id by this name."""
    parts = {
        name: said
        if not (FORMERLY in name and said[0] == ErrorCode.TOPIC_AUTHORIZATION_FAILED)
        else one.parts.get(name, said)
        for name, said in other.parts.items()
    }
    return other._replace(parts=parts)


def _may_differ(step: Fetch, one: Told, other: Told, session: Opened | None, rules: int) -> bool:
    """Is this a difference that a client may see by design?"""
    if other.error == ErrorCode.FETCH_SESSION_ID_NOT_FOUND and session is not None:
        return session.who != step.who or (session.repeated and session.rules != rules)
    if one.error == ErrorCode.FETCH_SESSION_ID_NOT_FOUND and other.error in UNTIMELY:
        return True  # another client ended the session
    # Doorkeeper opens no session without a readable topic, and serves once a topic that is both fetched and forgotten.
    nothing = any(all(error for error, _ in told.parts.values()) for told in (one, other))
    return not one.error and not other.error and one.session and not other.session and nothing
