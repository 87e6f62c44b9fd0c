"""A header is added to every record that clients produce.

    - add_header: {name: origin, value: berlin}

Rules:
* A record keeps the headers that it has, also one of this name: consumers take the last.
* Records that cannot have headers, those before Kafka 0.11, are refused, and so are records that cannot be read.
"""

from pydantic import Field

from proxy.plugin import (
    Context,
    Decision,
    Disconnect,
    ErrorCode,
    Forward,
    Header,
    MessageSetError,
    Plugin,
    ProduceRequest,
    ProtocolError,
    Record,
    Reply,
    Services,
    on_request,
    refuse,
    rewrite_records,
    turns,
)


class AddHeader(Plugin):
    """Add a header to every record that clients produce."""

    class Options(Plugin.Options):
        """The header."""

        name: str = Field(description="What the header is called.", examples=["origin"])
        value: str = Field(description="What it says.", examples=["berlin"])

    def __init__(self, options: Options, services: Services) -> None:
        super().__init__(options, services)
        self._header = Header(options.name, options.value.encode())
        self._added = services.counter("headers", "Headers added.", unit="{record}")

    @on_request(ProduceRequest, fields="topic_data")
    def produced(self, ctx: Context, request: ProduceRequest) -> Decision:
        """Add it, in all partitions of all topics."""
        try:
            for topic in turns(request.topic_data):
                for partition in turns(topic.partition_data):
                    if partition.records is not None:
                        partition.records = rewrite_records(partition.records, self._with_header)
        except MessageSetError:
            return self._refused(ctx, request, ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT)
        except ProtocolError:
            return self._refused(ctx, request, ErrorCode.CORRUPT_MESSAGE)
        return Forward(request)

    def _with_header(self, record: Record) -> Record:
        self._added.add()
        return record._replace(headers=(*record.headers, self._header))

    def _refused(self, ctx: Context, request: ProduceRequest, error: ErrorCode) -> Decision:
        self.services.tell("records not taken", ctx.connection, level="warning", about=error, why=error.name)
        answer = refuse(ctx.api, ctx.version, request, error)
        return Disconnect("records could not be changed") if answer is None else Reply(answer)  # None: acks 0
