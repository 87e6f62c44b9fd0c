"""The JSON Schema for editors."""

import json
import re
from typing import Any

import pytest

from proxy.config.schema import SHIPPED, schema, text


def test_the_shipped_schema_is_what_the_declarations_say() -> None:
    assert SHIPPED.read_text(encoding="utf-8") == text(), "run: doorkeeper schema > proxy/gateway.schema.json"


def test_defaults_are_written_as_a_person_writes_them() -> None:
    limits = schema()["$defs"]["LimitOptions"]["properties"]
    assert limits["frame"]["default"] == "100 MiB"
    assert limits["idle"]["default"] == "10m"


def test_unknown_options_are_refused_everywhere() -> None:
    for section in (schema(), *schema()["$defs"].values()):
        assert section["additionalProperties"] is False


@pytest.mark.parametrize("value", ["10s", "500ms", "1.5 m", "${IDLE}", "${N}s"])
def test_a_duration_matches_its_pattern(value: str) -> None:
    assert re.search(schema()["$defs"]["LimitOptions"]["properties"]["idle"]["pattern"], value)


@pytest.mark.parametrize("value", ["kafka:9092", "[::1]:9092", "${KAFKA}", "${HOST:-a}:9092"])
def test_an_address_matches_its_pattern(value: str) -> None:
    assert re.search(schema()["$defs"]["ListenerOptions"]["properties"]["bind"]["pattern"], value)


def test_wherever_a_number_stands_the_environment_may_stand_too() -> None:
    def numbers(part: Any) -> int:
        if isinstance(part, list):
            return sum(map(numbers, part))
        if not isinstance(part, dict):
            return 0
        here = part.get("type") == "integer"
        return int(here) + sum(map(numbers, part.values()))

    assert numbers(schema()) == json.dumps(schema()).count('"type": "integer"') > 0
    assert schema()["properties"]["workers"]["anyOf"][1]["type"] == "string"


def test_an_example_that_is_no_default_is_not_told_as_one() -> None:
    tls = schema()["$defs"]["ListenerTls"]["properties"]
    assert tls["client_auth"]["default"] == "none"
    assert tls["versions"]["default"] == ["TLSv1.2", "TLSv1.3"]
    assert schema()["$defs"]["ClusterTls"]["properties"]["verify_host"]["default"] is True


def kinds(option: dict[str, Any]) -> set[str]:
    """The types that an option may have by the schema."""
    below = [kinds(choice) for choice in option.get("anyOf", ())]
    own = option.get("type", ["object"] if "$ref" in option else [])
    return {own} if isinstance(own, str) else set(own).union(*below)


def test_an_option_may_be_of_every_kind_that_is_taken_from_a_file() -> None:
    sections = schema()["$defs"]
    assert kinds(sections["ClusterOptions"]["properties"]["tls"]) == {"object", "boolean", "string", "null"}
    tokens, redaction = sections["Oauthbearer"]["properties"], sections["RedactionRule"]["properties"]
    for option in (tokens["audience"], tokens["scope"], redaction["fields"]):
        assert kinds(option) == {"string", "array"}
    assert kinds(redaction["names"]) == kinds(redaction["principals"]) == {"string", "array", "null"}


def test_a_plugin_stands_without_options_if_it_needs_none() -> None:
    *entries, bare = schema()["properties"]["plugins"]["anyOf"][0]["items"]["anyOf"]
    may_be_empty = [name for entry in entries for name, it in entry["properties"].items() if "null" in kinds(it)]
    assert may_be_empty == bare["enum"] == ["faults"]
