"""ApiVersions: clients get the versions that both the broker and the proxy speak.

Rules:
* The broker gets the client's own request first. It judges the client's software name (KIP-511), cluster id and node id
  (KIP-1242), and its features are passed on unchanged (KIP-584).
* A range is the broker's, cut at the newest version that the proxy can read. Its beginning stays: brokers 4.x advertise
  Produce from 0 on although 3 is their oldest, since librdkafka stops compressing otherwise (KAFKA-18659).
* APIs between brokers and controllers are not advertised.
* This plugin stands last. A plugin that cannot honour a range narrows it with `@on_response(ApiVersionsResponse)`.
* A request of the proxy itself that arrives from a client went in a circle: it gets an error, and is not passed on.
* A request in a version that the proxy does not know is answered in v0 with UNSUPPORTED_VERSION and the range of this
  one API (KIP-511). So is an unreadable request in a version that the broker does not know: the broker would not read
  it either.
"""

from __future__ import annotations

from proxy.plugin import (
    API_VERSIONS,
    APIS,
    JOIN_GROUP,
    LEAVE_GROUP,
    SYNC_GROUP,
    ApiVersionsRequest,
    ApiVersionsResponse,
    Ask,
    Context,
    Decision,
    ErrorCode,
    Plugin,
    ProtocolError,
    Reply,
    Steps,
    on_request,
    on_unreadable,
    on_unsupported,
)

LOOP = ErrorCode.DUPLICATE_RESOURCE  # no broker gives it here
LONGEST = 255  # characters kept of a client's software name, which may fill its frame
OURS = "doorkeeper"  # the name under which the proxy itself asks
WITHOUT_FEATURES = 2  # the newest version whose answer librdkafka's mock cluster can write
# The newest versions that this mock cluster reads and writes as Kafka does. It claims newer ones, though it has no
# ApiVersions v3. No release of Kafka does that: the newer versions came with 2.4, as ApiVersions v3 did.
READ_BY_MOCK = {JOIN_GROUP.key: 5, SYNC_GROUP.key: 3, LEAVE_GROUP.key: 2}


class ApiVersions(Plugin):
    """Advertise what both the broker and the proxy speak."""

    class Options(Plugin.Options):
        """`mark`: the client id of this proxy itself."""

        mark: str | None = None

    options: Options

    @on_request(ApiVersionsRequest)
    def negotiate(self, ctx: Context, request: ApiVersionsRequest) -> Steps:
        """Ask the broker, and answer with the ranges that both speak."""
        mark = self.options.mark
        if mark is not None and ctx.client_id == mark:
            return Reply(ApiVersionsResponse(error_code=LOOP, api_keys=[]))
        if ctx.version > WITHOUT_FEATURES:
            ctx.connection.software_name = request.client_software_name[:LONGEST]
            ctx.connection.software_version = request.client_software_version[:LONGEST]
        try:
            response = yield Ask(request, ctx.version)
        except ProtocolError:
            response = yield Ask(request, min(ctx.version, WITHOUT_FEATURES))
        if response.error_code == ErrorCode.UNSUPPORTED_VERSION and ctx.version:
            response = yield Ask(request, min(ctx.version, newest(response)))
        leave_out_misread(response)
        spoken = {it.api_key: (it.min_version, it.max_version) for it in response.api_keys if it.api_key in APIS}
        ctx.connection.broker_versions = spoken
        response.api_keys = common(response.api_keys)
        return Reply(response)

    @on_unreadable(ApiVersionsRequest)
    def unread(self, ctx: Context) -> Steps:
        """Ask the broker whether it knows this version."""
        response = yield Ask(ApiVersionsRequest(client_software_name=OURS, client_software_version="1"), ctx.version)
        return Reply(response, version=0) if response.error_code == ErrorCode.UNSUPPORTED_VERSION else None

    @on_unsupported(ApiVersionsRequest)
    def unknown_version(self, ctx: Context) -> Decision:
        """The client's version is newer than the proxy's."""
        ours = ApiVersionsResponse.ApiVersion(api_key=API_VERSIONS.key, min_version=0, max_version=API_VERSIONS.newest)
        return Reply(ApiVersionsResponse(error_code=ErrorCode.UNSUPPORTED_VERSION, api_keys=[ours]), version=0)


def newest(response: ApiVersionsResponse) -> int:
    """The newest version of ApiVersions itself that a broker advertised; brokers before 2.4 do not say (0)."""
    return next((entry.max_version for entry in response.api_keys if entry.api_key == API_VERSIONS.key), 0)


def leave_out_misread(response: ApiVersionsResponse) -> None:
    """Lower the versions that the mock cluster claims but misreads: kafka-python and Java could join no group."""
    if newest(response) <= WITHOUT_FEATURES:
        for entry in response.api_keys:
            entry.max_version = min(entry.max_version, READ_BY_MOCK.get(entry.api_key, entry.max_version))


def common(theirs: list[ApiVersionsResponse.ApiVersion]) -> list[ApiVersionsResponse.ApiVersion]:
    """The part of the broker's ranges that the proxy speaks too, without APIs between brokers."""
    ours = []
    for entry in theirs:
        api = APIS.get(entry.api_key)
        if api is None or api.inter_broker or entry.min_version > api.newest:
            continue
        entry.max_version = min(entry.max_version, api.newest)
        ours.append(entry)
    return ours
