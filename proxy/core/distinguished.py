"""Distinguished names: whom a certificate is about, as Java writes it (RFC 2253) and as Kafka's rules see it.

Rules:
* The last part comes first: "CN=alice,OU=people,O=Example".
* Nine kinds of part have a word; any other is its number, and its value in hexadecimal ("2.5.4.5=#130131").
* What would be read as more than text gets a backslash, as do spaces at either end.
"""

from __future__ import annotations

from collections.abc import Iterator

WORDS = {
    "2.5.4.3": "CN",
    "2.5.4.6": "C",
    "2.5.4.7": "L",
    "2.5.4.8": "ST",
    "2.5.4.9": "STREET",
    "2.5.4.10": "O",
    "2.5.4.11": "OU",
    "0.9.2342.19200300.100.1.1": "UID",
    "0.9.2342.19200300.100.1.25": "DC",
}
# DER's kinds of text: UTF8String, PrintableString, T61String, IA5String, GeneralString, BMPString.
TEXTS = frozenset({0x0C, 0x13, 0x14, 0x16, 0x1B, 0x1E})
SPECIAL = frozenset(',=+<>#;"\\')
SPACES = " \r"
LONG = 0x80  # a length of more than one byte
OID = 0x06


def distinguished_name(subject: bytes) -> str:
    """A certificate's subject, from its DER bytes. Raises ValueError for bytes that are none."""
    ((_, _, parts),) = _elements(subject)
    written = ["+".join(map(_attribute, _contents(part))) for _, _, part in _elements(parts)]
    return ",".join(reversed(written))


def _contents(part: bytes) -> Iterator[bytes]:
    return (content for _, _, content in _elements(part))


def _attribute(data: bytes) -> str:
    (oid, _, number), (kind, value, text) = _elements(data)
    if oid != OID:
        raise ValueError("a part of the name has no number")
    dotted = _dotted(number)
    word = WORDS.get(dotted)
    if word is None or kind not in TEXTS:
        return f"{word or dotted}=#{value.hex()}"
    return f"{word}={_escaped(text.decode('utf-8', 'replace'))}"  # Java reads every kind as UTF-8


def _escaped(text: str) -> str:
    leading = len(text) - len(text.lstrip(SPACES))
    trailing = len(text.rstrip(SPACES))
    written = []
    for position, character in enumerate(text):
        if character == "\0":
            written.append("\\00")
        elif character in SPECIAL or position < leading or position >= trailing:
            written.append("\\" + character)
        else:
            written.append(character)
    return "".join(written)


def _dotted(data: bytes) -> str:
    numbers, number = [], 0
    for byte in data:
        number = number << 7 | byte & 0x7F
        if not byte & 0x80:
            numbers.append(number)
            number = 0
    if not numbers:
        raise ValueError("an empty number in a name")
    first = min(numbers[0] // 40, 2)
    return ".".join(map(str, (first, numbers[0] - 40 * first, *numbers[1:])))


def _elements(data: bytes) -> Iterator[tuple[int, bytes, bytes]]:
    """The elements that follow each other: the kind of each, all its bytes, its contents."""
    position = 0
    while position < len(data):
        start, kind, length = position, data[position], int.from_bytes(data[position + 1 : position + 2])
        position += 2
        if length & LONG:
            size = length & ~LONG
            length = int.from_bytes(data[position : position + size])
            position += size
        end = position + length
        if end > len(data):
            raise ValueError(f"a name breaks off at byte {len(data)}")
        yield kind, data[start:end], data[position:end]
        position = end
