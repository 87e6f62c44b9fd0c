"""The rule language: one YAML file -> an immutable snapshot of rules, which decides, and can say why."""

from rules.conditions import Client
from rules.load import examine, examine_text, load
from rules.question import AccessQuestion
from rules.snapshot import Rule, RuleDecision, Snapshot, Why
from rules.vocabulary import Operation, ResourceType

__all__ = [
    "AccessQuestion",
    "Client",
    "Operation",
    "ResourceType",
    "Rule",
    "RuleDecision",
    "Snapshot",
    "Why",
    "examine",
    "examine_text",
    "load",
]
