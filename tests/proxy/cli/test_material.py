"""The input of `decode`."""

import pytest

from proxy.cli.material import MaterialError, api, frames, is_one_frame, json_line, kind, unhex
from proxy.protocol.api import METADATA, PRODUCE


def test_an_api_has_a_name_and_a_key() -> None:
    assert api("produce") is api(0) is PRODUCE
    with pytest.raises(MaterialError, match='did you mean "Produce"'):
        api("Prodce")
    with pytest.raises(MaterialError, match="keys are 0 to "):
        api(1000)


def test_a_kind_is_an_api_and_a_version() -> None:
    assert kind("request", "Metadata:12") == kind("request", "3:12")
    assert kind("request", "Metadata:12").api is METADATA


def test_hex_is_read_as_people_paste_it() -> None:
    for text in ("0003 ab", "00:03:AB", "0x0003ab", "\\x00\\x03\\xab", "00\n03\nab"):
        assert unhex(text) == b"\x00\x03\xab"


def test_frames_carry_their_sizes() -> None:
    assert list(frames(b"\0\0\0\1a\0\0\0\2bc")) == [("frame 1", b"a"), ("frame 2", b"bc")]


def test_a_request_without_its_size_is_told_from_a_cut_one() -> None:
    assert is_one_frame(b"\0\3\0\1rest", None)
    assert is_one_frame(b"\0\0\0\x09produce v9 after its size", None)
    assert not is_one_frame(b"\0\0\0\x40cut", None)
    assert not is_one_frame(b"\0\0\0\3abc", None)


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ('{"api": 3, "version": 1, "hex": "", "api": 4}', '"api" stands in one object twice'),
        ('{"api": 3, "version": 1, "hex": "", "base64": ""}', 'both "hex" and "base64" stand in one line'),
        ('{"api": true, "version": 1, "hex": ""}', '"api" is true; write a name or a key'),
        ('{"api": null, "version": 1, "hex": ""}', '"api" is null; write a name or a key'),
    ],
)
def test_a_line_that_could_mean_two_things_is_told(line: str, complaint: str) -> None:
    with pytest.raises(MaterialError, match=complaint):
        json_line(line, "line 1")
