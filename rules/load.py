"""From a file to the rules in force: read, validate, check, and say everything that is wrong at once."""

import os
from collections.abc import Iterable

from proxy.text.environment import Variables
from proxy.text.file import Examined, Form
from proxy.text.places import Reading
from proxy.text.problems import Problem
from rules import checks, unreachable
from rules.model import AclFile
from rules.snapshot import Rule, Snapshot


def _check(examined: Examined[AclFile]) -> None:
    examined.note(checks.unsaid(examined.reading.value))
    if examined.value is not None:
        examined.note(checks.findings(examined.value))
        # Rules that can never match are reported once all rules are valid. In an incomplete rule it would be a guess.
        examined.note(unreachable.findings(examined.value) if not examined.problems else ())


START = 'begin with "acls:" (doorkeeper explain --help shows a whole file)'
FORM = Form(AclFile, "file of rules", START, largest=16 << 20, check=_check)


def load(file: str | os.PathLike[str], environment: Variables = os.environ) -> Snapshot:
    """The rules in a file. Raises BadFileError with every problem of the file; warnings pass."""
    examined = FORM.read(file, environment)
    return compiled(examined.usable(), examined.reading, examined.problems)


def examine(file: str | os.PathLike[str], environment: Variables = os.environ) -> tuple[Snapshot | None, list[Problem]]:
    """The rules in a file, None if it cannot be used, and all problems and warnings in the order of the file."""
    return _result(FORM.read(file, environment))


def examine_text(text: str, name: str, environment: Variables) -> tuple[Snapshot | None, list[Problem]]:
    """As `examine`, for a text that was read already; `name` stands for the file in the problems."""
    return _result(FORM.examine(text, name, environment))


def _result(examined: Examined[AclFile]) -> tuple[Snapshot | None, list[Problem]]:
    file, problems = examined.result()
    return (compiled(file, examined.reading, problems) if file is not None else None), problems


def compiled(file: AclFile, reading: Reading | None = None, warnings: Iterable[Problem] = ()) -> Snapshot:
    """The snapshot of a valid file. Without a reading, every place is the beginning of the file."""
    reading = reading or Reading()
    rules = (Rule(index, acl, reading.place(("acls", index))) for index, acl in enumerate(file.acls))
    super_users = {principal: reading.place(("super_users", index)) for index, principal in enumerate(file.super_users)}
    return Snapshot(file, rules, super_users, reading.places.get(("unmatched",)), warnings)
