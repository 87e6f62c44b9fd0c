"""One record of a batch: key, value, headers, offset and timestamp.

Rules:
* A record is read in place: keys and values are slices of the batch. Copy what must last.
* Its length must be exactly that of its fields; a length or a count is checked before it is used.
* On the wire, offset and timestamp are differences to the batch's; here they are absolute.
* A header's name that is not UTF-8 passes as it came (surrogateescape): Kafka stores such names.

Source: KIP-98; org.apache.kafka.common.record.DefaultRecord, and ByteUtils for the varints.
"""

from collections.abc import Iterator
from typing import NamedTuple

from proxy.protocol.problem import Fault, ProtocolError

NEXT = -1  # as an offset: one more than that of the record before
NO_TIMESTAMP = -1

LEAST_RECORD = 7  # bytes of a record: length, attributes, two differences, null key, null value, no headers


class Header(NamedTuple):
    """A name and a value beside a record, set by its producer."""

    name: str
    value: bytes | memoryview | None


class Record(NamedTuple):
    """One record, as a producer sent it and a consumer gets it."""

    key: bytes | memoryview | None
    value: bytes | memoryview | None
    headers: tuple[Header, ...] = ()
    timestamp: int = NO_TIMESTAMP  # milliseconds since 1970
    offset: int = NEXT


def read_records(data: memoryview, count: int, base_offset: int, base_timestamp: int) -> Iterator[Record]:
    """The `count` records that fill `data` to its last byte. Raises ProtocolError if they do not."""
    if count * LEAST_RECORD > len(data):
        raise ProtocolError(f"{count} records do not fit {len(data)} bytes")
    at = 0
    for index in range(count):
        try:
            record, at = _record(data, at, base_offset, base_timestamp)
        except IndexError:
            raise ProtocolError(f"record {index} of {count} ends past the batch") from None
        except ProtocolError as error:
            raise ProtocolError(f"record {index} of {count}: {error.what}") from None
        yield record
    if at != len(data):
        raise ProtocolError(f"{len(data) - at} bytes are left after {count} records")


def write_record(out: bytearray, record: Record, base_offset: int, base_timestamp: int) -> None:
    """Append a record to those of a batch. Raises ProtocolError for a value that no record can have."""
    body = bytearray(1)
    _write_varint(body, record.timestamp - base_timestamp, 64)
    _write_varint(body, record.offset - base_offset, 32)
    _write_bytes(body, record.key)
    _write_bytes(body, record.value)
    _write_varint(body, len(record.headers), 32)
    for name, value in record.headers:
        _write_bytes(body, name.encode("utf-8", "surrogateescape"))
        _write_bytes(body, value)
    _write_varint(out, len(body), 32)
    out += body


def _record(data: memoryview, at: int, base_offset: int, base_timestamp: int) -> tuple[Record, int]:
    """The record at this position, and the position after it."""
    size, at = _varint(data, at)
    end = at + size
    if size < 0 or end > len(data):
        raise ProtocolError(f"its length of {size} does not fit the batch")
    timestamp, at = _varlong(data, at + 1)  # after the attributes, of which no bit is in use
    offset, at = _varint(data, at)
    key, at = _bytes(data, at, end)
    value, at = _bytes(data, at, end)
    headers, at = _headers(data, at, end)
    if at != end:
        raise ProtocolError(f"its length is {size}, its fields take {size + at - end}")
    return Record(key, value, headers, base_timestamp + timestamp, base_offset + offset), at


def _bytes(data: memoryview, at: int, end: int) -> tuple[memoryview | None, int]:
    size, at = _varint(data, at)
    if size < 0:
        return None, at
    if size > end - at:
        raise ProtocolError(f"a key, value or header of {size} bytes ends past it")
    return data[at : at + size], at + size


def _headers(data: memoryview, at: int, end: int) -> tuple[tuple[Header, ...], int]:
    count, at = _varint(data, at)
    if count == 0:
        return (), at
    if not 0 < count <= (end - at) // 2:  # a header has two lengths at least
        raise ProtocolError(f"{count} headers do not fit it")
    headers = []
    for _ in range(count):
        name, at = _bytes(data, at, end)
        if name is None:
            raise ProtocolError("a header has no name")
        value, at = _bytes(data, at, end)
        headers.append(Header(str(name, "utf-8", "surrogateescape"), value))
    return tuple(headers), at


def _varint(data: memoryview, at: int) -> tuple[int, int]:
    """A zigzag number of 32 bits, and the position after it. Most take one byte."""
    number = data[at]
    if number < 0x80:
        return (number >> 1) ^ -(number & 1), at + 1
    return _long(data, at, 32)


def _varlong(data: memoryview, at: int) -> tuple[int, int]:
    number = data[at]
    if number < 0x80:
        return (number >> 1) ^ -(number & 1), at + 1
    return _long(data, at, 64)


def _long(data: memoryview, at: int, bits: int) -> tuple[int, int]:
    number = 0
    for shift in range(0, bits, 7):
        byte = data[at]
        at += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            number &= (1 << bits) - 1  # as Java's shift does: bits that do not fit are lost
            return (number >> 1) ^ -(number & 1), at
    raise ProtocolError(f"a varint is longer than {bits} bits")


def _write_varint(out: bytearray, number: int, bits: int) -> None:
    if not -(1 << bits - 1) <= number < 1 << bits - 1:
        raise ProtocolError(f"{number} does not fit {bits} bits", fault=Fault.OURS, field="records")
    number = (number << 1) ^ (number >> bits - 1)
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)


def _write_bytes(out: bytearray, value: bytes | memoryview | None) -> None:
    if value is None:
        out.append(1)  # -1, as a varint
        return
    _write_varint(out, len(value), 32)
    out += value
