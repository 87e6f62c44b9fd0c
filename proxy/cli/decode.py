"""`doorkeeper decode`: bytes of the Kafka protocol, in words.

Rules:
* A bad message does not keep the others from being shown. It gives one line on standard error, and exit code 1.
  After ten such lines, one more line says how many other messages were bad.
* How a message is shown: `decoded.py`.
"""

import sys
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator
from typing import BinaryIO

import click

from proxy.cli.decoded import decoded
from proxy.cli.given import ReadFile
from proxy.cli.material import (
    MaterialError,
    MessageSide,
    MessageType,
    Piece,
    frames,
    is_one_frame,
    json_line,
    kind,
    unhex,
)
from proxy.protocol import ProtocolError
from proxy.text.bounded import read_bounded
from proxy.text.words import printable

MOST_TOLD = 10  # bad messages that have a line of their own
HEX_AND_SPACE = frozenset(b"0123456789abcdefABCDEFx\\: \t\r\n")

EPILOG = """\b
Examples:
  doorkeeper decode 00000012 0003 0001 00000007 0004 74657374 ffffffff
  doorkeeper decode --file requests.bin
  doorkeeper decode --file answers.bin --response Metadata:12
  doorkeeper decode --bare --request ApiVersions:3 '02 61 02 62 00'
  xxd -p requests.bin | doorkeeper decode
  echo '{"api": "Metadata", "version": 1, "side": "request", "hex": "ffffffff"}' | doorkeeper decode --json
\b
Frames of requests say what they are. Responses do not: tell which request they answer with --response.
A JSON line has a body without header, and may name the API or give its key; "base64" may stand for "hex".
\b
Exit code: 0 if everything was readable, 1 if not (a line on standard error says where and why).
"""


@click.command("decode", epilog=EPILOG)
@click.argument("digits", nargs=-1, metavar="[HEX]...")
@click.option("-f", "--file", type=ReadFile("rb"), help="Read a file of frames, as they are on the wire.")
@click.option("--request", metavar="API:VERSION", help="These are requests; needed with --bare only.")
@click.option("--response", metavar="API:VERSION", help="These are responses to this API and version.")
@click.option("--bare", is_flag=True, help="There is neither size nor header: the bytes are one body.")
@click.option("--json", "as_json", is_flag=True, help="Print Kafka's own JSON notation, one message a line.")
@click.option("--secrets", is_flag=True, help="Show passwords, tokens and keys too, instead of ***.")
def command(
    digits: tuple[str, ...],
    file: BinaryIO | None,
    request: str | None,
    response: str | None,
    bare: bool,
    as_json: bool,
    secrets: bool,
) -> None:
    """Show what bytes of the Kafka protocol say.

    The bytes come as HEX, as a file of frames, or on standard input: hex, frames, or JSON lines.
    """
    if request and response:
        raise click.UsageError("--request and --response exclude each other")
    if bare and not (request or response):
        raise click.UsageError("--bare needs --request or --response: a body does not say what it is")
    if digits and file:
        raise click.UsageError("give either HEX or --file")
    try:
        known = _known("request", request) or _known("response", response)
        if digits:
            pieces = _pieces(unhex("".join(digits)), known, bare, sized=False)
        elif file:
            pieces = _pieces(read_bounded(file), known, bare, sized=True)
        else:
            pieces = _from_stdin(known, bare)
    except MaterialError as error:
        raise click.UsageError(str(error)) from None
    sys.exit(_show(pieces, as_json, secrets))


def _known(side: MessageSide, text: str | None) -> MessageType | None:
    return kind(side, text) if text else None


def _from_stdin(known: MessageType | None, bare: bool) -> Iterator[Piece | MaterialError]:
    stdin = sys.stdin.buffer
    if stdin.isatty():
        raise MaterialError("nothing to decode; give HEX, --file, or standard input")
    data = read_bounded(stdin).removeprefix(BOM_UTF8)  # as the size of a frame it would be negative
    if data.lstrip().startswith(b"{"):
        lines = enumerate(data.decode(errors="replace").splitlines(), 1)
        return (_line_or_error(text, f"line {number}") for number, text in lines if text.strip())
    if all(byte in HEX_AND_SPACE for byte in data):
        return _pieces(unhex(data.decode()), known, bare, sized=False)
    return _pieces(data, known, bare, sized=True)


def _pieces(data: bytes, known: MessageType | None, bare: bool, sized: bool) -> Iterator[Piece | MaterialError]:
    """The messages of the input, and an error in place of each bad one. `sized`: each frame starts with its size."""
    if not data:
        yield MaterialError("there is nothing to decode; give the bytes of a frame")
    elif bare:
        yield Piece("body", data, known, bare=True)
    elif not sized and is_one_frame(data, known):
        yield Piece("frame", data, known)
    else:
        try:
            for label, frame in frames(data):
                yield Piece(label, frame, known)
        except MaterialError as error:
            yield error


def _line_or_error(text: str, label: str) -> Piece | MaterialError:
    try:
        return json_line(text, label)
    except MaterialError as error:
        return MaterialError(f"{label}: {error}")


def _show(pieces: Iterable[Piece | MaterialError], as_json: bool, secrets: bool) -> int:
    """Print every piece. Returns the exit code."""
    bad = 0
    for piece in pieces:
        try:
            if isinstance(piece, MaterialError):
                raise piece
            found = decoded(piece, secrets)
        except (MaterialError, ProtocolError) as error:
            bad += 1
            if bad <= MOST_TOLD:
                click.echo(printable(f"{piece.label}: {error}" if isinstance(piece, Piece) else str(error)), err=True)
        else:
            click.echo(found.line if as_json else found.text)
    if bad > MOST_TOLD:
        click.echo(f"{bad - MOST_TOLD:,} more could not be read; the first {MOST_TOLD} are told above", err=True)
    return 1 if bad else 0
