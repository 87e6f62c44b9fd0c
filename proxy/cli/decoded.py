"""Decoded: one message of what `doorkeeper decode` is given, and how it is shown.

Rules:
* As JSON a frame gives {"requestHeader": ..., "request": ...}, as a broker's request log has it. A bare body gives its
  message alone.
* Output is pasted into tickets, so secrets are shown as "***" unless the user asks for them.
* Strangers wrote what is shown, so characters that move a terminal's cursor are escaped, as JSON and YAML do it.
"""

import json
from typing import Any, NamedTuple

import click
import yaml

from proxy.cli.material import MessageType, Piece
from proxy.protocol import to_json
from proxy.protocol.api import APIS
from proxy.protocol.codec import decode_prefix
from proxy.protocol.header import read_request_header, read_response_header
from proxy.protocol.schema import Message
from proxy.text.words import printable_json

JSON = dict[str, Any]


class DecodedMessage(NamedTuple):
    """A message in Kafka's JSON notation, and its header, which is empty for a bare body."""

    of: MessageType
    message: JSON
    header: JSON

    @property
    def line(self) -> str:
        """The message as JSON on one line."""
        side = self.of.side
        value = {f"{side}Header": self.header, side: self.message} if self.header else self.message
        return _json(value, separators=(",", ":"))

    @property
    def text(self) -> str:
        """One line that names the message, and its fields below as YAML."""
        of, header = self.of, self.header
        title = f"{of.api.name} v{of.version} {of.side}"
        if "correlationId" in header:
            title += f", correlation id {header['correlationId']}"
        if header.get("clientId") is not None:
            title += f", client id {_json(header['clientId'])}"
        if not self.message:
            return f"{title}, no fields"
        is_readable = json.dumps(self.message, ensure_ascii=False).isprintable()  # otherwise all but ASCII is escaped
        fields = yaml.safe_dump(self.message, sort_keys=False, allow_unicode=is_readable, width=100)
        return f"{title}\n" + "".join(f"  {line}\n" for line in fields.splitlines()).rstrip("\n")


def decoded(piece: Piece, secrets: bool) -> DecodedMessage:
    """The message in this piece. Raises ProtocolError."""
    of = piece.kind
    if of is not None and piece.bare:
        return DecodedMessage(of, _message(of, piece.data, secrets), {})
    if of is not None and of.side == "response":
        answer, offset = read_response_header(of.api, of.version, piece.data)
        message = _message(of, piece.data[offset:], secrets)
        return DecodedMessage(of, message, to_json(answer, of.api.response_header(of.version)))
    header, offset = read_request_header(piece.data)
    of = MessageType("request", APIS[header.request_api_key], header.request_api_version)
    message = _message(of, piece.data[offset:], secrets)
    return DecodedMessage(of, message, to_json(header, of.api.request_header(of.version)))


def _message(of: MessageType, body: bytes, secrets: bool) -> JSON:
    cls: type[Message] = of.api.request if of.side == "request" else of.api.response
    message, end = decode_prefix(cls, of.version, body, 0)
    if end < len(body):
        click.echo(f"{cls.title()} v{of.version}: {len(body) - end} bytes more, which are ignored", err=True)
    return to_json(message, of.version, secrets=secrets)


def _json(value: Any, **more: Any) -> str:
    return printable_json(json.dumps(value, ensure_ascii=False, **more))
