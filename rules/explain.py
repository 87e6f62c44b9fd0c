"""Explanations: what decided a question, the smallest change that would reverse the answer, and rules that nearly fit.

Rules:
* A change is small when few other answers change with it. One element is taken out of a list before a whole rule is
  removed, and one new ACL is preferred to anything that says more.
* The changes together reverse the answer. Each is tried on a draft of the rules that has the earlier ones. Only the
  rules that deny are narrowed together, without a try: all of them have to go.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from proxy.text.places import Place
from rules import narrow, write
from rules.conditions import Conditions
from rules.draft import Draft
from rules.model import OPTION, AclRule
from rules.question import AccessQuestion
from rules.snapshot import Rule, RuleDecision, Snapshot, Why
from rules.values import Pattern
from rules.vocabulary import EVERYBODY, Operation, PatternType

NEAR = 3  # the number of rules that nearly fit and are shown


class Suggestion(NamedTuple):
    """A change to make, and its place in the file; without a place, it goes under `acls`."""

    place: Place | None
    text: str


class Explanation(NamedTuple):
    """One answer, with its reason and the changes that would reverse it."""

    question: AccessQuestion
    decision: RuleDecision
    reason: str
    changes: tuple[Suggestion, ...]
    near: tuple[Suggestion, ...]


def explain(snapshot: Snapshot, question: AccessQuestion) -> Explanation:
    """Why the rules answer this question as they do."""
    decision = question.put(snapshot)
    near = () if decision.allowed or question.name is None else tuple(_near(snapshot, question))[:NEAR]
    return Explanation(question, decision, _reason(snapshot, question, decision), changes(snapshot, question)[0], near)


def _reason(snapshot: Snapshot, question: AccessQuestion, decision: RuleDecision) -> str:
    if decision.rule is not None:
        return write.on_one_line(decision.rule.acl)
    match decision.why:
        case Why.SUPER_USER:
            return f"{question.client.principal} is one of the super_users"
        case Why.NOBODY:
            return f'nobody can be called "{EVERYBODY}", which is everybody; give this client another name'
        case Why.UNMATCHED:
            return f'no rule names this {question.noun}, and "unmatched" is {snapshot.file.unmatched}'
    if snapshot.file.unmatched == "allow" and question.name is not None:
        return f'no rule allows it; "unmatched" does not count, for some rule names this {question.noun}'
    return "no rule allows it"


def changes(snapshot: Snapshot, question: AccessQuestion) -> tuple[tuple[Suggestion, ...], Snapshot]:
    """The smallest change that reverses the answer, step by step, and the rules after it. No steps: none can do it."""
    decision, steps = question.put(snapshot), list[Suggestion]()
    wanted = not decision.allowed
    if question.name is None or decision.why is Why.NOBODY:
        return (), snapshot
    # Only rules about the resource, and the client's own, can take part: steps are faster without thousands of others.
    who = question.client.principal
    draft = Draft.of(snapshot, lambda rule: _about(rule, question) or who in rule.acl.principals)
    if wanted:  # there may be thousands of denies, and each try compiles all rules
        steps, draft = _without_denies(draft, question)
        decision = question.put(draft.snapshot())
    while decision.allowed is not wanted:
        step, draft = _allowing(draft, question) if wanted else _refusing(draft, question, decision)
        steps.append(step)
        decision = question.put(draft.snapshot())
    return tuple(steps), draft.snapshot()


def _about(rule: Rule, question: AccessQuestion) -> bool:
    name = question.name or ""
    return any(kind is question.kind and pattern.holds(name) for kind, pattern in rule.acl.resources())


def _without_denies(draft: Draft, question: AccessQuestion) -> tuple[list[Suggestion], Draft]:
    """The first steps towards an allow: narrow each rule that denies, in their order."""
    steps = []
    for rule in draft.rules:
        if rule.deny and not any(_misses(rule, question)):
            step, draft = _narrowed(draft, question, rule)
            steps.append(step)
    return steps, draft


def _allowing(draft: Draft, question: AccessQuestion) -> tuple[Suggestion, Draft]:
    """The last step towards an allow: add the one ACL that is missing."""
    for rule in draft.rules:
        option = None if rule.deny else _single_miss(rule, question)
        if option is not None:
            element = question.operation if option == "to" else Pattern(PatternType.LITERAL, question.name or "")
            acl = _with(rule.acl, option, element)
            return Suggestion(rule.place, f'add {write.inline(element)} to "{option}"'), draft.instead(rule, acl)
    return _added(draft, _acl(question, "allow"))


def _refusing(draft: Draft, question: AccessQuestion, decision: RuleDecision) -> tuple[Suggestion, Draft]:
    """One step towards a refusal: narrow the rule that allows if no other rule allows it, or else add a deny."""
    principal = question.client.principal
    if decision.why is Why.SUPER_USER:
        change = Suggestion(decision.place, f'take {write.quoted(principal)} out of "super_users"')
        return change, draft.without_super_user(principal)
    if decision.rule is not None:
        change, narrowed = _narrowed(draft, question, decision.rule)
        if not question.put(narrowed.snapshot()).allowed:
            return change, narrowed
    return _added(draft, _acl(question, "deny"))


def _narrowed(draft: Draft, question: AccessQuestion, rule: Rule) -> tuple[Suggestion, Draft]:
    less = narrow.narrowed(rule.acl, question)
    if less is None:
        return Suggestion(rule.place, f"take the rule out: {write.on_one_line(rule.acl)}"), draft.without(rule)
    return Suggestion(rule.place, f'take {less.taken} out of "{less.option}"'), draft.instead(rule, less.acl)


def _added(draft: Draft, acl: AclRule) -> tuple[Suggestion, Draft]:
    return Suggestion(None, f'add under "acls": {write.on_one_line(acl)}'), draft.also(acl)


def _acl(question: AccessQuestion, permission: str) -> AclRule:
    """The rule that answers this one question and no other."""
    pattern = Pattern(PatternType.LITERAL, question.name or "")
    options = {permission: (question.client.principal,), "to": (question.operation,), OPTION[question.kind]: (pattern,)}
    return AclRule.model_construct(**options)  # type: ignore[arg-type]


def _single_miss(rule: Rule, question: AccessQuestion) -> str | None:
    """The option of this rule in which one more element, which is one more ACL, would make the rule match."""
    acl, resources = rule.acl, tuple(rule.acl.resources())
    if acl.principals != (question.client.principal,) or not rule.admits(question.client, question.at):
        return None
    if len(acl.from_ or (0,)) > 1:
        return None
    fits = rule.mask >> question.operation & 1
    about = _about(rule, question)
    if about and not fits and len(resources) == 1 and resources[0][1] == (PatternType.LITERAL, question.name):
        return "to"
    alone = len(acl.to) == 1 and acl.to[0] is question.operation
    if fits and not about and alone and all(kind is question.kind for kind, _ in resources):
        return OPTION[question.kind]
    return None


def _with(acl: AclRule, option: str, element: Operation | Pattern) -> AclRule:
    return acl.model_copy(update={option: (*getattr(acl, option), element)})


def _near(snapshot: Snapshot, question: AccessQuestion) -> Iterator[Suggestion]:
    """The rules that would allow it but for one property, the likeliest first."""
    found: list[tuple[int, Suggestion]] = []
    for rule in snapshot.rules:
        misses = [] if rule.deny else list(_misses(rule, question))
        if len(misses) == 1:
            found.append((misses[0][0], Suggestion(rule.place, misses[0][1])))
    yield from (change for _, change in sorted(found, key=lambda one: one[0]))


def _misses(rule: Rule, question: AccessQuestion) -> Iterator[tuple[int, str]]:
    acl = rule.acl
    if not rule.mask >> question.operation & 1:
        yield 0, f"allows {write.inline(acl.to)}, not {question.operation.word}"
    if not rule.admits(question.client, question.at):
        yield 1, f"allows it only with {', '.join(_conditions(acl))}"
    if not _about(rule, question):
        named = getattr(acl, OPTION[question.kind])
        yield 2, f"allows it with {write.inline(named)}" if named else f"allows it with no {question.noun} at all"
    if not {question.client.principal, EVERYBODY} & set(acl.principals):
        yield 3, f"allows it to {write.inline(acl.principals)}"


def _conditions(acl: AclRule) -> Iterator[str]:
    for option in Conditions.model_fields:
        if (value := getattr(acl, option)) is not None:
            yield f'"{option.strip("_")}: {write.inline(value)}"'
