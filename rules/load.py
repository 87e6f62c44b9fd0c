"""From a file to the rules in force: read, validate, check, and say everything that is wrong at once."""

import os

from proxy.text.environment import Environment
from proxy.text.file import Form
from proxy.text.places import Reading
from proxy.text.problems import BadFileError, Problem
from rules import checks, unreachable
from rules.model import AclFile
from rules.snapshot import Rule, Snapshot

START = 'begin with "acls:" (doorkeeper explain --help shows a whole file)'
FORM = Form(AclFile, "file of rules", START, largest=16 << 20)


class RulesError(BadFileError):
    """Rules that cannot be used, with every reason why."""


def load(file: str | os.PathLike[str], environment: Environment = os.environ) -> Snapshot:
    """The rules in a file. Raises RulesError with every problem of the file; warnings pass."""
    snapshot, found = examine(file, environment)
    if snapshot is None:
        raise RulesError(problem for problem in found if not problem.warning)
    return snapshot


def examine(
    file: str | os.PathLike[str], environment: Environment = os.environ
) -> tuple[Snapshot | None, list[Problem]]:
    """The rules in a file, unless it cannot be used, and all problems and warnings in the order of the file."""
    name = os.fspath(file)
    try:
        text = FORM.text(name)
    except BadFileError as error:
        return None, list(error.problems)
    return examine_text(text, name, environment)


def examine_text(text: str, name: str, environment: Environment) -> tuple[Snapshot | None, list[Problem]]:
    """As `examine`, for a text that is already there; `name` stands for the file in the problems."""
    examined = FORM.examine(text, name, environment)
    examined.note(checks.unsaid(examined.reading.value))
    if examined.value is not None:
        examined.note(checks.findings(examined.value))
        # What can never match is told once the rules are right: in a rule that lacks something, it would be guesswork.
        examined.note(unreachable.findings(examined.value) if not examined.problems else ())
    file, problems = examined.result()
    return (compiled(file, examined.reading) if file is not None else None), problems


def compiled(file: AclFile, reading: Reading | None = None) -> Snapshot:
    """The rules of a file that is right; without a reading, every place is the beginning."""
    reading = reading or Reading()
    rules = (Rule(index, acl, reading.place(("acls", index))) for index, acl in enumerate(file.acls))
    super_users = {principal: reading.place(("super_users", index)) for index, principal in enumerate(file.super_users)}
    return Snapshot(file, rules, super_users, reading.places.get(("unmatched",)))
