"""When a rule fires: at which of the requests that match it, and in which window of time.

Rules:
* All options that are given must hold. Without any, the rule fires at every match.
* A match is counted only while the window is open and the conditions on other rules hold. The first has number 1.
* `after` leaves out the first matches, `nth` names single ones, and `probability` is drawn for each that is left. After
  `times` firings the rule fires no more.
* A rule is under way from its first firing until it can fire no more.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, PlainValidator

from proxy.text.file import Section
from proxy.text.quantities import Moment, Seconds
from proxy.text.words import shown, wrong
from rules.values import Given, OneOrMany, text


def count(value: object) -> int:
    """Read a number that counts from 1."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise wrong(f"{shown(value)} counts nothing", "numbers begin at 1")
    return value


def probability(value: object) -> float:
    """Read a number above 0, at the most 1."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value <= 1:
        raise wrong(f"{shown(value)} is no probability", "it is above 0, and at the most 1")
    return float(value)


Number = Annotated[int, PlainValidator(count)]
Probability = Annotated[float, PlainValidator(probability)]
RuleName = Annotated[str, PlainValidator(lambda value: text(value, "name of a rule", "lost-ack"))]


class When(Section):
    """When a rule that matches fires."""

    nth: Given[OneOrMany[Number]] = Field(
        default=None, description="Only at the matches with these numbers.", examples=["[1, 3]"]
    )
    after: Given[Number] = Field(default=None, description="Only after so many matches.", examples=["10"])
    times: Given[Number] = Field(default=None, description="The largest number of firings.", examples=["2"])
    probability: Given[Probability] = Field(
        default=None, description="At each match with this probability.", examples=["0.1"]
    )
    from_: Given[Moment] = Field(
        default=None,
        alias="from",
        description="Not before so much time after the rule came into force.",
        examples=["10s"],
    )
    for_: Given[Seconds] = Field(
        default=None,
        alias="for",
        description="For so much time, counted from `from`, or since it came into force.",
        examples=["5s"],
    )
    after_rule: Given[RuleName] = Field(
        default=None, description="Not before this rule has fired.", examples=["lost-ack"]
    )
    while_rule: Given[RuleName] = Field(
        default=None,
        description="Only from the first firing of this rule until it can fire no more.",
        examples=["broker-2-down"],
    )

    @property
    def others(self) -> dict[str, str]:
        """The names of the rules that this one depends on, by option."""
        named = {"after_rule": self.after_rule, "while_rule": self.while_rule}
        return {option: name for option, name in named.items() if name is not None}

    @property
    def last(self) -> int | None:
        """The number of the last match at which the rule can fire; None: there is no last one."""
        return max(self.nth) if self.nth is not None else None
