"""SASL in a configuration: each mistake is reported with its place and a way out."""

from pathlib import Path

import pytest

from proxy.auth.users import save
from proxy.auth.verifiers import verifiers
from proxy.config import examine

FILE = """\
clusters:
  main: {{bootstrap: [kafka-1:9092]}}
listeners:
  clients:
    cluster: main
    bind: 127.0.0.1:9192
    sasl: {sasl}
"""


def problems(folder: Path, sasl: str) -> list[str]:
    file = folder / "gateway.yaml"
    file.write_text(FILE.format(sasl=sasl))
    _, found = examine(file)
    return [str(problem).removeprefix(f"{file}:") for problem in found]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save(tmp_path / "users.yaml", {"alice": verifiers("x")})
    save(tmp_path / "empty.yaml", {})
    (tmp_path / "open.yaml").write_text("version: 1\nusers: {}\n")
    (tmp_path / "open.yaml").chmod(0o644)
    (tmp_path / "plain.yaml").write_text("version: 1\nusers: {alice: hunter2}\n")
    (tmp_path / "plain.yaml").chmod(0o600)
    return tmp_path


def test_a_right_one_is_right(folder: Path) -> None:
    assert not problems(folder, "{mechanisms: [PLAIN, SCRAM-SHA-512], credentials: users.yaml, session: 1h}")


def test_passwords_that_anybody_may_see_are_warned_of(folder: Path) -> None:
    file = folder / "gateway.yaml"
    text = FILE.format(sasl="{mechanisms: [PLAIN], credentials: users.yaml}")
    file.write_text(text.replace("127.0.0.1", "192.0.2.1"))
    config, found = examine(file)
    assert config is not None
    assert [str(one).partition("warning: ")[2].partition(";")[0] for one in found] == [
        "PLAIN without TLS shows passwords to whoever is on the way"
    ]


@pytest.mark.parametrize(
    ("sasl", "said"),
    [
        ("{}", '7:11: "mechanisms" is missing; write e.g.'),
        ("{mechanisms: [], credentials: users.yaml}", '"mechanisms" is empty; write e.g.'),
        ("{mechanisms: [SCRAM-SHA-1], credentials: users.yaml}", 'unknown mechanism "SCRAM-SHA-1"; did you mean'),
        ("{mechanisms: [plain], credentials: users.yaml}", 'unknown mechanism "plain"; did you mean "PLAIN"?'),
        ("{mechanisms: [GSSAPI], credentials: users.yaml}", "GSSAPI cannot be authenticated here; leave"),
        ("{mechanisms: [7], credentials: users.yaml}", "unknown mechanism 7;"),
        ("{mechanisms: PLAIN, credentials: users.yaml}", '"mechanisms" is "PLAIN", not a list;'),
        ("{mechanisms: [PLAIN, PLAIN], credentials: users.yaml}", "7:24: PLAIN stands here twice; keep one"),
        ("{mechanisms: [PLAIN]}", '7:11: PLAIN needs "credentials"; write'),
        ("{mechanisms: [PLAIN], credentials: none.yaml}", "there is no such file; run"),
        ("{mechanisms: [PLAIN], credentials: open.yaml}", "others may read this file; run: chmod 600"),
        ("{mechanisms: [PLAIN], credentials: plain.yaml}", "a password does not belong here; remove it"),
        ("{mechanisms: [PLAIN], credentials: empty.yaml}", "has no users: nobody can authenticate; run"),
        ("{mechanisms: [PLAIN], credentials: users.yaml, session: 0s}", "a duration of 0 lets nothing through;"),
        ("{mechanisms: [PLAIN], credentials: users.yaml, session: 0.5ms}", "too short for anything to work;"),
        ("{mechanisms: [OAUTHBEARER], oauthbearer: {unsecured: true, principal_claim: ''}}", "is empty; write e.g."),
        ("{mechanisms: [OAUTHBEARER], oauthbearer: {unsecured: 'on'}}", 'is "on", not true or false; write e.g.'),
        ("{mechanisms: [PLAIN], credential: users.yaml}", 'unknown option "credential"; did you mean'),
        ("{mechanisms: [OAUTHBEARER]}", 'OAUTHBEARER needs "oauthbearer"; write'),
        ("{mechanisms: [OAUTHBEARER], oauthbearer: {}}", '"jwks" is missing; write a file'),
        ("{mechanisms: [OAUTHBEARER], oauthbearer: {jwks: none.json, audience: k}}", "cannot be read"),
        ("{mechanisms: [OAUTHBEARER], oauthbearer: {jwks: users.yaml, audience: k}}", "this is no set of keys"),
        ("{mechanisms: [OAUTHBEARER], oauthbearer: {jwks: 'ftp://x', audience: k}}", "cannot be fetched; write"),
        ("{mechanisms: [OAUTHBEARER], oauthbearer: {jwks: 'http://x', audience: k}}", "write https"),
        ("{mechanisms: [OAUTHBEARER], oauthbearer: {jwks: 'https://x'}}", 'write "audience:"'),
        ("{mechanisms: [OAUTHBEARER], oauthbearer: {unsecured: true}}", "anybody can be anybody here;"),
        ("{mechanisms: [OAUTHBEARER], oauthbearer: {unsecured: true, jwks: 'https://x'}}", "keep one of the two"),
        ("{mechanisms: [PLAIN], credentials: users.yaml, oauthbearer: {unsecured: true}}", "no mechanism uses this;"),
        (
            "{mechanisms: [OAUTHBEARER], oauthbearer: {jwks: 'https://x', audience: k, ca: none.pem}}",
            "there is no file",
        ),
        (
            "{mechanisms: [OAUTHBEARER], oauthbearer: {jwks: 'https://x', audience: k, ca: users.yaml}}",
            "no certificate is",
        ),
        (
            "{mechanisms: [OAUTHBEARER], oauthbearer: {ca: ca.pem, unsecured: true}}",
            'nothing is fetched from an "https://"',
        ),
        ("PLAIN", "not a mapping of options; write e.g."),
    ],
)
def test_a_wrong_one_is_said_with_its_place_and_a_way_out(folder: Path, sasl: str, said: str) -> None:
    found = problems(folder, sasl)
    assert found
    assert said in found[0]
    assert found[0].startswith("7:")
    assert "hunter2" not in "\n".join(found)


