"""Kept subscription: the expression and the names that a member gave, kept at its coordinator.

Rules:
* The coordinator gets this text in the place of the member's expression. It is an expression that begins with a
  character that does not exist: it matches nothing, and the names beside it alone count.
* The expression and the names stand in the text quoted. So the text is always a valid expression, and they are read
  back as they were: nothing in them has a meaning there, such as flags or brackets. Where one of them ends a quotation
  itself, that end is escaped.
* Equal subscriptions give equal texts: names are sorted. A coordinator keeps equal texts of a group once.
* A text that would be too long is not kept.
* Clients that describe the group are shown what the member gave.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from plugins.acl.checked_request import CheckedRequest
from plugins.acl.checks import Check
from proxy.plugin import turns

# [^\x00-\x{10FFFF}]\Qorders-.*\E,\Qpayments\E: the expression `orders-.*`, and the name `payments`.
NOTHING = r"[^\x00-\x{10FFFF}]"  # a character, but none of those that exist
BEGIN, BETWEEN, END = rf"{NOTHING}\Q", r"\E,\Q", r"\E"
ESCAPED = r"\E\\E\Q"  # the end of a quotation, inside one
LONGEST = 8_000  # bytes; Kafka's strings end at 32,767, and a description of the group has one for each member


class KeptSubscription(NamedTuple):
    """What a member gave."""

    expression: str
    names: list[str]


def written(expression: str, names: Iterable[str]) -> str:
    """The text in which a subscription is kept; empty if it would be too long."""
    parts = (part.replace(END, ESCAPED) for part in turns((expression, *sorted({*names}))))
    text = BEGIN + BETWEEN.join(parts) + END
    return text if len(text.encode(errors="replace")) <= LONGEST else ""


def read(text: str | None) -> KeptSubscription | None:
    """The subscription in a text that was kept; None for any other expression."""
    if text is None or not text.startswith(BEGIN) or not text.endswith(END):
        return None
    expression, *names = (part.replace(ESCAPED, END) for part in text[len(BEGIN) : -len(END)].split(BETWEEN))
    return KeptSubscription(expression, names) if written(expression, names) == text else None


class ShownSubscriptionsCheck(Check):
    """The members in an answer to ConsumerGroupDescribe, with the subscriptions that they gave."""

    answers = True

    def apply(self, checked: CheckedRequest) -> None:
        checked.after.append(self.show)

    def show(self, _: CheckedRequest, response: Any) -> None:
        for group in turns(response.groups):
            for member in turns(group.members):
                found = read(member.subscribed_topic_regex)
                if found is not None:
                    member.subscribed_topic_regex, member.subscribed_topic_names = found
