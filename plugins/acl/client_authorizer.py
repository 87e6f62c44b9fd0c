"""Client authorizer: the rights that the client of one connection has now, renewed when something changes.

Rules:
* Every request is decided by the rules in force when it is checked: a snapshot that was replaced decides no request
  that comes later.
* The rights (`client_rights.py`) are the same object as long as no decision can change: while the snapshot, the client
  and, where a rule has hours, the second are the same. `edition` stands for them where something is kept for long: it
  keeps no rules in memory.
* A client that authenticated as a principal that only its broker knows may do nothing. A client that did not
  authenticate is ANONYMOUS.
* `request_authorizer.py` records refusals.
"""

from __future__ import annotations

from plugins.acl.authorizer import Authorizer
from plugins.acl.client_rights import ClientRights
from proxy.plugin import Connection, Denied
from rules import Snapshot
from rules.clients import client_of

Who = tuple[str | None, str | None, str | None]  # principal, mechanism, client id


class ClientAuthorizer:
    """What one connection's client may do, by the rules of the authorizer `of`.

    `rights` were in force when `current` was called last. `edition` is another object whenever they are.
    """

    __slots__ = (
        "_at",
        "_connection",
        "_facts",
        "_rules",
        "_who",
        "edition",
        "of",
        "rights",
    )

    def __init__(self, authorizer: Authorizer, connection: Connection) -> None:
        self.of = authorizer
        self._connection = connection
        self._rules: Snapshot | None = None  # what the rights are made of; below: for when, and for whom
        self._at = 0
        self._who: Who = (None, None, None)
        self._facts: object = None  # the edition of the connection, from which the client was taken
        self.rights: ClientRights
        self.edition: object = None
        self.current()

    def in_force(self) -> ClientRights | None:
        """The rights by which the last request was decided; None: they are not in force any more."""
        return None if self.of.is_over else self.rights

    def current(self) -> object:
        """Take up the present rules and properties of the client. Returns the edition."""
        self.decides_by(None)
        return self.edition

    def decides_by(self, edition: object) -> bool:
        """Take them up likewise; is this edition in force? Fast paths ask this for each request and each answer."""
        of = self.of
        if of.rules.value is not self._rules or of.is_timed or self._connection.edition is not self._facts:
            self._renew(self._connection)
        return self.edition is edition

    def _renew(self, connection: Connection) -> None:
        """Compare with the state before, and begin a new edition only if something differs."""
        before = self._rules, self._at, self._who
        self._rules, self._at = self.of.edition()
        self._facts = connection.edition
        self._who = connection.principal, connection.mechanism, connection.client_id
        if before != (self._rules, self._at, self._who):
            if self.edition is not None:
                self.rights.retire()
            self.rights = ClientRights(self.of, self._rules, client_of(connection))
            self.edition = object()

    def still_has(self, rights: ClientRights) -> bool:
        """Are these rights by the present rules? A rule's hours may be over: they count when a request begins.

        By another configuration other rules may be in force: they are not asked, and a request that has passed in part
        ends by those by which it began.
        """
        self.current()
        return self.rights is rights or self.rights.id == rights.id

    @property
    def held(self) -> int:
        """Bytes of the cache: decisions with their names."""
        return self.rights.cached

    def let_go(self) -> None:
        """Empty the cache; the rules can decide again."""
        self.rights.let_go()

    def tell(self, event: Denied) -> None:
        """Report a refusal."""
        self._connection.gate.tell(event)
