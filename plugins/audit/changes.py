"""Changes: what an administrator's request changes, in words that a report can use.

Rules:
* `change_readers.py` has a reader for each API.
* A request that only validates changes nothing.
* `change_results.py` says which of the changes were not made.
* Memory is bounded: the first changes are kept, and the rest is counted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from plugins.audit.change_readers import ANSWERS, READERS
from plugins.audit.change_results import QuotaResults, tell_in_order, tell_of_all, tell_of_features
from plugins.audit.request_schema import AdminChange
from plugins.audit.shared import text_bytes
from plugins.audit.words import id_text
from proxy.plugin import ALTER_CLIENT_QUOTAS, UPDATE_FEATURES, Api, Message, api, turn

MOST = 1_000  # changes of one request
MOST_TEXT = 1 << 20  # bytes of their names
SIZE = 400  # bytes of a change in memory, beside its texts
CHANGING = READERS.keys() | ANSWERS.keys()
IN_ORDER = {api.CREATE_ACLS: "results"}  # answers with results, element by element as in the request
MORE_FIELDS = {
    ALTER_CLIENT_QUOTAS: ("entries", "validate_only"),
    api.END_TXN: ("committed",),
    api.OFFSET_COMMIT: ("generation_id_or_member_epoch", "member_id"),
    api.ELECT_LEADERS: ("election_type",),
    UPDATE_FEATURES: ("feature_updates",),
    api.ADD_RAFT_VOTER: ("voter_id",),
    api.REMOVE_RAFT_VOTER: ("voter_id",),
    api.UNREGISTER_BROKER: ("broker_id",),
    api.UNREGISTER_CONTROLLER: ("controller_id",),
    api.CREATE_DELEGATION_TOKEN: ("principal_type", "principal_name", "token_id"),
}


def changing_fields(cls: type[Message]) -> frozenset[str]:
    """The top-level fields of a message that have to be read for its changes."""
    if cls.api not in CHANGING:
        return frozenset()
    return frozenset((*MORE_FIELDS.get(cls.api, ()), "validate_only")) & cls.field.keys()


class RequestChanges:
    """What one request changes."""

    def __init__(self) -> None:
        self.found: list[AdminChange] = []
        self.left_out = 0
        self.only_validates = False
        self.held = 0  # bytes
        self._quotas = QuotaResults()

    def read(self, api: Api, message: Any, is_answer: bool, error: int = 0) -> None:
        """Take in a request of this API, or its answer, whose own error this is."""
        reader = (ANSWERS if is_answer else READERS).get(api)
        self.only_validates |= getattr(message, "validate_only", False)
        if reader is not None and not self.only_validates:
            for change in reader(message):
                turn()
                self._keep(change)
        if api is ALTER_CLIENT_QUOTAS:
            if is_answer:
                self._quotas.tell(self.found, message)
            else:
                self._quotas.asked(message, MOST)
        elif is_answer and api in IN_ORDER:
            tell_in_order(self.found, getattr(message, IN_ORDER[api]))
        elif is_answer and api is UPDATE_FEATURES:
            tell_of_features(self.found, message.results)
        tell_of_all(self.found, error)

    def told(self, name_of: Callable[[bytes], str | None]) -> list[AdminChange]:
        """All changes that are kept. `name_of` gives the names of topics by their ids, as far as they are known."""
        for change in self.found:
            fields: Any = change
            for field in ("name", "key"):
                if isinstance(value := fields.get(field), bytes):
                    fields[field] = name_of(value) or id_text(value)
        return self.found

    def _keep(self, change: AdminChange) -> None:
        size = SIZE + sum(text_bytes(value) for value in change.values() if isinstance(value, str))
        if self.left_out or len(self.found) >= MOST or self.held + size > MOST_TEXT:
            self.left_out += 1
            return
        self.held += size
        self.found.append(change)
