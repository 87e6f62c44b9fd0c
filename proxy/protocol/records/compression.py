"""Compression of records: the four codecs that Kafka knows, and a limit on the decompressed size.

Rules:
* No claim about the decompressed size is trusted. The output is counted as it comes, from small pieces of input. A
  decompression bomb is refused at the first piece that passes the limit: up to 32 MiB too late, but never as a whole.
* In a fiber, other connections have their turn between pieces of much data, in both directions.
* All forms that Kafka reads are read: snappy with or without xerial's framing, and several gzip members, lz4 or zstd
  frames in a row.
* A stream that breaks off is an error, even if all of its data came before the break.
* Data is written as Kafka's own producer writes it: snappy framed, in blocks of 32 KiB, and lz4 in independent blocks
  of 64 KiB.

Sources: org.apache.kafka.common.compress, xerial's SnappyOutputStream, RFC 1952, RFC 8878, the LZ4 frame format.
"""

import struct
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator
from enum import IntEnum
from itertools import chain
from typing import Any, NamedTuple

import cramjam
import lz4.frame
import zstandard

from proxy.protocol.fiber import rest
from proxy.protocol.problem import ProtocolError

LIMIT = 100 << 20  # bytes of one batch when decompressed; a broker takes no larger frame either

_FRAMES = 1000  # a producer writes one; to start one costs us more than it costs the sender
_MUCH = 1 << 20  # bytes that come out in 1 to 10 ms
_PIECE = 256 << 10  # bytes that are compressed at a time, in up to 10 ms
_GZIP = 16 + zlib.MAX_WBITS  # for zlib this means: with gzip's header and checksum
_SIZE = struct.Struct(">i")
_XERIAL = struct.pack(">8sii", b"\x82SNAPPY\0", 1, 1)
_XERIAL_BLOCK = 32 << 10

_BROKEN = (zlib.error, zstandard.ZstdError, cramjam.DecompressionError, RuntimeError)  # lz4 raises the last


class CompressionType(IntEnum):
    """Bits 0 to 2 of a batch's attributes."""

    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4


class _Stream(NamedTuple):
    """A codec whose library decompresses piece by piece."""

    decoder: Callable[[], Any]
    piece: int  # bytes of input at a time, so that at most 32 MiB come out


# gzip grows data up to 1,032 times, lz4 up to 255 times; four bytes of zstd may be a block of 128 KiB.
_STREAMS = {
    CompressionType.GZIP: _Stream(lambda: zlib.decompressobj(_GZIP), 16 << 10),
    CompressionType.LZ4: _Stream(lz4.frame.LZ4FrameDecompressor, 64 << 10),
    CompressionType.ZSTD: _Stream(lambda: zstandard.ZstdDecompressor().decompressobj(), 1 << 10),
}


def compression_type(codec: int) -> CompressionType:
    """The codec of this number. Raises ProtocolError if Kafka has none."""
    try:
        return CompressionType(codec)
    except ValueError:
        raise ProtocolError(f"there is no compression type {codec}") from None


def decompress(codec: int, data: memoryview, limit: int = LIMIT) -> memoryview:
    """The decompressed `data`; with codec 0, `data` itself.

    Raises ProtocolError for an unknown codec, for broken data, and for more than `limit` bytes of output.
    """
    kind = compression_type(codec)
    if kind is CompressionType.NONE:
        return data
    chunks = _snappy(data, limit) if kind is CompressionType.SNAPPY else _frames(_STREAMS[kind], data)
    try:
        return memoryview(_within(limit, chunks))
    except _BROKEN as error:
        raise ProtocolError(f"the {kind.name.lower()} data is broken: {error}") from error


def compress(codec: int, data: bytes | memoryview) -> bytes:
    """Compress as Kafka's producer does, at its default level. Raises ProtocolError for an unknown codec."""
    pieces = _pieces(memoryview(data))
    match compression_type(codec):
        case CompressionType.NONE:
            return bytes(data)
        case CompressionType.GZIP:
            chunks = _compressed(zlib.compressobj(wbits=_GZIP), pieces)
        case CompressionType.SNAPPY:
            chunks = _xerial(pieces)
        case CompressionType.LZ4:
            encoder = lz4.frame.LZ4FrameCompressor(block_size=lz4.frame.BLOCKSIZE_MAX64KB, block_linked=False)
            chunks = chain((encoder.begin(),), _compressed(encoder, pieces))
        case CompressionType.ZSTD:
            chunks = _compressed(zstandard.ZstdCompressor().compressobj(size=len(data)), pieces)
    return b"".join(chunks)


def _within(limit: int, chunks: Iterable[bytes]) -> bytes:
    kept = []
    size, rests_at = 0, _MUCH
    for chunk in chunks:
        size += len(chunk)
        if size > limit:
            raise ProtocolError(f"the records are more than {limit:,} bytes when decompressed")
        kept.append(chunk)
        if size >= rests_at:
            rest()
            rests_at = size + _MUCH
    return kept[0] if len(kept) == 1 else b"".join(kept)


def _frames(stream: _Stream, data: memoryview) -> Iterator[bytes]:
    for _ in range(_FRAMES):
        taken = yield from _frame(stream.decoder(), stream.piece, data)
        data = data[taken:]
        if not data:
            return
    raise ProtocolError(f"the compressed data has more than {_FRAMES} frames")


def _frame(decoder: Any, piece: int, data: memoryview) -> Generator[bytes, None, int]:
    """The chunks of the first frame in `data`; returns how many bytes of `data` it took."""
    taken = 0
    while not decoder.eof:
        if taken >= len(data):
            raise ProtocolError("the compressed data breaks off")
        yield decoder.decompress(data[taken : taken + piece])
        taken = min(taken + piece, len(data))
    return taken - len(decoder.unused_data or b"")


def _snappy(data: memoryview, limit: int) -> Iterator[bytes]:
    if data[:8] != _XERIAL[:8]:
        yield _snappy_block(data, limit)  # from librdkafka, and from others that do not use xerial's framing
        return
    at = len(_XERIAL)
    while at < len(data):
        if at + 4 > len(data):
            raise ProtocolError("the compressed data breaks off")
        (size,) = _SIZE.unpack_from(data, at)
        at += 4
        if not 0 <= size <= len(data) - at:
            raise ProtocolError(f"a snappy block of {size} bytes does not fit the data")
        yield _snappy_block(data[at : at + size], limit)
        at += size


def _snappy_block(block: memoryview, limit: int) -> bytes:
    size: int = cramjam.snappy.decompress_raw_len(block)  # allocated at once, before a byte of the block is read
    if size > limit:
        raise ProtocolError(f"the records are more than {limit:,} bytes when decompressed")
    return bytes(cramjam.snappy.decompress_raw(block))


def _pieces(data: memoryview) -> Iterator[memoryview]:
    for start in range(0, len(data), _PIECE):
        if start:
            rest()
        yield data[start : start + _PIECE]


def _compressed(encoder: Any, pieces: Iterable[memoryview]) -> Iterator[bytes]:
    for piece in pieces:
        yield encoder.compress(piece)
    yield encoder.flush()


def _xerial(pieces: Iterable[memoryview]) -> Iterator[bytes]:
    yield _XERIAL
    for piece in pieces:
        for start in range(0, len(piece), _XERIAL_BLOCK):
            block = bytes(cramjam.snappy.compress_raw(piece[start : start + _XERIAL_BLOCK]))
            yield _SIZE.pack(len(block))
            yield block
