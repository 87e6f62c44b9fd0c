"""A file of rules as the store of Kafka's ACLs: changes are atomic, and no edit is lost.

Rules:
* A change adds up to 10,000 ACLs (`MOST`), as at a controller: more are refused before the file is edited.
* A change is decided on the file as it is now, whether a person or a proxy wrote it.
* Of several proxies one writes at a time: it holds a lock on the file (flock) from reading to renaming it. People's
  editors do not take the lock. A file that changed meanwhile is read again, and the change is decided anew.
* A change is in force in this worker before `change` returns. Other processes see it as they see any edit.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from pathlib import Path
from typing import NamedTuple

from proxy.text.atomic import write_atomically
from proxy.text.environment import Variables
from proxy.text.locked import LockedError, locked
from proxy.text.problems import BadFileError
from proxy.text.stamp import stamp, stamps_at_rest
from proxy.text.watched import WatchedFile
from rules.bindings import Binding
from rules.edit import EditError, edited, said
from rules.load import FORM, compiled
from rules.snapshot import Snapshot

MOST = 10_000  # ACLs that one change may add
ROUNDS = 10  # attempts, where each time a person's edit comes between


class StoreError(Exception):
    """A change that was not made, and why."""


class AclChange(NamedTuple):
    """ACLs to add, and to remove."""

    added: Collection[Binding] = ()
    removed: Collection[Binding] = ()


class Changed(NamedTuple):
    """The rules after a change, and what it really added and removed."""

    rules: Snapshot
    added: frozenset[Binding]
    removed: frozenset[Binding]


class Store:
    """The store of one watched file. Its methods block on the disk."""

    def __init__(self, watched: WatchedFile[Snapshot], environment: Variables = os.environ) -> None:
        self.watched = watched
        self._environment = environment

    def change(self, decide: Callable[[Snapshot], AclChange]) -> Changed:
        """Make the change that `decide` returns for the present rules. Raises StoreError: the file is as it was."""
        try:
            for _ in range(ROUNDS):
                path = self.watched.file.resolve()  # a symbolic link stays one
                with locked(path):
                    changed = self._changed(path, decide)
                    if changed is not None:
                        return changed
        except LockedError as error:
            raise StoreError(str(error)) from None
        except (BadFileError, EditError) as error:
            raise StoreError(f"{self.watched.file} cannot be changed: {error}") from error
        except OSError as error:
            raise StoreError(f"{self.watched.file} cannot be written: {error.strerror or error}") from error
        raise StoreError(f"{self.watched.file} is changed by somebody else again and again; try later")

    def _changed(self, path: Path, decide: Callable[[Snapshot], AclChange]) -> Changed | None:
        """Make the change; None: the file was changed meanwhile."""
        watched = self.watched
        seen = stamp(path)
        before = watched.value_at(seen)
        if before is None:
            (seen,) = stamps_at_rest([path])
        text = FORM.text(os.fspath(path))
        if stamp(path) != seen:
            return None
        before = before or self._examined(text)
        change, there = decide(before), said(before.file)
        added, removed = frozenset(change.added) - there, frozenset(change.removed) & there
        if not added and not removed:
            return Changed(before, added, removed)
        if len(added) > MOST:
            raise EditError(f"more than {MOST} ACLs would be added at once; add fewer")
        after = edited(text, before, self._environment, change.added, removed)
        written = write_atomically(path, after.text.encode(), unless=lambda: stamp(path) != seen)
        if written is None:
            return None
        watched.put(after.snapshot, written)
        return Changed(after.snapshot, added, removed)

    def _examined(self, text: str) -> Snapshot:
        examined = FORM.examine(text, os.fspath(self.watched.file), self._environment)
        return compiled(examined.usable(), examined.reading, examined.problems)
