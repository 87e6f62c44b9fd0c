"""Managed: the proxy keeps Kafka's ACLs itself, in the file of rules, and Kafka's own tools administer them.

DescribeAcls, CreateAcls and DeleteAcls are answered here, as a 4.3 broker with StandardAuthorizer answers them; brokers
do not get these requests.

Rules:
* Only a client that its broker serves gets an answer. A client that did not authenticate, or whose session is over, is
  closed by the broker when something else is asked for it: so the broker is asked first for Metadata of no topics.
* By the rules, a client needs ALTER on the cluster to change ACLs, and DESCRIBE to list them. This is enforced in
  shadow too: a client that can change the rules has every right.
* A description has the ACLs that are in the file at that moment. So a change made by one worker or proxy is described
  by all at once.
* The answer to a change leaves when the change is on the disk and in force in this worker. A change that cannot be made
  gets an error (UNKNOWN_SERVER_ERROR) with the reason, and a line in the log.
* A rule with a condition that Kafka's ACLs lack is no ACL: it is neither described nor deleted (`acl_deletion.py`).
* All this computes for long, and so apart: one description and one change at a time. A change may wait for another
  program's lock on the file, and descriptions do not wait for it.

Source: AclApis and AclControlManager of Kafka 4.3, and what a 4.3.1 broker answered.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from functools import partial
from typing import Any, TypeVar, cast

from plugins.acl.acl_deletion import AclDeletion
from plugins.acl.acl_filters import ANY, MATCH, matching, words
from plugins.acl.acl_index import KnownAcls
from plugins.acl.acl_messages import Created, Described, binding, created, described, wrong
from plugins.acl.authorizer import Authorizer
from plugins.acl.cluster_topics import CREATION_CAN_BE_DECLINED
from plugins.acl.request_authorizer import authorizer_of
from proxy.plugin import (
    AclsChanged,
    AclsNotChanged,
    Ask,
    Call,
    Context,
    CreateAclsRequest,
    CreateAclsResponse,
    DeleteAclsRequest,
    DeleteAclsResponse,
    DescribeAclsRequest,
    DescribeAclsResponse,
    ErrorCode,
    MetadataRequest,
    Plugin,
    Reply,
    Request,
    Step,
    Steps,
    api,
    on_request,
    refuse,
    turns,
)
from rules import Operation, ResourceType, Snapshot
from rules.store import AclChange, Changed, Store, StoreError
from rules.vocabulary import CLUSTER_NAME

MANAGED = (api.DESCRIBE_ACLS, api.CREATE_ACLS, api.DELETE_ACLS)  # refused in shadow too: no broker would do it
DESCRIPTIONS, CHANGES = "descriptions of ACLs", "changes of ACLs"  # what is computed apart
R = TypeVar("R")  # a result of one ACL or one filter


class ManagedAcls(Plugin):
    """Answers requests about ACLs."""

    def __init__(self, authorizer: Authorizer) -> None:
        self._authorizer = authorizer
        self._store = Store(authorizer.rules)
        self._known = KnownAcls()

    @on_request(DescribeAclsRequest)
    def describe(self, ctx: Context, request: DescribeAclsRequest) -> Steps:
        """Answer with the ACLs that match a filter."""
        if (no := (yield from self._refused(ctx, request, Operation.DESCRIBE))) is not None:
            return no
        resources = yield Call(partial(self._described, request), apart=DESCRIPTIONS)
        return Reply(DescribeAclsResponse(throttle_time_ms=0, error_code=0, error_message="", resources=resources))

    def _described(self, request: DescribeAclsRequest) -> list[Described]:
        acls = self._known.of(self._authorizer.rules.current())
        return described(matching(request, acls.plain.near(request)))

    @on_request(CreateAclsRequest)
    def create(self, ctx: Context, request: CreateAclsRequest) -> Steps:
        """Create ACLs; each has its own result."""
        if (no := (yield from self._refused(ctx, request, Operation.ALTER))) is not None:
            return no
        if any(
            ANY in words(creation) or creation.resource_pattern_type == MATCH for creation in turns(request.creations)
        ):
            failed = Created(error_code=ErrorCode.UNKNOWN_SERVER_ERROR, error_message=None)
            return Reply(CreateAclsResponse(throttle_time_ms=0, results=[failed] * len(request.creations)))
        mistakes = [wrong(creation) for creation in turns(request.creations)]
        new = [
            binding(creation) for creation, fact in zip(turns(request.creations), mistakes, strict=True) if fact is None
        ]

        def results(outcome: Changed | StoreError) -> list[Created]:
            return [
                created(outcome) if fact is None else Created(error_code=ErrorCode.INVALID_REQUEST, error_message=fact)
                for fact in mistakes
            ]

        made = yield from self._changed(ctx, lambda there: AclChange(added=new), results)
        return Reply(CreateAclsResponse(throttle_time_ms=0, results=made))

    @on_request(DeleteAclsRequest)
    def delete(self, ctx: Context, request: DeleteAclsRequest) -> Steps:
        """Delete the ACLs that match one of the filters."""
        if (no := (yield from self._refused(ctx, request, Operation.ALTER))) is not None:
            return no
        deletion = AclDeletion(request.filters, self._known.of, self._authorizer.rules.file)
        results = yield from self._changed(ctx, deletion.decide, deletion.results)
        return Reply(DeleteAclsResponse(throttle_time_ms=0, filter_results=results))

    def _refused(self, ctx: Context, request: Request, operation: Operation) -> Steps:
        """The refusal of a client without this right. A client that its broker does not serve gets no answer."""
        yield Ask(MetadataRequest(topics=[], allow_auto_topic_creation=False), CREATION_CAN_BE_DECLINED)
        if authorizer_of(self._authorizer, ctx).may(operation, ResourceType.CLUSTER, CLUSTER_NAME):
            return None
        answer = refuse(ctx.api, ctx.version, request, ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
        assert answer is not None, "only Produce goes without an answer"
        return Reply(answer)

    def _changed(
        self,
        ctx: Context,
        decide: Callable[[Snapshot], AclChange],
        results: Callable[[Changed | StoreError], list[R]],
    ) -> Generator[Step, Any, list[R]]:
        """Steps that make a change, and return its results: those of the change, or of the error why there is none."""
        tell = ctx.connection.gate.tell
        outcome, made = yield Call(partial(self._change, decide, results), apart=CHANGES)
        if isinstance(outcome, StoreError):
            tell(AclsNotChanged(str(outcome)))
        elif outcome.added or outcome.removed:
            tell(AclsChanged(len(outcome.added), len(outcome.removed)))
        return cast(list[R], made)

    def _change(
        self, decide: Callable[[Snapshot], AclChange], results: Callable[[Changed | StoreError], list[R]]
    ) -> tuple[Changed | StoreError, list[R]]:
        outcome: Changed | StoreError
        try:
            outcome = self._store.change(decide)
        except StoreError as error:
            outcome = error.with_traceback(None)  # its frames have all that was found
        return outcome, results(outcome)
