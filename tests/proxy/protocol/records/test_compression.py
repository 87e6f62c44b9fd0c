"""Compression: every codec in both directions, data of other writers, and decompression bombs."""

import gzip
import zlib
from contextlib import suppress

import cramjam
import lz4.frame
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from proxy.protocol.fiber import in_slices
from proxy.protocol.problem import ProtocolError
from proxy.protocol.records.compression import CompressionType, compress, decompress

CODECS = [codec for codec in CompressionType if codec is not CompressionType.NONE]
FRAMED = [CompressionType.GZIP, CompressionType.LZ4, CompressionType.ZSTD]
BOMB = 64 << 20


def bomb(codec: CompressionType) -> bytes:
    """64 MiB of nothing, as small as the codec makes it."""
    return compress(codec, bytes(BOMB))


def read(codec: int, data: bytes, limit: int = 1 << 20) -> bytes:
    return bytes(decompress(codec, memoryview(data), limit))


@given(st.sampled_from(CompressionType), st.binary(max_size=2000), st.integers(0, 200))
def test_what_is_compressed_comes_back(codec: CompressionType, data: bytes, times: int) -> None:
    assert read(codec, compress(codec, data * times)) == data * times


def test_without_a_codec_the_bytes_are_the_same() -> None:
    data = memoryview(b"plain")
    assert decompress(0, data) is data


@pytest.mark.parametrize("codec", [5, 6, 7])
def test_an_unknown_codec_is_refused(codec: int) -> None:
    with pytest.raises(ProtocolError, match=f"no compression type {codec}"):
        read(codec, b"data")
    with pytest.raises(ProtocolError, match=f"no compression type {codec}"):
        compress(codec, b"data")


@pytest.mark.parametrize("codec", FRAMED)
def test_several_frames_are_read_as_one(codec: CompressionType) -> None:
    assert read(codec, compress(codec, b"one, ") + compress(codec, b"two")) == b"one, two"


@pytest.mark.parametrize("codec", FRAMED)
def test_thousands_of_frames_are_refused(codec: CompressionType) -> None:
    with pytest.raises(ProtocolError, match="more than 1000 frames"):
        read(codec, compress(codec, b"") * 1001)


@pytest.mark.parametrize("codec", FRAMED)
def test_a_stream_that_breaks_off_is_refused(codec: CompressionType) -> None:
    whole = compress(codec, b"not much to say, and that several times" * 3)
    for cut in range(len(whole)):
        with pytest.raises(ProtocolError, match=r"breaks off|is broken"):
            read(codec, whole[:cut])


@pytest.mark.parametrize("codec", CODECS)
def test_a_bomb_is_refused(codec: CompressionType) -> None:
    with pytest.raises(ProtocolError, match="more than 1,048,576 bytes when decompressed"):
        read(codec, bomb(codec))


@pytest.mark.parametrize("codec", FRAMED)
def test_a_bomb_in_many_frames_is_refused(codec: CompressionType) -> None:
    with pytest.raises(ProtocolError, match="more than 1,048,576 bytes when decompressed"):
        read(codec, compress(codec, bytes(10_000)) * 200)


@pytest.mark.parametrize("codec", CODECS)
def test_others_have_their_turn_while_much_is_decompressed(codec: CompressionType) -> None:
    data = memoryview(compress(codec, bytes(48 << 20)))
    assert len(list(in_slices(decompress, codec, data))) > 1


@pytest.mark.parametrize("codec", CODECS)
def test_others_have_their_turn_while_much_is_compressed(codec: CompressionType) -> None:
    assert len(list(in_slices(compress, codec, bytes(4 << 20)))) > 10


