"""Principal mapping, compared with Kafka's own SslPrincipalMapper."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from proxy.core.mapping import BadRuleError, Mapping
from tests.proxy.protocol.oracles.kafka import NEWEST, Kafka, KafkaRefusedError

NAMES = [
    "CN=alice,OU=people,O=Example,C=DE",
    "CN=Bob Smith,OU=ServiceUsers,O=Unknown",
    "CN=kafka/host.example.com,O=Example",
    r"CN=a\,b,O=Example",
    "OU=people,CN=carol",
    "1.2.840.113549.1.9.1=#16056140622e63,CN=duke,OU=ServiceUsers,O=Org",
    "",
]
RULES = [
    "DEFAULT",
    "",
    "RULE:^CN=(.*?),OU=ServiceUsers.*$/$1/",
    "RULE:^CN=(.*?),OU=ServiceUsers.*$/$1/L, DEFAULT",
    "RULE:^.*[Cc][Nn]=([a-zA-Z0-9.]*).*$/$1/U,DEFAULT",
    "RULE:^cn=(.*?),ou=(.*?),dc=(.*?),dc=(.*?)$/$1@$2/U , RULE:^CN=(.*?),O=(.*)$/$1@$2/",
    r"RULE:^.*OU=(.*?),O=(.*?),C=(.*?)$/$1\/$2,$3$4/L,DEFAULT",
    "RULE:^CN=([^,]+).*$/$0/",
    "RULE:^CN=([^,]+).*$/$12-$01-\\$1/",
    r"RULE:^CN=((?:\\.|[^,\\])+).*$/x$1x/L",
    "RULE:.*/x/",
    "RULE:[A-Z]*/y/,DEFAULT",
    "RULE:^CN=(?<who>[^,]+),.*$/${who}/",
    "RULE:^CN=([^,]+)(,nobody)?.*$/$1$2/",
    "RULE:^CN=nobody$/x/",
]
BAD = ["default", "RULE:", "RULE:^CN=x/$1/", "RULE:^CN=(x)/a", "RULE:(/x/", "RULE:x/y/LU", "ALICE,DEFAULT", "RULE:x/$/"]


@pytest.fixture(scope="module")
def kafka() -> Iterator[Kafka]:
    with Kafka(NEWEST) as kafka:
        yield kafka


def theirs(kafka: Kafka, rules: str, name: str) -> str | None:
    mapper = kafka.common.security.ssl.SslPrincipalMapper.fromRules(rules)
    try:
        return str(mapper.getName(name))
    except KafkaRefusedError as error:
        if "NoMatchingRule" in str(error.java_exception.getClass()):
            return None
        raise


@pytest.mark.parametrize("rules", RULES)
def test_names_are_mapped_as_kafka_maps_them(kafka: Kafka, rules: str) -> None:
    mapping = Mapping([rules])
    for name in NAMES:
        assert mapping.principal(name) == theirs(kafka, rules, name), name


@pytest.mark.parametrize("rules", BAD)
def test_what_kafka_refuses_is_refused_when_it_is_read(kafka: Kafka, rules: str) -> None:
    with pytest.raises(BadRuleError):
        Mapping([rules])
    with pytest.raises(KafkaRefusedError):
        _ = [theirs(kafka, rules, name) for name in ["CN=x", "x", *NAMES]]


def test_a_list_of_rules_is_one_list() -> None:
    mapping = Mapping(["RULE:^CN=a,.*$/first/", "RULE:^CN=([^,]+),.*$/$1/, DEFAULT"])
    assert [mapping.principal(name) for name in ("CN=a,O=x", "CN=b,O=x", "O=x")] == ["first", "b", "O=x"]


@pytest.mark.parametrize("pattern", [r"(\p{L}+)", "([a-z&&[^b]]+)", "([[a-c]x]+)", r"(\Qa\E)", "(?iu)(a)"])
def test_a_pattern_that_only_java_knows_is_refused(pattern: str) -> None:
    with pytest.raises(BadRuleError, match="pattern"):
        Mapping([f"RULE:^CN={pattern}$/$1/"])
