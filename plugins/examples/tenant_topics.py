"""Each tenant has topics of its own: what its clients call "orders" is "acme.orders" to the brokers.

    - tenant_topics:
        prefixes: {acme: acme., globex: globex., admin: ""}

Rules:
* A tenant is a listener. A listener that `prefixes` does not name takes no clients. With "" topics are not renamed.
* The schema says which fields are names of topics. All of them, in any API, are renamed: in requests to the brokers'
  name, in answers to the clients' name. What an answer says of other topics is taken out.
* The topics that consumers tell each other through the broker, in JoinGroup and SyncGroup, are renamed too: the broker
  reads them. Groups of other kinds are left alone. A member that syncs by another connection than it joined by, in a
  version that does not name the kind, has to join again.
* A topic's id does not say whose it is, and brokers match regular expressions with all topics. So clients are not
  offered versions in which requests have these, or answers have ids alone, and such requests are refused. Of some APIs
  nothing is left: the groups of KIP-848, share groups, Streams groups.
* Requests about all topics that cannot be narrowed are refused: ACLs, the quorum, elections of all partitions.
* Groups and transactional ids are not renamed. Give each tenant its own by ACLs.
"""

from collections.abc import Iterator
from functools import cache
from typing import Any

from pydantic import Field, field_validator

from proxy.plugin import (
    APIS,
    CREATE_ACLS,
    DELETE_ACLS,
    DESCRIBE_ACLS,
    DESCRIBE_QUORUM,
    DESCRIBE_TOPIC_PARTITIONS,
    Api,
    ApiVersionsResponse,
    Arrival,
    ConsumerAssignment,
    ConsumerSubscription,
    Context,
    Decision,
    DescribeGroupsResponse,
    Disconnect,
    ElectLeadersRequest,
    ErrorCode,
    Forward,
    JoinGroupRequest,
    JoinGroupResponse,
    Meaning,
    Plugin,
    ProtocolError,
    Reply,
    Request,
    Response,
    Struct,
    SyncGroupRequest,
    SyncGroupResponse,
    carrying,
    leading,
    on_request,
    on_response,
    read_embedded,
    refuse,
    turns,
    write_embedded,
    wrong,
)

NOT_OFFERED = (CREATE_ACLS, DELETE_ACLS, DESCRIBE_ACLS, DESCRIBE_QUORUM, DESCRIBE_TOPIC_PARTITIONS)
TOPIC = 2  # a resource type of configurations
CONSUMER = "consumer"  # the protocol type of groups whose members are consumers
MOST = 100  # groups whose protocol types are remembered for one connection
RENAMED = (Meaning.TOPIC_NAME, Meaning.RESOURCE_NAME, Meaning.ERROR_MESSAGE)


