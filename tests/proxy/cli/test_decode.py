"""`doorkeeper decode`: bytes as messages."""

import base64
import json
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from proxy.cli import main
from proxy.protocol import to_json
from proxy.protocol.header import request_frame, response_frame
from proxy.protocol.messages.metadata import MetadataRequest, MetadataResponse
from proxy.protocol.messages.sasl_authenticate import SaslAuthenticateRequest

ASK = request_frame(MetadataRequest(topics=None), 1, correlation_id=7, client_id="test")
BROKER = MetadataResponse.Broker(node_id=1, host="kafka-1", port=9092)
ANSWER = response_frame(MetadataResponse(brokers=[BROKER], topics=[]), 0, correlation_id=7)
READABLE = 'Metadata v1 request, correlation id 7, client id "test"\n  topics: null\n'


def decode(*arguments: str, stdin: bytes = b"") -> Result:
    return CliRunner().invoke(main, ["decode", *arguments], input=stdin)


@pytest.mark.parametrize("data", [ASK, ASK[4:]], ids=["with its size", "without"])
def test_hex_of_a_request_is_readable(data: bytes) -> None:
    for digits in ([data.hex()], [data.hex(" ")], data.hex(" ").split(), ["0x" + data.hex(":")]):
        result = decode(*digits)
        assert (result.exit_code, result.stdout) == (0, READABLE)


def test_what_brokers_ignore_is_told_and_the_message_shown() -> None:
    result = decode("--bare", "--request", "Metadata:13", "00000000 010000")
    assert result.exit_code == 0
    assert "topics: null" in result.stdout
    assert result.stderr == "Metadata request v13: 3 bytes more, which are ignored\n"


def test_hex_may_come_on_standard_input() -> None:
    assert decode(stdin=ASK.hex("\n").encode()).stdout == READABLE


@pytest.mark.parametrize("from_file", [True, False])
def test_frames_are_shown_one_after_the_other(from_file: bool, tmp_path: Path) -> None:
    (tmp_path / "frames.bin").write_bytes(ASK * 3)
    result = decode("--file", str(tmp_path / "frames.bin")) if from_file else decode(stdin=ASK * 3)
    assert (result.exit_code, result.stdout) == (0, READABLE * 3)


def test_json_of_a_frame_is_like_a_line_of_a_brokers_request_log() -> None:
    result = decode("--json", ASK.hex())
    assert json.loads(result.stdout) == {
        "requestHeader": {"requestApiKey": 3, "requestApiVersion": 1, "correlationId": 7, "clientId": "test"},
        "request": {"topics": None},
    }


@pytest.mark.parametrize("name", ["Metadata:0", "metadata:0", "3:0"])
def test_a_response_needs_to_be_told_its_api_and_version(name: str) -> None:
    result = decode("--json", "--response", name, ANSWER.hex())
    shown = json.loads(result.stdout)
    assert shown["responseHeader"] == {"correlationId": 7}
    assert shown["response"]["brokers"] == [{"nodeId": 1, "host": "kafka-1", "port": 9092}]


def test_a_bare_body_gives_its_message_alone() -> None:
    result = decode("--json", "--bare", "--response", "Metadata:0", ANSWER[8:].hex())
    assert json.loads(result.stdout)["brokers"][0]["host"] == "kafka-1"


@pytest.mark.parametrize("encoding", ["hex", "base64"])
@pytest.mark.parametrize("api", ["Metadata", 3])
def test_json_lines_say_what_they_are(encoding: str, api: object) -> None:
    body = ASK[-4:]
    text = body.hex() if encoding == "hex" else base64.b64encode(body).decode()
    line = json.dumps({"api": api, "version": 1, "side": "request", encoding: text})
    result = decode("--json", stdin=f"{line}\n\n{line}\n".encode())
    assert result.exit_code == 0
    assert [json.loads(shown) for shown in result.stdout.splitlines()] == [to_json(MetadataRequest(topics=None), 1)] * 2


@pytest.mark.parametrize("text", ['{"api": 3, "version": 1, "hex": "ffffffff"}\r\n', f"{ASK.hex()}\r\n"])
def test_text_may_begin_with_a_byte_order_mark(text: str) -> None:
    result = decode(stdin=text.encode("utf-8-sig"))
    assert result.exit_code == 0
    assert result.stdout.startswith("Metadata v1 request")


def test_a_bad_line_is_told_and_the_others_are_shown() -> None:
    good = '{"api": 3, "version": 1, "hex": "ffffffff"}'
    lines = [
        good,
        '{"api": "Metadat", "version": 1, "hex": ""}',
        '{"api": 3, "version": 1, "hex": "ffff"}',
        '{"api": 3, "version": 1, "hex": "f"}',
        '{"api": 3, "version": 1, "base64": "?"}',
        '{"api": 3, "version": "1", "hex": ""}',
        '{"api": 3, "version": 1, "side": "both", "hex": ""}',
        '{"api": 3}',
        "[",
        good,
    ]
    result = decode("--json", stdin="\n".join(lines).encode())
    assert result.exit_code == 1
    assert result.stdout == '{"topics":null}\n' * 2
    told = result.stderr.splitlines()
    assert [line.split(":")[0] for line in told] == [f"line {number}" for number in range(2, 10)]
    assert told[0] == 'line 2: unknown API "Metadat"; did you mean "Metadata"?'
    assert told[1].startswith("line 3: Metadata request v1: topics ")


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (ASK[:-1], "frame 1 at byte 0 says 18 bytes where 17 are left; give whole frames"),
        (ASK + ASK[:9], "frame 2 at byte 22 says 18 bytes where 5 are left; give whole frames"),
        (ASK + b"\0\0", "frame 2 at byte 22 ends within its size; give whole frames"),
        (b"\xff\xff\xff\xff", "frame 1 at byte 0 says -1 bytes where 0 are left; give whole frames"),
        (b"\0\0\0\0", "frame 1: a request has 8 bytes at the least, at byte 0"),
        (b"", "there is nothing to decode; give the bytes of a frame"),
    ],
)
def test_bytes_that_are_no_frames_are_one_line(data: bytes, told: str, tmp_path: Path) -> None:
    (tmp_path / "frames.bin").write_bytes(data)
    result = decode("--file", str(tmp_path / "frames.bin"))
    assert result.exit_code == 1
    assert result.stderr.splitlines() == [told]


