"""Pending fetch: a Fetch request whose answer is still to come, with all that the answer will be asked about."""

from __future__ import annotations

from dataclasses import dataclass

from plugins.acl.client_authorizer import ClientAuthorizer
from plugins.acl.sessions import AuthorizedSession
from proxy.plugin.fetching import FetchedTopic


@dataclass(slots=True)
class PendingFetch:
    """A request that was forwarded, by this `edition` of its client's rights."""

    authorizer: ClientAuthorizer
    edition: object
    refused: list[tuple[FetchedTopic, int]]  # topics with their errors
    session: AuthorizedSession | None  # a new one, if the broker makes it
    of: AuthorizedSession | None = None  # the session that the request continues
    unrefused: bool = False  # nothing was refused, not even in shadow, and no session begins or ends
    content: object = None  # the content of its session after this request
    is_follower: bool = False
    held: int = 0  # bytes that the refusals take until the answer leaves, estimated

    def holds(self) -> bool:
        """Are the rules the same as then, and is its session open?"""
        return self.authorizer.decides_by(self.edition) and (self.of is None or self.of.is_open)

    @property
    def is_needed(self) -> bool:
        """Must its answer be read, unless it is an error?"""
        return not self.holds() or bool(self.refused) or self.session is not None

    @property
    def may_repeat(self) -> bool:
        """May requests that are like it pass unread?"""
        return self.unrefused and self.edition is self.authorizer.edition
