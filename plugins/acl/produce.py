"""Produce: records for topics that the client may write.

Rules:
* Records are never read. Of a batch only the bit is read that says whether it belongs to a transaction. Such a batch
  needs the right to its transactional id. A broker itself refuses one without an id.
* With acks 0 there is no answer: the records that are allowed are written, then the connection is closed.
"""

from __future__ import annotations

from typing import Any

from plugins.acl.authorizer import Authorizer
from plugins.acl.checked_request import CheckedRequest
from plugins.acl.checks import ElementCheck
from plugins.acl.client_authorizer import ClientAuthorizer
from plugins.acl.errors import TOPIC, TRANSACTIONAL_ID
from plugins.acl.request_authorizer import CHANGED, authorizer_of
from proxy.plugin import (
    PRODUCE,
    Context,
    Decision,
    Disconnect,
    ErrorCode,
    Forward,
    ProduceRequest,
    ProduceResponse,
    Steps,
    TopicNames,
    turns,
)
from proxy.plugin.frames import HEADER, MAGIC, MAGIC_AT, TRANSACTIONAL
from rules import Operation
from rules.noted import RULES_NOTE

ATTRIBUTES_AT = 21  # in a batch
WITH_IDS = 13
NO_TRANSACTION = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED


class ProduceHandlers:
    """Produce requests and their answers."""

    FIELDS = frozenset(["transactional_id", "acks", "topic_data"])
    ANSWERED = frozenset({"responses"})
    _each = ElementCheck(Operation.WRITE, TOPIC)

    def __init__(self, authorizer: Authorizer, names: TopicNames) -> None:
        self._authorizer = authorizer
        self._names = names
        self._allowed = object()  # the key of a note on a request that is allowed with any records: who decided so

    def request(self, ctx: Context, request: ProduceRequest) -> Decision | Steps:
        """Check a request, after asking for names that are not known."""
        if ctx.version >= WITH_IDS:
            unknown = self._names.unknown(topic.topic_id for topic in turns(request.topic_data))
            if unknown:
                return self._ask(ctx, request, unknown)
        return self._check(ctx, request)

    def _ask(self, ctx: Context, request: ProduceRequest, unknown: list[bytes]) -> Steps:
        yield from self._names.ask(unknown)
        return self._check(ctx, request)

    def _check(self, ctx: Context, request: ProduceRequest) -> Decision:
        authorizer = authorizer_of(self._authorizer, ctx)
        edition = authorizer.edition
        identity = request.transactional_id
        transactional = identity is not None and is_transactional(request)
        if transactional and authorizer.refuses(PRODUCE, Operation.WRITE, TRANSACTIONAL_ID, identity or ""):
            return CheckedRequest(ctx, request, authorizer, self._names).refuse(NO_TRANSACTION)
        for topic in request.topic_data:
            name = topic.name if ctx.version < WITH_IDS else self._names.get(topic.topic_id)
            if name is None or not authorizer.may(Operation.WRITE, TOPIC, name):
                return self._take_out(ctx, CheckedRequest(ctx, request, authorizer, self._names))
        # A plain batch needs no right to the transactional id of its request; the batch in a later request may.
        whatever = identity is None or authorizer.may(Operation.WRITE, TRANSACTIONAL_ID, identity)
        if ctx.is_large and not authorizer.is_current:
            return self._check(ctx, request) if not authorizer.recorded else Disconnect(CHANGED)
        if whatever and not authorizer.recorded:
            ctx.notes[self._allowed] = authorizer.client, edition
        return None

    @property
    def keys(self) -> frozenset[object]:
        """The keys of notes on a request."""
        return frozenset({self, self._allowed, RULES_NOTE})

    def repeated_by(self, ctx: Context) -> ClientAuthorizer | None:
        """The client's authorizer, if its edition allows this request with any records; else None."""
        allowed: tuple[ClientAuthorizer, object] | None = ctx.notes.get(self._allowed)
        return allowed[0] if allowed is not None and allowed[0].edition is allowed[1] else None

    def _take_out(self, ctx: Context, checked: CheckedRequest) -> Decision:
        """Take refused topics out of the request: there is at least one."""
        request = checked.request
        if request.transactional_id is None and is_transactional(request) and not checked.authorizer.is_shadow:
            return checked.refuse(NO_TRANSACTION)  # as a broker refuses the whole request, whatever its rules are
        self._each.apply(checked)
        if ctx.is_large and not checked.empty and not checked.authorizer.is_current:
            return Disconnect(CHANGED)
        decision = checked.decide()
        if not isinstance(decision, Forward):
            return decision
        if request.acks == 0:
            return Forward(request, end="some of a Produce request was refused that wants no answer")
        ctx.notes[self] = checked
        return decision

    def is_needed(self, ctx: Context) -> bool:
        """Whether the answer must be read."""
        return self in ctx.notes

    def response(self, ctx: Context, response: ProduceResponse) -> Decision:
        """Put the refusals into the answer."""
        checked: CheckedRequest = ctx.notes[self]
        checked.finish(response)
        return Forward(response)


def is_transactional(request: ProduceRequest) -> bool:
    """Whether any batch belongs to a transaction. Bytes that are no batch might: they need the right too."""
    return any(
        _may_be_transactional(part.records) for topic in request.topic_data for part in turns(topic.partition_data)
    )


def _may_be_transactional(records: Any) -> bool:
    if not records:
        return False
    if len(records) < HEADER.size or records[MAGIC_AT] != MAGIC:
        return True
    return bool(records[ATTRIBUTES_AT + 1] & TRANSACTIONAL)
