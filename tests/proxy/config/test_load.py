"""Every mistake in a file is reported at once, with its place, a fact and a way out."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.config import Config, examine, load
from proxy.config.load import examine_text
from proxy.text.problems import BadFileError

GOOD = """\
clusters:
  main: {bootstrap: [kafka-1:9092]}
listeners:
  clients:
    cluster: main
    bind: 0.0.0.0:9192
    advertise: kafka.example.com
"""
MAIN = "{bootstrap: [kafka-1:9092]}"
LISTENERS = "{clients: {cluster: main, bind: 0.0.0.0:9192, advertise: kafka.example.com}}"
START = 'begin with "clusters:" and "listeners:" (doorkeeper run --help shows a whole file)'
# What breaks a file in interesting ways.
PIECES = ["", " ", "\n", "\t", ":", ": ", "- ", "[", "]", "{", "}", '"', "'", "#", "&a ", "*a", "!!str ", "? ", "| "]
PIECES += ["${A}", "${B}", "${", "$", "---\n", "...\n", "%YAML 1.2\n", "~", "1", "x" * 99, "\x00", "\u2028", "\ud800"]


def instead(old: str, new: str, text: str = GOOD) -> str:
    assert old in text
    return text.replace(old, new)


def with_also(lines: str) -> str:
    """The good file, and more from its line 8 on."""
    return GOOD + lines


MISTAKES: dict[str, tuple[str, list[str]]] = {
    # what the file is as a whole
    "an empty file": ("", [f"1:1: the file is empty; {START}"]),
    "only a comment": ("# nothing\n", [f"1:1: the file is empty; {START}"]),
    "a list": ("- a\n", [f"1:1: the file is no mapping of options; {START}"]),
    "a second document": (with_also("---\na: 1\n"), ["8:1: a second document begins here; give it a file of its own"]),
    # YAML
    "a tab": ("clusters:\n\tmain: x\n", ["2:1: a tab stands where YAML wants spaces; indent with spaces"]),
    "an open quote": ('clusters: "abc\nlisteners:\n', ["1:11: a quote opens here and is never closed; close it"]),
    "an open list": (
        instead("9092]}", "9092}"),
        ['2:21: a list opens here and is never closed; add "]" or a ","'],
    ),
    "an open mapping": (
        instead("9092]}", "9092]"),
        ['2:9: a mapping opens here and is never closed; add "}" or a ","'],
    ),
    "an indent that fits nowhere": (
        "clusters:\n  main: {}\n other: {}\n",
        ["3:2: the indent fits no line above; align it with its neighbours"],
    ),
    "two colons in a line": (
        "clusters: main: x\n",
        ['1:15: a ":" stands where no option can begin; check the indent, or quote the value'],
    ),
    "a value that begins with an at sign": (
        "clusters: @x\n",
        ['1:11: an "@" cannot begin a value; put the value in quotes'],
    ),
    "a control character": (
        "clusters:\n  main: \x01\n",
        ["2:9: a control character stands here; remove it"],
    ),
    "an unknown escape": ('a: "\\q"\n', ['1:4: an unknown "\\" in double quotes; use single quotes']),
    "a value that begins with a colon": (
        instead("kafka-1:9092", "::1:9092"),
        ["2:22: no value can begin like this; put it in quotes"],
    ),
    "a list as a name": (
        with_also("? [a, b]\n: 3\n"),
        ['8:3: a list or a mapping stands where a name must; write "name: value"'],
    ),
    "an alias": (
        instead(MAIN, f"&x {MAIN}\n  other: *x"),
        ['3:10: "*x" repeats another part of the file; write that part out'],
    ),
    "a merge key": (
        with_also("limits:\n  <<: {frame: 1 MiB}\n"),
        ['9:3: "<<" merges another part of the file; write that part out'],
    ),
    "a file that would grow": (
        with_also("limits: &a {frame: 1 MiB}\nplugins: [*a, *a]\n"),
        [
            '9:11: "*a" repeats another part of the file; write that part out',
            '9:15: "*a" repeats another part of the file; write that part out',
        ],
    ),
    "deep nesting": ("a: " + "[" * 40 + "]" * 40, ["1:23: nested too deep; nothing here needs so many levels"]),
    "a tag that would run code": (
        with_also('workers: !!python/object/apply:os.system ["ls"]\n'),
        ['8:10: the tag "!!python/object/apply:os.system" has no meaning here; leave it out'],
    ),
    "a name twice": (
        with_also("workers: 1\nworkers: 2\n"),
        ['9:1: "workers" stands in line 8 already; keep one of the two'],
    ),
    # names
    "a misspelt section": (
        instead("listeners", "listners"),
        ['3:1: unknown option "listners"; did you mean "listeners"?'],
    ),
    "a misspelt option": (
        instead("advertise", "advertize"),
        ['7:5: unknown option "advertize"; did you mean "advertise"?'],
    ),
    "an option like no other": (
        with_also("tls: {}\n"),
        ['8:1: unknown option "tls"; known here: admin, clusters, limits, listeners, plugins, workers'],
    ),
    "a missing section": (
        "clusters:\n  main: {bootstrap: [kafka-1:9092]}\n",
        [f'1:1: "listeners" is missing; write e.g. "listeners: {LISTENERS}"'],
    ),
    "sections left empty": (
        "clusters:\nlisteners: {}\n",
        [
            f'1:10: "clusters" has no value; write e.g. "clusters: {{main: {MAIN}}}"',
            f'2:12: "listeners" is empty; write e.g. "listeners: {LISTENERS}"',
        ],
    ),
    "a missing option": (
        instead("    bind: 0.0.0.0:9192\n", ""),
        ['5:5: "bind" is missing; write e.g. "bind: 0.0.0.0:9192"'],
    ),
    "a name without a section": (
        with_also("  other:\n"),
        ['8:9: "other" has no value; write e.g. "other: {cluster: main, bind: 0.0.0.0:9192}"'],
    ),
    "a list of listeners": (
        instead("  clients:\n    cluster", "  - cluster"),
        [f'4:3: "listeners" is a list, not a mapping of names; write e.g. "listeners: {LISTENERS}"'],
    ),
    "an unknown cluster": (
        instead("cluster: main", "cluster: mian"),
        ['5:14: unknown cluster "mian"; did you mean "main"?'],
    ),
    "an unknown plugin": (
        with_also("plugins: [adres]\n"),
        ['8:11: unknown plugin "adres"; known here: acl, audit, faults'],
    ),
    "two plugins in one entry": (
        with_also("plugins:\n  - {a: 1, b: 2}\n"),
        ['9:5: a mapping is not one plugin; write "- name: {options}", one plugin to each "-"'],
    ),
    "the plugin that is always there": (
        with_also("plugins:\n  - address:\n"),
        ['9:5: "address" is always there; leave it out'],
    ),
    "plugins without an order": (
        with_also("plugins: {acl: {}}\n"),
        ['8:10: "plugins" is a mapping, not a list; write e.g. "plugins: [acl: {rules: acl.yaml}]"'],
    ),
    # addresses
    "no port": (instead("kafka-1:9092", "kafka-1"), ['2:22: "kafka-1" has no port; write "kafka-1:9092"']),
    "a port too high": (
        instead("kafka-1:9092", "kafka-1:99999"),
        ['2:22: "99999" is not a port; ports are 1 to 65535'],
    ),
    "port 0": (instead("9192", "0"), ['6:11: "0" is not a port; ports are 1 to 65535']),
    "a port that is a word": (
        instead("kafka-1:9092", "kafka-1:kafka"),
        ['2:22: "kafka" is not a port; ports are 1 to 65535'],
    ),
    "an IPv6 address without brackets": (
        instead("kafka-1:9092", '"::1:9092"'),
        ['2:22: "::1:9092" has more than one ":"; write an IPv6 host in brackets: "[::1]:9092"'],
    ),
    "several addresses in one, as a variable of the environment may have": (
        instead("kafka-1:9092", '"kafka-1:9092,kafka-2:9092"'),
        ['2:22: "kafka-1:9092,kafka-2:9092" has several addresses; write each by itself: [kafka-1:9092, kafka-2:9092]'],
    ),
    "a URL": (
        instead("kafka-1:9092", "http://kafka-1:9092/"),
        ['2:22: "http://kafka-1:9092/" has a scheme; write "kafka-1:9092"'],
    ),
    "a space in a host": (
        instead("kafka-1:9092", "kafka 1:9092"),
        ['2:22: "kafka 1" is not a host name; write "host:port", without a scheme or spaces'],
    ),
    "bare port": (instead("0.0.0.0:9192", "9192"), ['6:11: 9192 is not an address; write "host:port"']),
    "one address where a list must stand": (
        instead("[kafka-1:9092]", "kafka-1:9092"),
        ['2:21: "bootstrap" is "kafka-1:9092", not a list; write e.g. "bootstrap: [kafka-1:9092, kafka-2:9092]"'],
    ),
    "no bootstrap address": (
        instead("[kafka-1:9092]", "[]"),
        ['2:21: "bootstrap" is empty; write e.g. "bootstrap: [kafka-1:9092, kafka-2:9092]"'],
    ),
    "an advertised port": (
        instead("kafka.example.com", "kafka.example.com:9192"),
        ['7:16: "kafka.example.com:9192" is not a host; write a name or an IP address, without a port'],
    ),
    "an advertised wildcard": (
        instead("kafka.example.com", "0.0.0.0"),
        ['7:16: nobody can connect to "0.0.0.0"; write the name by which clients reach this machine'],
    ),
    "a wildcard with nothing advertised": (
        instead("    advertise: kafka.example.com\n", ""),
        [
            '6:11: clients cannot connect to 0.0.0.0; add "advertise:" with the name by which they reach this machine',
        ],
    ),
    "one port for two listeners": (
        with_also("  others: {cluster: main, bind: 127.0.0.1:9192}\n"),
        ['8:33: listener "clients" has port 9192 already; choose another, more than 10 away'],
    ),
    "one port for a listener and admin": (
        with_also("admin: {bind: 127.0.0.1:9192}\n"),
        ['8:15: listener "clients" has port 9192 already; choose another'],
    ),
    "a short token": (
        with_also('admin: {bind: 127.0.0.1:9190, token: "123456789012345"}\n'),
        [
            "8:38: this is no token; write 16 characters or more, none of them a space, as of `openssl rand -hex 16`",
        ],
    ),
    "a token that is a number": (
        with_also("admin: {bind: 127.0.0.1:9190, token: 1234567890123456}\n"),
        ["8:38: this is no text; put it in quotes"],
    ),
    "no port left for brokers": (
        instead("9192", "65535"),
        ["6:11: no port is left for brokers after 65535; choose a lower one"],
    ),
    "a proxy that is its own broker": (
        instead("kafka-1:9092", "0.0.0.0:9192"),
        ['2:22: 0.0.0.0:9192 is listener "clients" of this proxy; write the address of a broker'],
    ),
    "a section that is an address": (
        with_also("admin: 127.0.0.1:9190\n"),
        ['8:8: "admin" is "127.0.0.1:9190", not a mapping of options; write e.g. "admin: {bind: 127.0.0.1:9190}"'],
    ),
    # numbers
    "a duration without a unit": (
        with_also("limits: {idle: 10}\n"),
        ['8:16: 10 has no unit; write e.g. "10s"; units are ms, s, m, h, d'],
    ),
    "unknown units": (
        with_also("limits: {idle: 10 min, frame: 3 Mb}\n"),
        [
            '8:16: unknown unit "min"; units are ms, s, m, h, d',
            '8:31: unknown unit "Mb"; units are B, KiB, MiB, GiB, kB, MB, GB',
        ],
    ),
    "limits that are none": (
        with_also("limits: {frame: large, connections: 0, in_flight: -3, idle: 0s}\n"),
        [
            '8:17: "large" is not a size; write e.g. "100 MiB"',
            '8:37: "connections" is 0; the least is 1',
            '8:51: "in_flight" is -3; the least is 1',
            '8:61: a duration of 0 lets nothing through; write e.g. "10s"',
        ],
    ),
    "a number in quotes": (
        with_also('workers: "4"\n'),
        ['8:10: "workers" is "4", not a whole number; write e.g. "workers: 1"'],
    ),
    "a number that is true": (
        with_also("workers: true\n"),
        ['8:10: "workers" is true, not a whole number; write e.g. "workers: 1"'],
    ),
    "half a worker": (
        with_also("workers: 1.5\n"),
        ['8:10: "workers" is 1.5, not a whole number; write e.g. "workers: 1"'],
    ),
    # the environment
    "an unset variable": (
        instead("kafka-1:9092", "${KAFKA}:9092"),
        ['2:22: environment variable "KAFKA" is not set; set it, or give a default: "${KAFKA:-value}"'],
    ),
    "two unset variables in quotes": (
        instead("kafka-1:9092", '"${KAFKA}:${PORT}"'),
        [
            '2:23: environment variable "KAFKA" is not set; set it, or give a default: "${KAFKA:-value}"',
            '2:32: environment variable "PORT" is not set; set it, or give a default: "${PORT:-value}"',
        ],
    ),
    "a variable that never ends": (
        instead("cluster: main", "cluster: ${CLUSTER"),
        ['5:14: "${" begins no variable; write "${NAME}" or "${NAME:-default}", or "$$" for a "$"'],
    ),
    "a bad value from the environment": (
        instead("9192", "${BAD}"),
        ['6:11: "many" is not a port; ports are 1 to 65535'],
    ),
    # all at once
    "many mistakes": (
        """\
