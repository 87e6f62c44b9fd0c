"""ACLs: clients may do what the rules allow, and get the errors that a broker would give.

    - acl: {rules: acl.yaml}

Rules:
* Every request of every API is checked before its broker sees it; `table.py` has the checks. An API that is not in the
  table is refused. So is a request that cannot be decoded, resolved or decided.
* If the rules change while a request is decided, which may take time, what the old ones allowed is not let through. It
  is checked by the new ones if it is still as it came. If it is not, the connection ends: nothing can be taken back.
* Elements that are refused are taken out of the request, and their errors put into the answer (`checked_request.py`).
  The rest is served.
* A broker serves the requests of a connection one after the other. So a request that comes while a fetch may wait there
  is held, and decided when the fetch is answered: a client cannot have it carried out by rules that are gone by then.
* An answer is read only where it must be changed. A fetch that waited at the broker while the rules changed is checked
  again (`fetch.py`).
* The file of rules is checked for changes five times a second. Every request is decided by the rules in force at that
  moment (`client_authorizer.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial, update_wrapper
from typing import Any

from pydantic import Field, StrictBool

from plugins.acl.authorizer import Authorizer
from plugins.acl.checked_request import CheckedRequest
from plugins.acl.checks import Check, apply_all
from plugins.acl.examined import examined
from plugins.acl.fetch import FetchHandlers
from plugins.acl.managed import MANAGED, ManagedAcls
from plugins.acl.produce import ProduceHandlers
from plugins.acl.request_authorizer import CHANGED, RequestAuthorizer, authorizer_of
from plugins.acl.session_fast_path import SessionFastPath
from plugins.acl.sessions import forget_sessions
from plugins.acl.table import OWN, checks
from plugins.acl.topics_fast_path import FETCH_TOPICS, PRODUCE_TOPICS, TopicsFastPath
from proxy.plugin import (
    APIS,
    FETCH,
    PRODUCE,
    TURN,
    Api,
    Connection,
    Context,
    Decision,
    Disconnect,
    ErrorCode,
    FilePath,
    Finding,
    Forward,
    Handler,
    Plugin,
    Problem,
    Request,
    Response,
    Services,
    Steps,
    Wish,
)
from proxy.plugin.frames import ELEMENTS
from rules.load import load


class Acl(Plugin):
    """Lets clients do what the rules allow. Raises BadFileError for a bad file."""

    class Options(Plugin.Options):
        """How the rules are enforced."""

        rules: FilePath = Field(
            description="The file of rules, read again when it changes. A path is relative to this file.",
            examples=["acl.yaml"],
        )
        shadow: StrictBool = Field(
            default=False,
            description="Refuse nothing but changes of `managed` ACLs, and record what would have been refused.",
            examples=["true"],
        )
        managed: StrictBool = Field(
            default=False,
            description="Keep Kafka's ACLs in the file of rules: `kafka-acls` asks the proxy, and changes the file.",
            examples=["true"],
        )

    @staticmethod
    def examine(options: Acl.Options) -> Iterator[Finding | Problem]:
        """Everything that is wrong with the file of rules."""
        yield from examined(options.rules, managed=options.managed)

    def __init__(self, options: Options, services: Services) -> None:
        super().__init__(options, services)
        self.rules = services.watch("rules", options.rules, load, lambda snapshot: snapshot.warnings)
        always = MANAGED if options.managed else ()
        self.authorizer = Authorizer(services, self.rules, shadow=options.shadow, always=always)
        self.names = services.topics
        self._checks = checks()
        self._produce = ProduceHandlers(self.authorizer, self.names)
        self._fetch = FetchHandlers(self.authorizer, self.names)
        # One fast path each, however often filters are built: connections note what passed under these objects.
        self._produced = TopicsFastPath(PRODUCE_TOPICS, self._produce)
        self._fetched = SessionFastPath(self._fetch, TopicsFastPath(FETCH_TOPICS, self._fetch))
        self._managed = ManagedAcls(self.authorizer) if options.managed else None

    def replaced(self) -> None:
        """This plugin's rules are in force no more. Requests that began with them end by them."""
        self.authorizer.is_over = True

    def joined(self, connection: Connection) -> None:
        """Forget fetch sessions noted earlier: they may have gone on unseen. Clients begin new ones."""
        forget_sessions(connection, self.authorizer)

    def handlers(self, position: int = 0) -> Iterable[Handler]:
        """A handler for each side of each API of clients for which the table has a check."""
        handler = partial(Handler, over_records=False)  # rights are about topics, not about records
        unread: dict[Api, dict[str, Any]] = {
            PRODUCE: {"unneeded_after": self._produced},
            FETCH: {"unneeded_while": self._fetched, "on_error": self._fetch.has_session},
        }
        for part, api, fast_path in ((self._produce, PRODUCE, self._produced), (self._fetch, FETCH, self._fetched)):
            wanted = Wish(Request, api.request, part.FIELDS)
            yield handler(part.request, wanted, position, fast_path=fast_path, in_turn=True)
            answered = Wish(Response, api.response, part.ANSWERED)
            yield handler(part.response, answered, position, part.is_needed, **unread[api])
        for api in APIS.values():
            if api.inter_broker or api in OWN:
                continue
            asked = self._checks.get(api)
            if asked is None:
                yield handler(self.refuse, Wish(Request, api.request, None), position, in_turn=True)
            elif asked:
                check_request = update_wrapper(partial(self.check_request, asked), self.check_request)
                yield handler(check_request, Wish(Request, api.request, None), position, in_turn=True)
                if any(check.answers for check in asked):
                    yield handler(self.finish, Wish(Response, api.response, None), position, self.is_needed)
        if self._managed is not None:
            yield from self._managed.handlers(position)
        yield from super().handlers(position)

    def refuse(self, ctx: Context, request: Request) -> Decision:
        """Refuse a request of an API that is not in the table."""
        checked = CheckedRequest(ctx, request, authorizer_of(self.authorizer, ctx), self.names)
        return checked.refuse(ErrorCode.CLUSTER_AUTHORIZATION_FAILED)

    def check_request(self, asked: tuple[Check, ...], ctx: Context, request: Request) -> Steps:
        """Apply the checks that the table has for this API. If the rules change meanwhile, apply them once more."""
        while True:
            checked = CheckedRequest(ctx, request, authorizer_of(self.authorizer, ctx), self.names)
            if not ctx.is_large and any(check.remembered(checked) > ELEMENTS for check in asked):
                ctx.is_large = True
                yield TURN
            unknown = self.names.unknown(topic for check in asked for topic in check.ids(checked))
            if unknown:
                yield from self.names.ask(unknown)
                checked.authorizer.take_up(ctx)
            decision, waited = yield from apply_all(asked, checked)
            if decision is not None:
                return decision
            if not (ctx.is_large or waited) or checked.empty or checked.authorizer.is_current:
                break  # the present rules decided, or nothing was allowed
            if not (checked.is_as_it_came and all(check.may_apply_again for check in asked)):
                return Disconnect(CHANGED)
        if checked.has_more:
            ctx.notes[self] = checked
        return checked.decide()

    def is_needed(self, ctx: Context) -> bool:
        """Whether the answer must be read."""
        return self in ctx.notes

    def finish(self, ctx: Context, response: Any) -> Decision:
        """Change the answer, and put the refusals into it."""
        checked: CheckedRequest = ctx.notes[self]
        if checked.judging:
            checked.authorizer = RequestAuthorizer(checked.authorizer.client, ctx)
        checked.finish(response)
        return Forward(response)
