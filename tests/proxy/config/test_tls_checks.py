"""TLS in a configuration: each mistake is reported with its place, a fact and a way out."""

from __future__ import annotations

from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from proxy.config import examine_text
from tests.certificates import Authority

HEAD = "clusters: {main: {bootstrap: [kafka:9092]}}\nlisteners:\n  a:\n    cluster: main\n    bind: 127.0.0.1:9192\n"
GOOD = "{certificate: good.pem, key: good.key}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    authority = Authority(tmp_path)
    authority.issue("good", "127.0.0.1", "kafka.example.com", "*.kafka.example.com")
    authority.issue("other", "127.0.0.1")
    authority.issue("locked", "127.0.0.1", password="secret")
    authority.issue("old", days=(-9, -1))
    authority.issue("early", days=(1, 9))
    authority.issue("ending", days=(-9, 2))
    authority.issue("weak", "127.0.0.1", curve=ec.SECP192R1)
    authority.store("store", "127.0.0.1")
    authority.issue("open")[1].chmod(0o644)
    (tmp_path / "jks.jks").write_bytes(b"\xfe\xed\xfe\xed\x00\x00\x00\x02")
    (tmp_path / "text.pem").write_text("nothing of use\n")
    (tmp_path / "damaged.pem").write_text("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
    return tmp_path


def said(folder: Path, tls: str, of_cluster: str | None = None) -> list[str]:
    text = f"{HEAD}    tls: {tls}\n"
    if of_cluster is not None:
        text = text.replace("[kafka:9092]", f"[kafka:9092], tls: {of_cluster}")
    _, problems = examine_text(text, str(folder / "gateway.yaml"), {})
    return [str(problem).removeprefix(str(folder) + "/") for problem in problems]


WRONG = [
    ("{certificate: gone.pem, key: good.key}", "gateway.yaml:6:24: there is no file", "check the path"),
    ("{certificate: good.pem, key: gone.key}", "gateway.yaml:6:39: there is no file", "check the path"),
    ("{certificate: ., key: good.key}", "cannot be read (Is a directory)", "name a file in it"),
    ("{certificate: /dev/null, key: good.key}", '"/dev/null" cannot be read (no regular file)', "check the path"),
    ("{certificate: good.pem, key: other.key}", "6:39: the key does not fit the certificate", "with which it was"),
    ("{certificate: good.pem}", "6:24: no private key is in", 'name the file with the key as "key"'),
    ("{certificate: old.pem, key: old.key}", "6:24: the certificate in", "renew it"),
    ("{certificate: early.pem, key: early.key}", "is not valid before", "check the machine's clock"),
    ("{certificate: weak.pem, key: weak.key}", "6:24: the certificate is refused by OpenSSL", "give another"),
    (GOOD[:-1] + ", certificates: [{certificate: weak.pem, key: weak.key}]}", "is refused by OpenSSL", "give another"),
    ("{certificate: ending.pem, key: ending.key}", "warning: the certificate expires on", "renew it"),
    ("{certificate: good.pem, key: good.key, client_auth: required}", "6:62: no authority", 'as "ca"'),
    ("{certificate: good.pem, key: good.key, ca: ca.pem}", "warning: clients are not asked", "client_auth: required"),
    ("{keystore: jks.jks}", "6:21: ", "convert it: keytool -importkeystore -srckeystore"),
    ("{certificate: jks.jks, key: good.key}", "6:24: ", "-deststoretype pkcs12"),
    ("{certificate: open.pem, key: open.key}", "6:39: warning: everybody on this machine can read", "run: chmod o-r"),
    ("{certificate: text.pem, key: good.key}", "6:24: no certificate is in", "-----BEGIN CERTIFICATE-----"),
    ("{certificate: damaged.pem, key: good.key}", "6:24: a certificate in", "write the file anew"),
    ("{certificate: locked.pem, key: locked.key}", "6:41: the key in", 'give its password as "key_password"'),
    (
        "{certificate: locked.pem, key: locked.key, key_password: no}",
        '"key_password" does not open',
        "give the password",
    ),
    ("{keystore: store.p12, keystore_password: no}", '6:51: "keystore_password" does not open', "of the store"),
    ('{keystore: store.p12, keystore_password: "a\\0b"}', '6:51: "keystore_password" does not open', "of the store"),
    ("{certificate: good.pem, key: good.key, ca_password: secret}", '6:62: there is no "ca"', "leave the password out"),
    ("{keystore: store.p12, keystore_password: secret, key: good.key}", "for one certificate", 'leave out "keystore"'),
    ("{certificate: store.p12, key: good.key}", "is not PEM", 'name it as "keystore"'),
    ("{client_auth: none}", "6:10: a listener has no TLS without a certificate", "write e.g."),
    (GOOD[:-1] + ", client_auth: need}", "unknown client_auth", "known here: none, requested, required"),
    (GOOD[:-1] + ", versions: [TLSv1.1]}", 'unknown versions "TLSv1.1"', "did you mean"),
    (GOOD[:-1] + ", principal_mapping: 'RULE:(/x/'}", "cannot be read", "write e.g."),
    (GOOD[:-1] + ", principal_mapping: default}", "is no rule", "or DEFAULT"),
    (GOOD[:-1] + ", hosts: kafka.example.com}", "no place for the id of a broker", "broker-{id}"),
    (GOOD[:-1] + ", hosts: 'b-{id}.kafka.example.com'}", "clients need one to begin at", 'add "advertise:"'),
    (GOOD[:-1] + ", hosts: 'b-{id}.example.org'}", 'no certificate is valid for "b-0.example.org"', "add the name"),
    (GOOD[:-1] + f", hosts: '{'b' * 54}{{id}}.kafka.example.com'}}", "is not a host", "write a name"),
    (GOOD[:-1] + ", certificates: [{key: good.key}]}", "a key without its certificate", 'as "certificate"'),
    (GOOD[:-1] + ", client_auth: required, ca: text.pem}", "no certificate is in", "give a PEM file"),
]


@pytest.mark.parametrize(("tls", "fact", "way_out"), WRONG)
def test_what_is_wrong_is_said_with_its_place_and_a_way_out(folder: Path, tls: str, fact: str, way_out: str) -> None:
    problems = said(folder, tls)
    assert any(fact in problem and way_out in problem for problem in problems), problems
    assert not any("secret" in problem for problem in problems)


@pytest.mark.parametrize(
    "tls",
    [
        GOOD,
        "{keystore: store.p12, keystore_password: secret}",
        "{certificate: locked.pem, key: locked.key, key_password: secret, client_auth: requested, ca: ca.pem}",
    ],
)
def test_what_is_right_has_nothing_to_say(folder: Path, tls: str) -> None:
    assert said(folder, tls) == []


def test_the_name_at_which_clients_begin_is_no_brokers_name(folder: Path) -> None:
    def told(advertise: str) -> list[str]:
        tls = GOOD[:-1] + f", hosts: 'b-{{id}}.kafka.example.com'}}\n    advertise: {advertise}"
        return said(folder, tls)

    (problem,) = told("B-7.kafka.example.com")
    assert problem.endswith(
        '6:56: clients that begin at "B-7.kafka.example.com" ask for broker 7 by this pattern;'
        ' write another name as "advertise:"'
    )
    for fine in ("kafka.example.com", "b-07.kafka.example.com", "b-x.kafka.example.com"):
        assert not told(fine)


def test_the_brokers_side_is_checked_too(folder: Path) -> None:
    assert said(folder, GOOD, "true") == said(folder, GOOD, "{ca: ca.pem, certificate: good.pem, key: good.key}") == []
    (problem,) = said(folder, GOOD, "{ca: gone.pem}")
    assert "gateway.yaml:1:" in problem
    assert "there is no file" in problem
    (problem,) = said(folder, GOOD, "{verify_host: false, server_name: kafka}")
    assert "leave one of the two out" in problem