CLUSTER = """\
clusters:
  main: {{bootstrap: [kafka-1:9092], sasl: {sasl}}}
listeners:
  clients: {{cluster: main, bind: 127.0.0.1:9192}}
"""
TOKENS = "oauthbearer: {endpoint: 'https://x', client_id: a, client_secret: b}"


@pytest.mark.parametrize(
    ("sasl", "said"),
    [
        ("{mechanism: PLAIN}", 'PLAIN needs "username" and "password"'),
        ("{mechanism: PLAIN, username: a}", '"username" needs "password"; write both'),
        ("{mechanism: PLAIN, password: a}", '"password" needs "username"; write both'),
        ("{mechanism: PLAIN, username: a, password: 1234567}", "this is no text; put it in quotes"),
        ("{mechanism: KERBEROS, username: a, password: b}", 'unknown mechanism "KERBEROS"'),
        ("{mechanism: OAUTHBEARER}", 'OAUTHBEARER needs "oauthbearer"'),
        (f"{{mechanism: OAUTHBEARER, username: a, password: b, {TOKENS}}}", 'has no use for "username"'),
        (f"{{mechanism: PLAIN, username: a, password: b, {TOKENS}}}", "PLAIN has no use for tokens"),
        (
            "{mechanism: OAUTHBEARER, oauthbearer: {endpoint: x, client_id: a, client_secret: b}}",
            "this is no URL that can be fetched;",
        ),
        ("{mechanism: PLAIN, username: a, password: b, identities: {}}", '"identities" is empty; write'),
        (
            "{mechanism: PLAIN, username: a, password: b, identities: {alice: {username: a, password: b}}}",
            'no client has the principal "alice"; write "User:alice"',
        ),
        ('{mechanism: SCRAM-SHA-256, username: "a\\0", password: b}', "SCRAM-SHA-256 cannot send our name or password"),
        ("{mechanism: PLAIN, username: '', password: b}", "PLAIN cannot send our name or password: it is empty, or"),
        (
            '{mechanism: PLAIN, username: a, password: b, identities: {"User:a": {username: a, password: "\\0"}}}',
            "PLAIN cannot send our name or password",
        ),
        (f"{{mechanism: OAUTHBEARER, {TOKENS[:-1]}, ca_password: secret}}}}", 'there is no "ca"; name it'),
        (f"{{mechanism: OAUTHBEARER, {TOKENS[:-1]}, ca: none.pem}}}}", "there is no file"),
    ],
)
def test_wrong_words_about_ourselves_are_said(tmp_path: Path, sasl: str, said: str) -> None:
    file = tmp_path / "gateway.yaml"
    file.write_text(CLUSTER.format(sasl=sasl))
    config, found = examine(file)
    assert config is None
    assert said in str(found[0])
    assert str(found[0]).startswith(f"{file}:2:")
    assert "1234567" not in str(found)


def test_a_password_that_ends_with_a_line_break_may_be_meant_so(tmp_path: Path) -> None:
    file = tmp_path / "gateway.yaml"
    file.write_text(CLUSTER.format(sasl='{mechanism: SCRAM-SHA-512, username: a, password: "1234567\\n"}'))
    config, found = examine(file)
    assert config is not None
    (problem,) = found
    assert problem.warning
    assert "the password begins or ends with a line break" in str(problem)
    assert "1234567" not in str(problem)


@pytest.mark.parametrize(
    "url",
    [
        *("http://[::1", "https://[::zz]/x", "https://", "https:///x", "https://h:99999/x", "https://h:0/x"),
        *("https://h:abc/x", "https://h:-1/", "https://a b/c", "https://a..b/", f"https://{'a' * 64}.b/", "ftp://h/"),
        *("https://h/x\\n", "https://h/\\0"),
    ],
)
@pytest.mark.parametrize("option", ["endpoint", "jwks"])
def test_a_url_that_cannot_be_fetched_is_said_with_its_place(tmp_path: Path, url: str, option: str) -> None:
    file = tmp_path / "gateway.yaml"
    tokens = f'{{endpoint: "{url}", client_id: a, client_secret: b}}'
    if option == "endpoint":
        file.write_text(CLUSTER.format(sasl=f"{{mechanism: OAUTHBEARER, oauthbearer: {tokens}}}"))
    else:
        file.write_text(FILE.format(sasl=f'{{mechanisms: [OAUTHBEARER], oauthbearer: {{jwks: "{url}"}}}}'))
    config, found = examine(file)
    assert config is None
    assert "fetched" in str(found[0])
    assert str(found[0]).startswith(f"{file}:")
