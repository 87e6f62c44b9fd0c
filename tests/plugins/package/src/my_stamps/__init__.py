"""Two plugins of Doorkeeper: one with options, and one without."""

from pydantic import Field

from proxy.plugin import (
    PRODUCE,
    By,
    Context,
    Decision,
    Disconnect,
    ErrorCode,
    Forward,
    Header,
    Outcome,
    Plugin,
    ProduceRequest,
    ProtocolError,
    Record,
    Reply,
    Services,
    on_outcome,
    on_request,
    refuse,
    rewrite_records,
)


class Stamp(Plugin):
    """Stamps every record with a header."""

    class Options(Plugin.Options):
        """What is stamped."""

        text: str = Field(description="What the header `stamp` says.", examples=["seen"])

    @on_request(ProduceRequest, fields="topic_data")
    def produced(self, ctx: Context, request: ProduceRequest) -> Decision:
        """Stamp all of them."""
        try:
            for topic in request.topic_data:
                for partition in topic.partition_data:
                    partition.records = rewrite_records(partition.records or b"", self._stamped)
        except ProtocolError:
            answer = refuse(ctx.api, ctx.version, request, ErrorCode.INVALID_RECORD)
            return Disconnect("records that cannot be read") if answer is None else Reply(answer)
        return Forward(request)

    def _stamped(self, record: Record) -> Record:
        return record._replace(headers=(*record.headers, Header("stamp", self.options.text.encode())))


class Produced(Plugin):
    """Counts the requests that wrote something, and says so in the end."""

    def __init__(self, options: Plugin.Options, services: Services) -> None:
        super().__init__(options, services)
        self._count = services.counter("requests", "Produce requests that a broker answered.")

    def start(self) -> None:
        """Say that it begins."""
        self.services.tell("counting begins", worker=self.services.worker)

    def stop(self) -> None:
        """Say that it ends."""
        self.services.tell("counting ends", worker=self.services.worker)

    @on_outcome(PRODUCE)
    def ended(self, ctx: Context, outcome: Outcome) -> None:
        """Count."""
        if outcome.by is By.BROKER:
            self._count.add()
