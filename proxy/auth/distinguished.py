"""Distinguished names: the subject of a certificate, as Java writes it (RFC 2253) and as Kafka's rules see it.

Rules:
* The last part comes first: "CN=alice,OU=people,O=Example".
* Nine kinds of part have a word; any other is written as its number, with its value in hexadecimal ("2.5.4.5=#130131").
* A character with a meaning in such a name gets a backslash.
* Only DER is read, each value in its one encoding. Text is read as UTF-8 whatever its kind, as Java does. Text that is
  then no name (`sasl/name.py`) is refused.
"""

from __future__ import annotations

from collections.abc import Iterator

from proxy.core.sasl.name import ClaimError, name

# Characters of a whole name. Rules are matched against it, and many patterns go back over a name again and again. The
# one in Kafka's documentation, with six parts, takes up to 16 ms for 256 characters, 140 for 400, and 1.5 s for 1,100.
LONGEST = 256
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
LONG = 0x80  # a length of more than one byte
HIGH = 0x1F  # a kind of more than one byte
OID, SEQUENCE, SET, VERSION = 0x06, 0x30, 0x31, 0xA0
SUBJECT = 4  # the index of the subject among a certificate's fields, not counting its version


def subject(certificate: bytes) -> bytes:
    """The subject of a certificate, in the very bytes that the certificate authority signed. Raises ValueError."""
    signed, _, _ = _elements(_only(certificate, SEQUENCE))
    fields = [(kind, data) for kind, data, _ in _elements(_only(signed[1], SEQUENCE))]
    return fields[SUBJECT + (fields[0][0] == VERSION)][1]


def distinguished_name(subject: bytes) -> str:
    """A certificate's subject, from its DER bytes. Raises ValueError for bytes that are none, or no name."""
    parts = [_only(part, SET) for _, part, _ in _elements(_only(subject, SEQUENCE))]
    written = ["+".join(_attribute(_only(each, SEQUENCE)) for _, each, _ in _elements(part)) for part in parts]
    whole = ",".join(reversed(written))
    if not all(written) or not 0 < len(whole) <= LONGEST:
        raise ClaimError(f"it is empty, in whole or in part, or longer than {LONGEST:,} characters")
    return whole


def _only(data: bytes, wanted: int) -> bytes:
    """The contents of data that is one element of the wanted kind."""
    ((kind, _, content),) = _elements(data)
    if kind != wanted:
        raise ValueError(f"an element of the kind {kind:#04x} where {wanted:#04x} belongs")
    return content


def _attribute(data: bytes) -> str:
    (oid, _, number), (kind, value, text) = _elements(data)
    if oid != OID:
        raise ValueError("a part of the name has no number")
    dotted = _dotted(number)
    word = WORDS.get(dotted)
    if word is None or kind not in TEXTS:
        return f"{word or dotted}=#{value.hex()}"
    return f"{word}={''.join(map(_escaped, name(text)))}"


def _escaped(character: str) -> str:
    return "\\" + character if character in SPECIAL else character


def _dotted(data: bytes) -> str:
    numbers, number = [], 0
    for byte in data:
        if byte == LONG and not number:
            raise ValueError("a number with a leading zero in a name")
        number = number << 7 | byte & 0x7F
        if not byte & LONG:
            numbers.append(number)
            number = 0
    if not numbers or data[-1] & LONG:
        raise ValueError("a number that breaks off in a name")
    first = min(numbers[0] // 40, 2)
    return ".".join(map(str, (first, numbers[0] - 40 * first, *numbers[1:])))


def _elements(data: bytes) -> Iterator[tuple[int, bytes, bytes]]:
    """The elements that follow each other: the kind of each, all its bytes, its contents."""
    position = 0
    while position < len(data):
        start, kind, length = position, data[position], int.from_bytes(data[position + 1 : position + 2])
        position += 2
        if kind & HIGH == HIGH:
            raise ValueError("an element of an unknown kind")
        if length & LONG:
            size = length & ~LONG
            length = int.from_bytes(data[position : position + size])
            if length < LONG or length.bit_length() <= 8 * (size - 1):
                raise ValueError("a length that is not written as short as it could be")
            position += size
        end = position + length
        if end > len(data):
            raise ValueError(f"a name breaks off at byte {len(data)}")
        yield kind, data[start:end], data[position:end]
        position = end
