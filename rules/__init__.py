"""The rule language: one YAML file -> an immutable snapshot of rules, which decides, and can say why."""

from rules.conditions import Client
from rules.load import examine, examine_text, load
from rules.question import AccessQuestion
from rules.snapshot import Decision, Rule, Snapshot, Why
from rules.vocabulary import Operation, ResourceType

__all__ = [
    "AccessQuestion",
    "Client",
    "Decision",
    "Operation",
    "ResourceType",
    "Rule",
    "Snapshot",
    "Why",
    "examine",
    "examine_text",
    "load",
]
