"""Produce: records for topics that the client may write.

# Records are never read; of a batch only the bits that say whether it belongs to a transaction. Such a batch needs the
# right to its transactional id. A broker refuses one without an id itself.
# With acks 0 nobody waits for an answer: what may be written is written, then the connection is closed.
"""

from __future__ import annotations

from typing import Any

from plugins.acl.case import Case
from plugins.acl.checks import TOPIC, TRANSACTIONAL_ID, Each
from plugins.acl.law import Law, rights
from proxy.core.context import Context
from proxy.core.decisions import Decision, Forward, Steps
from proxy.core.topic_names import TopicNames
from proxy.protocol.api import PRODUCE
from proxy.protocol.errors import ErrorCode
from proxy.protocol.fiber import turns
from proxy.protocol.messages.produce import ProduceRequest, ProduceResponse
from proxy.protocol.records.batch import HEADER, MAGIC, MAGIC_AT, TRANSACTIONAL
from rules import Operation

ATTRIBUTES_AT = 21  # in a batch
WITH_IDS = 13
NO_TRANSACTION = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED


class Producing:
    """Produce requests and their answers."""

    FIELDS = frozenset(["transactional_id", "acks", "topic_data"])
    ANSWERED = frozenset({"responses"})
    _ALLOWED = "all of a Produce request is allowed"
    _each = Each(Operation.WRITE, TOPIC)

    def __init__(self, law: Law, names: TopicNames) -> None:
        self._law = law
        self._names = names

    def request(self, ctx: Context, request: ProduceRequest) -> Decision | Steps:
        """Judge it, after asking for the names that are not known."""
        if ctx.version >= WITH_IDS:
            unknown = self._names.unknown(topic.topic_id for topic in turns(request.topic_data))
            if unknown:
                return self._ask(ctx, request, unknown)
        return self._judge(ctx, request)

    def _ask(self, ctx: Context, request: ProduceRequest, unknown: list[bytes]) -> Steps:
        yield from self._names.ask(unknown)
        return self._judge(ctx, request)

    def _judge(self, ctx: Context, request: ProduceRequest) -> Decision:
        granted = rights(self._law, ctx)
        before = granted.recorded
        identity = request.transactional_id
        transactional = identity is not None and is_transactional(request)
        if transactional and granted.refuses(PRODUCE, Operation.WRITE, TRANSACTIONAL_ID, identity or ""):
            return Case(ctx, request, granted, self._names).refuse(NO_TRANSACTION)
        for topic in request.topic_data:
            name = topic.name if ctx.version < WITH_IDS else self._names.get(topic.topic_id)
            if name is None or not granted.may(Operation.WRITE, TOPIC, name):
                return self._take_out(ctx, Case(ctx, request, granted, self._names))
        # A plain batch needs no right to the transactional id that stands above it; the next batch may.
        whatever = identity is None or granted.may(Operation.WRITE, TRANSACTIONAL_ID, identity)
        ctx.notes[self._ALLOWED] = whatever and granted.recorded == before
        return None

    def may_repeat(self, ctx: Context) -> bool:
        """Was all allowed, whatever the records are?"""
        return bool(ctx.notes.get(self._ALLOWED))

    def _take_out(self, ctx: Context, case: Case) -> Decision:
        """Some topic is refused."""
        request = case.request
        if request.transactional_id is None and is_transactional(request) and not case.rights.is_shadow:
            return case.refuse(NO_TRANSACTION)  # as a broker says of all of it, whoever asks
        self._each.judge(case)
        decision = case.decide()
        if not isinstance(decision, Forward):
            return decision
        if request.acks == 0:
            return Forward(request, end="some of a Produce request was refused that wants no answer")
        ctx.notes[self] = case
        return decision

    def is_needed(self, ctx: Context) -> bool:
        """Must the answer be looked at?"""
        return self in ctx.notes

    def response(self, ctx: Context, response: ProduceResponse) -> Decision:
        """Say what was refused."""
        case: Case = ctx.notes[self]
        case.finish(response)
        return Forward(response)


def is_transactional(request: ProduceRequest) -> bool:
    """Does any batch belong to a transaction? What is no batch might: it takes the right too."""
    return any(
        _may_be_transactional(part.records) for topic in request.topic_data for part in turns(topic.partition_data)
    )


def _may_be_transactional(records: Any) -> bool:
    if not records:
        return False
    if len(records) < HEADER.size or records[MAGIC_AT] != MAGIC:
        return True
    return bool(records[ATTRIBUTES_AT + 1] & TRANSACTIONAL)