cluster:
  main: {bootstrap: [kafka-1]}
listeners:
  clients:
    cluster: main
    bind: 0.0.0.0:91920
    advertized: x
workers: -1
limits: {frame: none}
""",
        [
            '1:1: unknown option "cluster"; did you mean "clusters"?',
            '6:11: "91920" is not a port; ports are 1 to 65535',
            '7:5: unknown option "advertized"; did you mean "advertise"?',
            '8:10: "workers" is -1; the least is 1',
            '9:17: "none" is not a size; write e.g. "100 MiB"',
        ],
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_told_with_its_place_and_a_way_out(mistake: str) -> None:
    text, expected = MISTAKES[mistake]
    config, problems = examine_text(text, "g.yaml", {"BAD": "many"})
    assert [str(problem) for problem in problems] == [f"g.yaml:{line}" for line in expected]
    assert config is None


def test_a_port_that_another_listener_may_need_is_a_warning() -> None:
    config, problems = examine_text(with_also("  others: {cluster: main, bind: 127.0.0.1:9195}\n"), "g.yaml", {})
    assert [str(problem) for problem in problems] == [
        'g.yaml:8:33: warning: listener "clients" needs this port for a broker of id 2; '
        "leave at least 10 ports between them"
    ]
    assert config is not None


def test_the_first_eight_lines_of_the_design_are_a_whole_file() -> None:
    text = """\
