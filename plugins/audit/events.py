"""Events: the fields of the journal's schema, made from what happened."""

from __future__ import annotations

import re

from plugins.audit.moved import NameOf
from plugins.audit.request_schema import Ended, HandlerDecision, Resource
from plugins.audit.resources import Subjects
from plugins.audit.schema import Claimed, NotAllowed, Parted, Reason
from plugins.audit.traffic import TrafficSubjects
from proxy.plugin import By, Closed, Context, Denied, HandlerDecided, Outcome, Refused

LONGEST_NAME = 32_767  # characters of a denied name, the longest that brokers take
_INNER_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")

RequestSubjects = Subjects | TrafficSubjects


class Said(Ended, NotAllowed, Claimed, Parted, Reason, total=False):
    """All fields of an event of a request or a connection, but those of the client."""


def denied_fields(event: Denied) -> Said:
    """The fields of a denial by the rules."""
    fields: Said = {
        "api": event.api.name,
        "operation": event.operation,
        "resource_type": _INNER_CAPITAL.sub("_", event.resource).lower(),  # as resources have it
        "resource_name": event.name[:LONGEST_NAME],
        "why": event.why,
        "enforced": event.enforced,
    }
    if event.correlation_id is not None:
        fields["correlation_id"] = event.correlation_id
    if event.place:
        fields["rule"] = event.place
    return fields


def closed_fields(event: Closed) -> Said:
    """The fields of a connection that ended."""
    fields: Said = {
        "lasted_us": round((event.ended - event.began) * 1e6),
        "bytes_from_client": event.from_client,
        "bytes_from_broker": event.from_broker,
    }
    if event.reason is not None:
        fields["why"] = event.reason
    return fields


def _decided(one: HandlerDecided) -> HandlerDecision:
    said: HandlerDecision = {"handler": one.handler, "decision": one.decision}
    if one.rule is not None:
        said["rule"] = one.rule
    return said


def refused_fields(event: Refused) -> Said:
    """The fields of a failed authentication."""
    fields: Said = {"why": event.why}
    if event.claimed is not None:
        fields["claimed"] = event.claimed
    return fields


def request_fields(ctx: Context, outcome: Outcome, subjects: RequestSubjects | None) -> Said:
    """The fields of a request that ended. `with_resources` adds its resources."""
    by, sent, answered = outcome.by, outcome.sent, outcome.answered
    fields: Said = {
        "api": ctx.api.name,
        "api_version": ctx.version,
        "correlation_id": ctx.correlation_id,
        "answered_by": by.value,
        "outcome": "answered",
        "request_bytes": outcome.request_bytes,
    }
    if by is By.NOBODY:
        fields["outcome"] = "none" if subjects is None or subjects.wants_answer else "unknown"
    else:
        fields["response_bytes"] = outcome.response_bytes
    if outcome.why is not None:
        fields["why"] = outcome.why
    if outcome.left is not None:
        broker = answered - sent if sent is not None and answered is not None else 0.0
        fields["broker_us"] = round(broker * 1e6)
        fields["proxy_us"] = round((outcome.left - outcome.came - broker) * 1e6)
    if outcome.decisions:
        fields["decisions"] = [_decided(one) for one in outcome.decisions]
    if subjects is not None:
        if subjects.errors is not None:
            fields["errors"] = list(subjects.errors)
        if subjects.left_out:
            fields["resources_left_out"] = subjects.left_out
    return fields


def with_resources(fields: Said, resources: list[Resource], subjects: RequestSubjects, name_of: NameOf) -> Said:
    """The fields with the resources to record, and with the changes."""
    fields["resources"] = resources
    changes, left_out = subjects.changes(name_of)
    if subjects.only_validates:
        fields["validate_only"] = True
    if changes:
        fields["changes"] = changes
    if left_out:
        fields["changes_left_out"] = left_out
    return fields