@pytest.mark.parametrize("size", [0, 1, 300, 65_536, 1 << 20, 3_000_000])
def test_what_is_compressed_in_pieces_is_read_by_the_libraries_at_once(size: int) -> None:
    data = bytes(n * n >> 7 & 0xFF for n in range(1000)) * (size // 1000 + 1)
    data = data[:size]
    assert gzip.decompress(compress(CompressionType.GZIP, data)) == data
    in_zstd, in_lz4 = compress(CompressionType.ZSTD, data), compress(CompressionType.LZ4, data)
    assert zstandard.ZstdDecompressor().decompress(in_zstd) == data  # needs to know the size
    assert len(in_zstd) <= len(zstandard.ZstdCompressor().compress(data)) * 1.01
    assert lz4.frame.decompress(in_lz4) == data
    layout = lz4.frame.get_frame_info(in_lz4)
    assert (layout["block_size"], layout["block_linked"], layout["content_size"]) == (64 << 10, False, 0)


@pytest.mark.parametrize("codec", CODECS)
def test_exactly_the_limit_is_read(codec: CompressionType) -> None:
    assert len(read(codec, compress(codec, bytes(1 << 20)))) == 1 << 20


@pytest.mark.parametrize("claimed", [b"\xff\xff\xff\xff\x0f", b"\xff\xff\xff\xff\xff\x0f", b"\x80\x80\x80\x01"])
def test_a_snappy_block_is_not_believed(claimed: bytes) -> None:
    with pytest.raises(ProtocolError, match=r"when decompressed|broken"):
        read(CompressionType.SNAPPY, claimed + b"\x00a", limit=1 << 20)


def test_a_bare_snappy_block_is_read() -> None:
    assert read(CompressionType.SNAPPY, bytes(cramjam.snappy.compress_raw(b"librdkafka" * 9))) == b"librdkafka" * 9


def test_framed_snappy_is_written_in_blocks() -> None:
    written = compress(CompressionType.SNAPPY, bytes(100_000))
    assert written.startswith(b"\x82SNAPPY\x00\x00\x00\x00\x01\x00\x00\x00\x01")
    assert len(read(CompressionType.SNAPPY, written)) == 100_000


@pytest.mark.parametrize("tail", [b"\0", b"\0\0\0\x09abc", b"\xff\xff\xff\xffabc", b"\0\0\0\x03abc"])
def test_a_snappy_frame_that_breaks_off_is_refused(tail: bytes) -> None:
    with pytest.raises(ProtocolError, match=r"breaks off|does not fit|broken"):
        read(CompressionType.SNAPPY, compress(CompressionType.SNAPPY, b"data") + tail)


def test_other_writers_gzip_is_read() -> None:
    assert read(CompressionType.GZIP, gzip.compress(b"python's", 9)) == b"python's"


def test_zlib_without_gzips_header_is_refused() -> None:
    with pytest.raises(ProtocolError, match="gzip data is broken"):
        read(CompressionType.GZIP, zlib.compress(b"data"))


def test_lz4_with_linked_blocks_and_a_size_is_read() -> None:
    data = bytes(range(256)) * 1000
    written = lz4.frame.compress(data, block_linked=True, store_size=True, content_checksum=True)
    assert read(CompressionType.LZ4, written) == data


def test_zstd_is_read_with_and_without_its_size() -> None:
    writer = zstandard.ZstdCompressor(level=19).compressobj()
    assert read(CompressionType.ZSTD, writer.compress(b"streamed") + writer.flush()) == b"streamed"
    assert read(CompressionType.ZSTD, zstandard.ZstdCompressor().compress(b"at once")) == b"at once"


def test_a_zstd_size_is_not_believed() -> None:
    written = bytearray(zstandard.ZstdCompressor().compress(bytes(300)))
    assert written[4] & 0xC0 == 0x40  # the frame says its size, in two bytes, less 256
    written[5:7] = b"\xff\xff"
    with pytest.raises(ProtocolError, match=r"zstd data is broken|breaks off"):
        read(CompressionType.ZSTD, bytes(written))


@given(st.sampled_from(CODECS), st.binary(max_size=300))
def test_any_bytes_give_bytes_or_a_protocol_error(codec: CompressionType, data: bytes) -> None:
    with suppress(ProtocolError):
        read(codec, data)


@given(st.sampled_from(CODECS), st.binary(max_size=300), st.integers(0, 1000), st.integers(0, 255))
def test_mutated_streams_give_bytes_or_a_protocol_error(
    codec: CompressionType, data: bytes, place: int, byte: int
) -> None:
    written = bytearray(compress(codec, data * 3))
    written[place % len(written)] = byte
    with suppress(ProtocolError):
        read(codec, bytes(written))