def test_of_many_bad_frames_the_first_are_told_and_the_others_counted(tmp_path: Path) -> None:
    (tmp_path / "frames.bin").write_bytes(bytes(40_000) + ASK)
    result = decode("--file", str(tmp_path / "frames.bin"))
    assert result.exit_code == 1
    assert result.stdout == READABLE
    *told, last = result.stderr.splitlines()
    assert [line.split(":")[0] for line in told] == [f"frame {number}" for number in range(1, 11)]
    assert last == "9,990 more could not be read; the first 10 are told above"


@pytest.mark.parametrize(
    "arguments",
    [
        ["xyz"],
        ["abc"],
        ["--response", "Metadata", "00"],
        ["--response", "Metadat:1", "00"],
        ["--response", "Metadata:x", "00"],
        ["--bare", "00"],
        ["--request", "3:1", "--response", "3:1", "00"],
    ],
)
def test_a_wrong_use_is_told_as_such(arguments: list[str]) -> None:
    result = decode(*arguments)
    assert result.exit_code == 2
    assert "Error: " in result.stderr


def test_a_version_that_does_not_exist_is_one_line() -> None:
    result = decode("--bare", "--request", "Metadata:99", "00")
    assert result.exit_code == 1
    assert result.stderr == "body: Metadata request: knows versions 0 to 13, not 99\n"


@given(st.binary(max_size=60) | st.binary(max_size=40).map(lambda tail: ASK[:12] + tail))
def test_any_bytes_give_a_message_or_lines(data: bytes) -> None:
    for arguments in ([], ["--response", "Metadata:12"], ["--bare", "--request", "Produce:9"]):
        result = decode(*arguments, stdin=data)
        assert result.exit_code in (0, 1, 2), data
        assert result.exception is None or isinstance(result.exception, SystemExit)
        assert result.exit_code == 0 or result.stderr


@pytest.mark.parametrize("length", range(len(ANSWER)))
def test_a_cut_answer_never_gives_more_than_a_line(length: int) -> None:
    result = decode("--response", "Metadata:0", ANSWER[:length].hex() or "0")
    assert result.exit_code in (1, 2)
    assert "Traceback" not in result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)


def test_what_is_secret_is_shown_only_where_it_is_asked_for() -> None:
    plain = request_frame(SaslAuthenticateRequest(auth_bytes=b"\0alice\0hunter2"), 2, correlation_id=7, client_id=None)
    for more in ([], ["--json"]):
        assert "***" in decode(*more, plain.hex()).stdout
        assert "AGFsaWNlAGh1bnRlcjI=" not in decode(*more, plain.hex()).stdout
        assert "AGFsaWNlAGh1bnRlcjI=" in decode(*more, "--secrets", plain.hex()).stdout


HOSTILE = "é\x1b[2J\x9b2J\u202e\u2028\x85\x7f"  # a letter, and what moves a terminal's cursor


def test_what_strangers_wrote_moves_no_cursor() -> None:
    topics = [MetadataRequest.Topic(name=HOSTILE)]
    frame = request_frame(MetadataRequest(topics=topics), 1, correlation_id=7, client_id=HOSTILE).hex()
    text, line = decode(frame).stdout, decode("--json", frame).stdout
    assert all(shown.isprintable() for shown in (*text.split("\n"), *line.split("\n")))
    title, fields = text.split("\n", 1)
    assert json.loads(title.partition("client id ")[2]) == HOSTILE
    assert yaml.safe_load(fields) == {"topics": [{"name": HOSTILE}]}
    said = json.loads(line)
    assert (said["requestHeader"]["clientId"], said["request"]["topics"]) == (HOSTILE, [{"name": HOSTILE}])


def test_letters_of_any_language_are_shown_as_they_are() -> None:
    topics = [MetadataRequest.Topic(name="日本")]
    frame = request_frame(MetadataRequest(topics=topics), 1, correlation_id=7, client_id="é").hex()
    for result in (decode(frame), decode("--json", frame)):
        assert "é" in result.stdout
        assert "日本" in result.stdout


def test_what_strangers_wrote_moves_no_cursor_where_a_line_is_bad() -> None:
    for bad in ({HOSTILE: 1}, {"api": HOSTILE, "version": 1, "hex": ""}, {"api": 3, "version": 1, "side": HOSTILE}):
        result = decode(stdin=json.dumps(bad, ensure_ascii=False).encode())
        assert all(line.isprintable() for line in result.stderr.split("\n"))
    twice = f'{{"{HOSTILE}": 1, "{HOSTILE}": 2}}'.replace("\x1b", "").replace("\x85", "").replace("\u2028", "")
    told = decode(stdin=twice.encode()).stderr
    assert r"\x9b2J\u202e" in told
    assert told.rstrip("\n").isprintable()