clusters:
  main: {bootstrap: [kafka-1:9092, kafka-2:9092]}
listeners:
  clients:
    cluster: main
    bind: 0.0.0.0:9192          # bootstrap; broker N answers on 9192 + 1 + N
    advertise: kafka.example.com
plugins:                        # in order; address rewriting is always there
"""
    config, problems = examine_text(text, "g.yaml", {})
    assert not problems
    assert config is not None
    assert [str(address) for address in config.clusters["main"].bootstrap] == ["kafka-1:9092", "kafka-2:9092"]
    assert config.listeners["clients"].bind == ("0.0.0.0", 9192)
    assert config.limits.frame == 100 * 1024 * 1024


def test_values_come_from_the_environment(tmp_path: Path) -> None:
    file = tmp_path / "gateway.yaml"
    file.write_text(with_also("workers: ${WORKERS}\n").replace("kafka-1:9092", "${KAFKA:-k}:${PORT}"))
    config = load(file, {"PORT": "9093", "WORKERS": "4"})
    assert isinstance(config, Config)
    assert config.clusters["main"].bootstrap == (("k", 9093),)
    assert config.workers == 4


def test_a_file_that_cannot_be_read_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(BadFileError) as missing:
        load(tmp_path / "none.yaml")
    assert str(missing.value) == f"{tmp_path}/none.yaml: there is no such file; check the path"
    with pytest.raises(BadFileError, match='"": no file is named; give the path of a configuration'):
        load("")
    with pytest.raises(BadFileError, match=r"/dev/null: cannot be read \(no regular file\); check the path"):
        load("/dev/null")
    with pytest.raises(BadFileError, match="this is a folder; give the path of a YAML file"):
        load(tmp_path)
    (tmp_path / "gateway.yaml").write_bytes(b"clusters:\n  m\xe4in: x\n")
    with pytest.raises(BadFileError, match=r"gateway\.yaml:2:4: not UTF-8 text; save the file as UTF-8"):
        load(tmp_path / "gateway.yaml")
    (tmp_path / "gateway.yaml").write_bytes(b"\xef\xbb\xbfa\xc3\xa9bc\xff")  # after a byte order mark
    with pytest.raises(BadFileError, match=r"gateway\.yaml:1:5: not UTF-8 text; save the file as UTF-8"):
        load(tmp_path / "gateway.yaml")
    with pytest.raises(BadFileError, match=r'this is a folder; did you mean ".*gateway\.yaml"\?'):
        load(tmp_path)
    (tmp_path / "large.yaml").write_bytes(b"#" * (1 << 20) + b"\n")
    with pytest.raises(BadFileError, match="larger than 1 MiB"):
        load(tmp_path / "large.yaml")


def test_examine_gives_the_problems_of_a_missing_file_too(tmp_path: Path) -> None:
    config, problems = examine(tmp_path / "none.yaml")
    assert config is None
    assert len(problems) == 1


@given(st.lists(st.tuples(st.integers(0, len(GOOD)), st.integers(0, 9), st.sampled_from(PIECES)), max_size=4))
def test_whatever_a_file_says_the_answer_is_a_configuration_or_problems(edits: list[tuple[int, int, str]]) -> None:
    text = GOOD
    for start, length, piece in edits:
        text = text[:start] + piece + text[start + length :]
    config, problems = examine_text(text, "g.yaml", {"A": "1"})
    assert config is not None or problems
    for problem in problems:
        assert "\n" not in str(problem)
        assert "; " in problem.message
        assert problem.place is not None
        assert problem.place.line <= text.count("\n") + 1


def test_a_byte_order_mark_is_no_part_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "gateway.yaml").write_bytes(b"\xef\xbb\xbf" + GOOD.encode())
    assert load(tmp_path / "gateway.yaml").workers == 1
