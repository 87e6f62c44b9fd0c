"""Sound sections: the checks across options are also made where some values are wrong."""

import pytest

from proxy.config.load import examine_text
from proxy.config.sound import unchecked

LISTENER = "bind: 127.0.0.1:9192"


def problems(text: str) -> list[str]:
    return [str(problem).removeprefix("g:") for problem in examine_text(text, "g", {})[1]]


def test_what_does_not_depend_on_a_wrong_value_is_told_in_the_same_run() -> None:
    text = """\
clusters: {main: {bootstrap: [kafka:9092]}}
listeners:
  one: {cluster: main, bind: 0.0.0.0:9192}
  two: {cluster: mian, bind: 127.0.0.1:9300}
workers: many
"""
    way_out = 'add "advertise:" with the name by which they reach this machine'
    assert problems(text) == [
        f"3:30: clients cannot connect to 0.0.0.0; {way_out}",
        '4:18: unknown cluster "mian"; did you mean "main"?',
        '5:10: "workers" is "many", not a whole number; write e.g. "workers: 1"',
    ]


def test_a_section_with_a_wrong_value_is_not_checked_against_others() -> None:
    text = """\
clusters: {main: {bootstrap: [kafka:9092]}}
listeners:
  one: {cluster: main, bind: 0.0.0.0:9192, advertise: a b}
  two: {cluster: main, bind: 127.0.0.1:9192}
"""
    assert problems(text) == ['3:55: "a b" is not a host; write a name or an IP address, without a port']


def test_a_variable_that_is_not_set_is_a_wrong_value() -> None:
    text = f"""\
clusters: {{main: {{bootstrap: [kafka:9092]}}}}
listeners: {{one: {{cluster: main, {LISTENER}}}}}
plugins: [faults]
admin: {{bind: "0.0.0.0:9100", token: "${{TOKEN}}"}}
"""
    (problem,) = problems(text)
    assert 'environment variable "TOKEN" is not set' in problem


@pytest.mark.parametrize(
    "clusters", ["clusters: {main: {bootstrap: 5}}", "clusters: 5", "clutsers: {main: {bootstrap: [kafka:9092]}}"]
)
def test_a_cluster_with_a_wrong_value_is_known_by_its_name(clusters: str) -> None:
    (problem,) = problems(f"{clusters}\nlisteners: {{one: {{cluster: main, {LISTENER}}}}}\n")
    assert problem.startswith("1:")


def test_the_files_of_a_plugin_are_looked_at_beside_another_plugin_that_is_wrong() -> None:
    text = f"""\
clusters: {{main: {{bootstrap: [kafka:9092]}}}}
listeners: {{one: {{cluster: main, {LISTENER}}}}}
plugins:
  - nothing
  - acl: {{rules: none.yaml}}
"""
    assert problems(text) == [
        '4:5: unknown plugin "nothing"; known here: acl, audit, faults',
        "5:18: ./none.yaml: there is no such file; check the path",
    ]


def test_sections_that_are_checked_against_others_are_told_while_they_are_not() -> None:
    wrong = {("clusters", "main", "tls"), ("plugins", 2, "acl"), ("admin", "token"), ("workers",), ("wrokers",)}
    assert unchecked(wrong) == {("clusters", "main"), ("plugins", 2), ("admin",)}
