"""Principal mapping, compared with Kafka's own SslPrincipalMapper."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator

import pytest

from proxy.auth.mapping import BadRuleError, Mapping
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
BAD += [
    "RULE:^CN=(a{,3})/$1/",
    "RULE:(?P<q>x)/$1/",
    "RULE:(?#x)x/x/",
    "RULE:(x)?(?(1)x|y)/x/",
    "RULE:(?a)x/x/",
    "RULE:{x/x/",
]
ALL_PATTERNS = r"""
    CN= OU= , alice (.*) (.*?) ([^,]+) (\w+) (\d*) .* . ^ $ (?i) [a-z]+ [A-Z0-9]* [^a-c] a|b (a|b)? \s \S+ \b \. \, \/
    (?:x|y) (?<n>[^,]*) \1 ? {1,3} {,3} {2} (?=C) (?!x) []a] [a&&b] \Z \v (?s) (?m) (?x) (?u) (?a) \x41 \u0041 \011
    \t é # ++ *+ (?>a) - ] { } ( ) (?i:a) (?-i) \11 \W \D (?<!x) (?<=N=). (?s:.)* [{(] {9999999999}
"""
PATTERNS = ALL_PATTERNS.split()
REPLACEMENTS = ["$1", "$2", "$0", "x", "\\$", "${n}", "$12", "$", "\\\\", "\\/", "é", "ß", "İ", " ", "-", "$01", "{}"]
MANY_NAMES = [
    *NAMES,
    "CN=alice,O=x\ry",
    "CN=alice\n",
    "a\u2028",
    "\r\n",
    "CN=x,O=\x85",
    "CN=alİce",
    "CN=é",
    "CN=\u0661",
    "aA",
    "x\\x",
]
COUNTS = [1_500, pytest.param(100_000, marks=pytest.mark.long)]


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


def random_rule(dice: random.Random) -> str:
    pattern = "".join(dice.choices(PATTERNS, k=dice.randrange(1, 4)))
    if dice.random() < 0.6:
        pattern = f"^CN={dice.choice(['([^,]+)', '(.*?)', '(.)', ''])}{pattern}{dice.choice(['.*', ',.*', '$', ''])}"
    return f"RULE:{pattern}/{''.join(dice.choices(REPLACEMENTS, k=dice.randrange(3)))}/{dice.choice('LU ').strip()}"


@pytest.mark.parametrize("count", COUNTS)
def test_random_rules_are_refused_or_map_as_kafka_maps(kafka: Kafka, count: int) -> None:
    """Every rule that is read is one of Kafka's, and every principal is Kafka's. Kafka takes more rules and names."""
    dice, met = random.Random(3), Counter[str]()
    for _ in range(count):
        rules = dice.choice([",", " , "]).join(dice.choice([random_rule(dice)] * 4 + ["DEFAULT", ""]) for _ in "12")
        try:
            mapping = Mapping([rules])
        except BadRuleError:
            met["refused"] += 1
            continue
        for name in dice.sample(MANY_NAMES, 4):
            ours = mapping.principal(name)
            if ours is not None:
                assert ours == theirs(kafka, rules, name), (rules, name)
            met["no principal" if ours is None else "a principal"] += 1
    assert met["a principal"] > count / 3, met


def test_a_name_with_a_line_break_has_no_principal() -> None:
    """To Java `.` is no line break, and there are more of them than to Python."""
    mapping = Mapping(["RULE:^CN=([^,]+),.*$/$1/, DEFAULT"])
    assert mapping.principal("CN=alice,O=x") == "alice"
    for line_break in "\n\r\x85\u2028\u2029":
        assert mapping.principal(f"CN=alice,O=x{line_break}y") is None


def test_a_list_of_rules_is_one_list() -> None:
    mapping = Mapping(["RULE:^CN=a,.*$/first/", "RULE:^CN=([^,]+),.*$/$1/, DEFAULT"])
    assert [mapping.principal(name) for name in ("CN=a,O=x", "CN=b,O=x", "O=x")] == ["first", "b", "O=x"]


@pytest.mark.parametrize(
    "pattern",
    [r"(\p{L}+)", "([a-z&&[^b]]+)", "([[a-c]x]+)", r"(\Qa\E)", "(?iu)(a)", "(?u)(a)", r"(a)\b", "(a){9999999999}"],
)
def test_a_pattern_that_only_java_knows_is_refused(pattern: str) -> None:
    with pytest.raises(BadRuleError, match="pattern"):
        Mapping([f"RULE:^CN={pattern}$/$1/"])


def test_a_pattern_that_is_nested_too_deep_is_refused() -> None:
    with pytest.raises(BadRuleError, match=r'the pattern of "RULE:\(+\.\.\." is nested too deep'):
        Mapping(["RULE:" + "(" * 500 + "/x/"])
