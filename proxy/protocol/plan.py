"""Plans: the layout of one struct in one version, as a list of moves that printers turn into Python.

Rules:
* A plan knows widths, order, nullability and tags, and nothing of Python source: `emit` prints it, `blame.py` walks it.
* Flexible versions write compact lengths and end each struct with its tagged fields (KIP-482).
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple, cast

from proxy.protocol.schema import Field, Message, Request, Struct
from proxy.protocol.slices import ELEMENT, NUMBER
from proxy.protocol.wire import LEGACY_STRING, NAMES, STRING, UUID, Meaning, Primitive


class Fixed(NamedTuple):
    """A value of fixed width."""

    primitive: Primitive
    least: int


class Varying(NamedTuple):
    """A string, bytes or records: a length and that many bytes. `is_name`: a text that names a resource or a user."""

    primitive: Primitive
    compact: bool
    nullable: bool
    is_name: bool = False
    least: int = 1


class Nested(NamedTuple):
    """A struct in a struct; a nullable one follows a presence byte."""

    plan: Plan
    nullable: bool

    @property
    def least(self) -> int:
        return 1 if self.nullable else self.plan.least


class Many(NamedTuple):
    """An array: a count and that many elements. `units`: how much each element counts for the limit (`slices.py`)."""

    element: Fixed | Varying | Nested
    compact: bool
    nullable: bool
    units: int
    least: int = 1

    @property
    def is_of_partitions(self) -> bool:
        """Is each element about one partition, or a number?"""
        if not isinstance(self.element, Nested):
            return isinstance(self.element, Fixed) and self.element.primitive is not UUID
        return any(step.field.meaning is Meaning.PARTITION for step in self.element.plan.steps)


Move = Fixed | Varying | Nested | Many


class PlanStep(NamedTuple):
    """One field of a struct and how it is written."""

    struct: type[Struct]
    field: Field
    move: Move


class Plan(NamedTuple):
    """A struct in one version: its fields in order, then its known tagged fields by tag."""

    struct: type[Struct]
    flexible: bool
    steps: tuple[PlanStep, ...]
    tags: tuple[PlanStep, ...]
    least: int  # the fewest bytes that it takes; a count is checked against it

    def place(self, name: str) -> int:
        """The index of the step for the field of this name."""
        return next(i for i, step in enumerate(self.steps) if step.field.name == name)


@cache
def plan(message: type[Message], version: int) -> Plan:
    """The layout of `message` in `version`."""
    return _struct(message, version, message.is_flexible(version), issubclass(message, Request))


@cache
def _struct(struct: type[Struct], version: int, flexible: bool, is_request: bool) -> Plan:
    present = [
        PlanStep(struct, field, _move(field, version, flexible, is_request))
        for field in struct.fields
        if field.present(version)
    ]
    steps = tuple(step for step in present if step.field.tag is None)
    tags = sorted((step for step in present if step.field.tag is not None), key=lambda step: cast(int, step.field.tag))
    least = sum(step.move.least for step in steps) + flexible
    return Plan(struct, flexible, steps, tuple(tags), least)


def _move(field: Field, version: int, flexible: bool, is_request: bool) -> Move:
    nullable = field.may_be_null(version)
    if not field.is_array:
        return _one(field, version, flexible, is_request, nullable)
    element = _one(field, version, flexible, is_request, nullable=False)
    is_number = isinstance(element, Fixed) and element.primitive is not UUID
    is_asked_partition = is_request and field.meaning is Meaning.PARTITION
    return Many(element, flexible, nullable, NUMBER if is_number and not is_asked_partition else ELEMENT)


def _one(field: Field, version: int, flexible: bool, is_request: bool, nullable: bool) -> Fixed | Varying | Nested:
    if not isinstance(field.kind, Primitive):
        return Nested(_struct(field.kind, version, flexible, is_request), nullable)
    if field.kind.fmt is not None:
        return Fixed(field.kind, field.kind.size)
    is_name = field.kind is STRING and field.meaning in NAMES
    return Varying(field.kind, flexible and field.kind is not LEGACY_STRING, nullable, is_name)
