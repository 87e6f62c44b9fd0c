"""A splitter gives the same frames for whole input, single bytes and any pieces, and shows each to the same reader."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.protocol.frame import HOLD, REQUEST_HEAD, SIZE, Buffer, Hold, Reader
from proxy.protocol.problem import Fault
from proxy.protocol.splitter import NO_LIMIT, Splitter

BIG = 100_000


def frame(number: int, length: int = 20, api: int = 3) -> bytes:
    return REQUEST_HEAD.pack(length, api << 16 | 1, number) + bytes((number + i) % 251 for i in range(length - 8))


class Whole:
    """Gets whole frames, and answers with what `say` gives."""

    whole: Literal[True] = True

    def __init__(self, say: Callable[[bytes], Any] = lambda frame: None) -> None:
        self.frames: list[bytes] = []
        self.say = say

    def read(self, span: memoryview, last: bool) -> Any:
        assert last
        self.frames.append(bytes(span))
        return self.say(self.frames[-1])


class Spans:
    """Gets frames span by span, and skips so many bytes after each, or as many as it may."""

    whole: Literal[False] = False

    def __init__(self, skips: int = 0) -> None:
        self.seen = b""
        self.frames = 0
        self.skipped = 0
        self._most = skips

    def read(self, span: memoryview, last: bool) -> Any:
        self.seen += span
        self.frames += last

    def skips(self, left: int) -> int:
        skipped = min(self._most, left - 1)
        self.skipped += skipped
        return skipped


class Refusing(Spans):
    """Says at once that its frame may not pass, though it need not see the rest."""

    def read(self, span: memoryview, last: bool) -> Any:
        super().read(span, last)
        return Hold([b"!"])


class Stream:
    """A splitter whose wanted frames are those of api 7, and everything that left it."""

    def __init__(self, reader: Reader | None = None, longest: int = NO_LIMIT) -> None:
        self.met: list[int] = []
        self.reader = reader
        self.splitter = Splitter(REQUEST_HEAD, self.meet, Fault.CLIENT, longest=longest)
        self.out = b""
        self.kept = 0

    def meet(self, head: tuple[int, int, int], data: memoryview, pos: int) -> Reader | None:
        assert REQUEST_HEAD.unpack_from(data, pos) == head
        if head[1] >> 16 == 7 and self.reader is HOLD:
            return HOLD
        self.met.append(head[2])
        return self.reader if head[1] >> 16 == 7 else None

    def feed(self, data: bytes, step: int = NO_LIMIT) -> "Stream":
        for start in range(0, len(data), step):
            lent = memoryview(bytearray(data[start : start + step]))
            spans = self.splitter.feed(lent)
            self.leave([lent] if spans is None else spans)
        return self

    def leave(self, spans: Sequence[Buffer]) -> None:
        self.out += b"".join(map(bytes, spans))


@pytest.mark.parametrize("step", [1, 2, 3, 11, 12, 13, 50, NO_LIMIT])
def test_what_nobody_wants_leaves_as_it_came(step: int) -> None:
    data = frame(1) + frame(2, 8) + frame(3, 5000) + frame(4)
    stream = Stream().feed(data, step)
    assert stream.out == data
    assert stream.met == [1, 2, 3, 4]
    assert stream.splitter.between


def test_a_chunk_that_nobody_wants_leaves_in_one_piece_without_a_copy() -> None:
    splitter = Stream().splitter
    assert splitter.feed(memoryview(frame(1) + frame(2) + frame(3, BIG)[:500])) is None
    assert splitter.feed(memoryview(frame(3, BIG)[500:1000])) is None


def test_of_a_cut_head_only_the_head_is_kept() -> None:
    stream = Stream()
    stream.feed(frame(1) + frame(2)[:11])
    assert stream.out == frame(1)
    stream.feed(frame(2)[11:13])
    assert stream.out == frame(1) + frame(2)[:13], "the rest of the head came with what was kept of it"


def test_a_large_frame_says_how_much_of_it_is_to_come() -> None:
    stream = Stream().feed(frame(1, BIG)[:1000])
    assert stream.splitter.lacking == BIG + SIZE.size - 1000
    stream.feed(frame(1, BIG)[1000:-4])
    assert stream.splitter.lacking == 4
    stream.feed(frame(1, BIG)[-4:] + frame(2))
    assert stream.met == [1, 2]
    assert stream.splitter.lacking == 0


@pytest.mark.parametrize("step", [1, 12, 13, 50, NO_LIMIT])
def test_a_wanted_frame_is_read_whole_and_what_it_became_takes_its_place(step: int) -> None:
    reader = Whole(lambda frame: [b"<", b">"])
    stream = Stream(reader).feed(frame(1) + frame(2, 30, api=7) + frame(3) + frame(4, 30, api=7), step)
    assert stream.out == frame(1) + b"<>" + frame(3) + b"<>"
    assert reader.frames == [frame(2, 30, api=7), frame(4, 30, api=7)]


@pytest.mark.parametrize("step", [1, 12, 13, 50, NO_LIMIT])
def test_a_wanted_frame_that_stays_leaves_as_it_came(step: int) -> None:
    data = frame(1) + frame(2, 30, api=7) + frame(3)
    assert Stream(Whole()).feed(data, step).out == data


def test_a_wanted_frame_that_stays_does_not_cut_the_chunk() -> None:
    assert Stream(Whole()).splitter.feed(memoryview(frame(1) + frame(2, 30, api=7) + frame(3))) is None


def test_nothing_of_a_wanted_frame_leaves_before_it_is_whole() -> None:
    stream = Stream(Whole()).feed(frame(1) + frame(2, 30, api=7)[:-1])
    assert stream.out == frame(1)


@pytest.mark.parametrize("step", [1, 12, 13, 50, NO_LIMIT])
def test_a_reader_of_spans_sees_its_frame_while_it_passes(step: int) -> None:
    reader = Spans()
    data = frame(1) + frame(2, 300, api=7) + frame(3)
    stream = Stream(reader).feed(data, step)
    assert stream.out == data
    assert stream.met == [1, 2, 3]
    assert reader.frames == 1
    assert reader.seen == frame(2, 300, api=7)


@pytest.mark.parametrize(("skips", "seen"), [(0, 300), (10, 240), (50, 150), (NO_LIMIT, 26 + 1)])
def test_what_a_reader_of_spans_skips_passes_without_being_shown(skips: int, seen: int) -> None:
    reader, wanted = Spans(skips), frame(2, 296, api=7)
    data = frame(1) + wanted + frame(3)
    stream = Stream(reader).feed(data, 50)
    assert stream.out == data
    assert stream.met == [1, 2, 3]
    assert reader.frames == 1
    assert (len(reader.seen), reader.skipped) == (seen, len(wanted) - seen)
    assert reader.seen[-1:] == wanted[-1:]


def test_of_a_frame_that_its_reader_refuses_nothing_more_leaves() -> None:
    wanted = frame(2, BIG, api=7)
    stream = Stream(Refusing(NO_LIMIT)).feed(frame(1) + wanted[:50])
    stream.feed(wanted[50:] + frame(3), 1000)
    assert stream.out == frame(1) + b"!"
    assert stream.met == [1, 2]


@pytest.mark.parametrize("step", [1, 13, NO_LIMIT])
def test_a_frame_that_waits_holds_up_all_that_follows(step: int) -> None:
    stream = Stream(Whole(lambda frame: HOLD)).feed(frame(1) + frame(2, api=7) + frame(3) + frame(4), step)
    assert stream.out == frame(1)
    assert stream.splitter.held is not None
    stream.leave(stream.splitter.resume([b"?"]))
    assert stream.out == frame(1) + b"?" + frame(3) + frame(4)
    assert stream.splitter.held is None


@pytest.mark.parametrize("step", [1, 13, NO_LIMIT])
def test_a_frame_that_must_not_begin_yet_is_met_again(step: int) -> None:
    stream = Stream(HOLD).feed(frame(1) + frame(2, api=7) + frame(3), step)
    assert stream.out == frame(1)
    stream.reader = None
    stream.leave(stream.splitter.resume())
    assert stream.out == frame(1) + frame(2, api=7) + frame(3)
    assert stream.met == [1, 2, 3]


@pytest.mark.parametrize("step", [1, 13, NO_LIMIT])
def test_a_frame_that_its_reader_gives_back_is_met_again_whole(step: int) -> None:
    def later(said: bytes) -> Any:
        stream.splitter.give_back(memoryview(bytearray(said)))
        return HOLD

    stream = Stream(reader := Whole(later))
    stream.feed(frame(1) + frame(2, api=7) + frame(3), step)
    assert stream.out == frame(1)
    assert stream.splitter.kept == 2 * len(frame(2))
    reader.say = lambda said: [said + b"!"]
    stream.leave(stream.splitter.resume())
    assert stream.out == frame(1) + frame(2, api=7) + b"!" + frame(3)
    assert reader.frames == [frame(2, api=7)] * 2
    assert stream.splitter.kept == 0


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (SIZE.pack(-1), "a frame of -1 bytes cannot be"),
        (SIZE.pack(7), "a frame of 7 bytes cannot be"),
        (SIZE.pack(5001), "a frame of 5,001 bytes, over the limit of 5,000"),
        (b"GET / HTTP/1.1\r\n", "this is HTTP, not Kafka"),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", "this is TLS, not Kafka"),
        (b"SSH-2.0-OpenSSH", "this is SSH, not Kafka"),
    ],
)
@pytest.mark.parametrize("step", [1, NO_LIMIT])
def test_what_is_no_frame_ends_the_stream(data: bytes, why: str, step: int) -> None:
    stream = Stream(longest=5000).feed(frame(1) + data, step)
    assert stream.out == frame(1), "what came before still leaves"
    assert str(stream.splitter.problem) == why
    assert stream.splitter.held is not None


@pytest.mark.parametrize("began", [b"", frame(1)[:5], frame(1, BIG)[:100], frame(1, 30, api=7)[:20]])
def test_of_what_comes_after_it_was_closed_nothing_is_kept_or_met(began: bytes) -> None:
    stream = Stream(Whole()).feed(began)
    out, met = stream.out, list(stream.met)
    stream.splitter.close()
    stream.feed(frame(2) + frame(3, api=7) + b"not Kafka" + frame(4, BIG)[:-1], 1).feed(frame(5))
    assert (stream.out, stream.met) == (out, met)
    assert stream.splitter.kept == stream.splitter.lacking == 0
    assert stream.splitter.problem is None


def test_it_has_begun_when_a_whole_frame_came() -> None:
    stream = Stream().feed(frame(1, 50)[:30])
    assert not stream.splitter.begun
    assert stream.feed(frame(1, 50)[30:]).splitter.begun
    assert Stream().feed(frame(1)).splitter.begun
    assert Stream(Whole()).feed(frame(1, api=7)).splitter.begun


@given(
    frames=st.lists(st.tuples(st.integers(8, 60), st.sampled_from([3, 7])), max_size=8),
    cuts=st.lists(st.integers(0, 400), max_size=12),
    kind=st.sampled_from(["nobody", "whole", "spans", "skipping", "skipping all"]),
)
def test_how_a_stream_is_cut_makes_no_difference(frames: list[tuple[int, int]], cuts: list[int], kind: str) -> None:
    data = b"".join(frame(number, length, api) for number, (length, api) in enumerate(frames))
    readers: dict[str, Callable[[], Reader | None]] = {
        "nobody": lambda: None,
        "whole": lambda: Whole(lambda frame: None if len(frame) % 2 else [frame[::-1]]),
        "spans": Spans,
        "skipping": lambda: Spans(7),
        "skipping all": lambda: Spans(NO_LIMIT),
    }
    whole, pieces = Stream(readers[kind]()).feed(data), Stream(readers[kind]())
    edges = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    for start, end in pairwise(edges):
        pieces.feed(data[start:end])
    assert pieces.out == whole.out
    assert pieces.met == whole.met == list(range(len(frames)))


@pytest.mark.parametrize("answer", [None, HOLD, Whole()])
def test_every_frame_is_met_once(answer: Reader | None) -> None:
    met: list[int] = []

    def meet(head: tuple[int, int, int], data: memoryview, pos: int) -> Reader | None:
        met.append(head[2])
        return answer if head[2] == 2 else None

    splitter = Splitter(REQUEST_HEAD, meet, Fault.CLIENT)
    for number in (1, 2):
        splitter.feed(memoryview(frame(number)))
    assert met == [1, 2]