class TenantTopics(Plugin):
    """Give each tenant topics of its own."""

    class Options(Plugin.Options):
        """The tenants."""

        prefixes: dict[str, str] = Field(
            description="What the names of a tenant's topics begin with, by listener.",
            examples=["{acme: acme.}"],
        )

        @field_validator("prefixes")
        @classmethod
        def _apart(cls, prefixes: dict[str, str]) -> dict[str, str]:
            for listener, prefix in prefixes.items():
                for other, longer in prefixes.items():
                    if prefix and listener != other and longer.startswith(prefix):
                        fact = f'"{longer}" of {other} begins with "{prefix}" of {listener}, who would see its topics'
                        raise wrong(fact, "end each with a sign that no other has inside")
            return prefixes

    options: Options

    def accepted(self, arrival: Arrival) -> Decision:
        """Refuse clients of a listener that has no prefix."""
        if arrival.listener in self.options.prefixes:
            return None
        return Disconnect(f'"prefixes" of {self.services.name} does not name the listener {arrival.listener}')

    @on_request(carrying(Meaning.TOPIC_NAME, Meaning.RESOURCE_NAME, Meaning.TOPIC_ID, Meaning.TOPIC_REGEX))
    def requested(self, ctx: Context, request: Request) -> Decision:
        """Rename topics to the names that brokers have for them."""
        prefix = self._prefix(ctx)
        if not prefix:
            return None
        if ctx.version > newest_offered(ctx.api):
            return refused(ctx, request, ErrorCode.UNSUPPORTED_VERSION)
        if isinstance(request, ElectLeadersRequest) and request.topic_partitions is None:
            return refused(ctx, request, ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
        Renaming(ctx.version, prefix, inward=True).rename(request)
        return Forward(request)

    @on_response(carrying(*RENAMED))
    def answered(self, ctx: Context, response: Response) -> Decision:
        """Rename topics to the names that clients have for them, and leave out all others."""
        prefix = self._prefix(ctx)
        if not prefix:
            return None
        if not Renaming(ctx.version, prefix, inward=False).rename(response):
            return Disconnect(f"an answer of {ctx.api.name} is about a topic of somebody else")
        return Forward(response)

    @on_response(ApiVersionsResponse, fields="api_keys")
    def offered(self, ctx: Context, response: ApiVersionsResponse) -> Decision:
        """Offer only versions in which topics can be renamed."""
        if not self._prefix(ctx):
            return None
        for entry in response.api_keys:
            known = APIS.get(entry.api_key)
            entry.max_version = min(entry.max_version, -1 if known is None else newest_offered(known))
        response.api_keys = [entry for entry in response.api_keys if entry.min_version <= entry.max_version]
        return Forward(response)

    @on_request(JoinGroupRequest)
    @on_request(SyncGroupRequest)
    @on_response(JoinGroupResponse)
    @on_response(SyncGroupResponse)
    @on_response(DescribeGroupsResponse)
    def grouped(self, ctx: Context, message: Request | Response) -> Decision:
        """Rename topics in the data that consumers tell each other."""
        prefix = self._prefix(ctx)
        if not prefix:
            return None
        kind = self._kind(ctx, message)
        if isinstance(message, SyncGroupRequest) and kind is None:
            return refused(ctx, message, ErrorCode.REBALANCE_IN_PROGRESS)  # it joins again
        for struct, name, cls in turns(told_by_members(message, kind)):
            try:
                embedded, version, rest = read_embedded(cls, getattr(struct, name))
            except ProtocolError:
                continue  # e.g. a member that has no assignment yet
            Renaming(version, prefix, inward=isinstance(message, Request)).rename(embedded)
            setattr(struct, name, write_embedded(embedded, version, rest))
        return Forward(message)

    def _kind(self, ctx: Context, message: Request | Response) -> str | None:
        """The protocol type of a group. A member names it when it joins, and when it syncs only in newer versions."""
        key = self.services.name
        if isinstance(message, JoinGroupRequest | SyncGroupRequest):
            kinds: dict[str, str] = ctx.connection.notes.setdefault(key, {})
            if isinstance(message, JoinGroupRequest):
                if len(kinds) >= MOST:
                    kinds.clear()
                kinds[message.group_id] = message.protocol_type
            ctx.notes[key] = message.protocol_type or kinds.get(message.group_id)
        return ctx.notes.get(key)

    def _prefix(self, ctx: Context) -> str:
        return self.options.prefixes[ctx.connection.listener]


class Renaming:
    """The topics of one message, on their way in to the broker or out to the client."""

    def __init__(self, version: int, prefix: str, *, inward: bool) -> None:
        self._version = version
        self._prefix = prefix
        self._inward = inward

    def rename(self, struct: Struct) -> bool:
        """Rename all topics in a struct. False: it is about another tenant's topic."""
        return all(self._field(struct, field) for field in leading(type(struct), *RENAMED))

    def _field(self, struct: Struct, field: Any) -> bool:
        value = getattr(struct, field.name)
        if value is None or not field.present(self._version):
            return True
        if isinstance(value, Struct):
            return self.rename(value)
        if field.meaning is Meaning.ERROR_MESSAGE:
            renamed = value if self._inward else value.replace(self._prefix, "")
        elif field.meaning is Meaning.RESOURCE_NAME and getattr(struct, "resource_type", None) != TOPIC:
            return True
        elif field.meaning is None:
            renamed = [each for each in turns(value) if self.rename(each)]
        elif field.is_array:
            renamed = [name for each in turns(value) if (name := self._name(each)) is not None]
        else:
            renamed = self._name(value)
        setattr(struct, field.name, renamed)
        return renamed is not None

    def _name(self, name: str) -> str | None:
        if self._inward:
            return self._prefix + name
        return name.removeprefix(self._prefix) if name.startswith(self._prefix) else None


def refused(ctx: Context, request: Request, error: ErrorCode) -> Decision:
    """Refuse with an answer, or end the connection: Produce with acks 0 has no answer."""
    answer = refuse(ctx.api, ctx.version, request, error)
    if answer is None:
        return Disconnect(f"{ctx.api.name} v{ctx.version} is refused to tenants")
    return Reply(answer)


def told_by_members(message: Request | Response, kind: str | None) -> Iterator[tuple[Struct, str, type[Any]]]:
    """The fields in which consumers tell each other something: struct, field, embedded type. `kind`: the group's."""
    if isinstance(message, DescribeGroupsResponse):
        for group in message.groups:
            for member in group.members if group.protocol_type == CONSUMER else ():
                yield member, "member_metadata", ConsumerSubscription
                yield member, "member_assignment", ConsumerAssignment
    elif kind != CONSUMER:
        return
    elif isinstance(message, JoinGroupRequest | JoinGroupResponse):
        told = message.protocols if isinstance(message, JoinGroupRequest) else message.members
        yield from ((each, "metadata", ConsumerSubscription) for each in told)
    elif isinstance(message, SyncGroupRequest):
        yield from ((each, "assignment", ConsumerAssignment) for each in message.assignments)
    else:
        yield message, "assignment", ConsumerAssignment


@cache
def newest_offered(api: Api) -> int:
    """The newest version in which all topics have names; -1 where there is none."""
    by_name = [version for version in api.versions if speaks_by_name(api, version)]
    return -1 if api in NOT_OFFERED or not by_name else by_name[-1]


def speaks_by_name(api: Api, version: int) -> bool:
    """Whether this version has no request with ids or expressions, and no answer with ids alone."""
    asked, told = meanings(api.request, version), meanings(api.response, version)
    unclear = {Meaning.TOPIC_ID, Meaning.TOPIC_REGEX}
    return not any(unclear & there for there in asked) and not any(
        Meaning.TOPIC_ID in there and Meaning.TOPIC_NAME not in there for there in told
    )


def meanings(cls: type[Struct], version: int) -> list[set[Meaning | None]]:
    """The meanings of the fields that this version has, one set for this struct and one for each struct inside."""
    present = [field for field in cls.fields if field.present(version)]
    inside = [there for field in present if isinstance(field.kind, type) for there in meanings(field.kind, version)]
    return [{field.meaning for field in present}, *inside]
