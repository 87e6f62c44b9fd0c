"""The problems of the file of rules that a configuration names, and of the options that name it.

Rules:
* A mistake in the file is reported at its place in the file, a problem of the file as a whole at the option.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from proxy.plugin import Finding, Problem
from rules import Operation, ResourceType, Snapshot, examine
from rules.vocabulary import CLUSTER_NAME


def examined(file: str, *, managed: bool) -> Iterator[Finding | Problem]:
    """All problems; the paths of findings begin at the options. `managed`: the proxy must be able to write the file."""
    snapshot, problems = examine(file)
    for problem in problems:
        if problem.place is None:
            yield Finding(("rules",), f"{file}: {problem.message}", problem.warning)
        else:
            yield problem
    if managed and snapshot is not None:
        yield from _written(file, snapshot)


def _written(file: str, snapshot: Snapshot) -> Iterator[Finding]:
    folder = Path(file).resolve().parent
    if not os.access(folder, os.W_OK | os.X_OK):
        fact = f"{file} cannot be written by this user: a new file takes its place, in the folder {folder}"
        yield Finding(("managed",), f'{fact}; change its permissions, or leave "managed" out')
    if not snapshot.file.super_users and not any(_administers(snapshot)):
        fact = "nobody may change ACLs by these rules, and so nobody ever will"
        way_out = 'name a super user, or allow somebody "to: Alter" with "cluster: true"'
        yield Finding(("managed",), f"{fact}; {way_out}", warning=True)


def _administers(snapshot: Snapshot) -> Iterator[bool]:
    """For each rule that allows Alter, whether it is about the cluster, and so allows to change ACLs."""
    for rule in snapshot.rules:
        if not rule.deny and rule.mask & 1 << Operation.ALTER:
            yield any(kind is ResourceType.CLUSTER and on.holds(CLUSTER_NAME) for kind, on in rule.acl.resources())
