"""Tags of topics, read from a file."""

from pathlib import Path

import pytest

from plugins.audit.reports.tags import FORM, load


def test_a_file_gives_each_pattern_with_each_of_its_tags(tmp_path: Path) -> None:
    file = tmp_path / "tags.yaml"
    file.write_text("topics:\n  payments-*: [pci]\n  patients: [phi, gdpr]\n")
    pairs = [(pattern.written, tag) for pattern, tag in load(file).pairs]
    assert pairs == [("patients", "gdpr"), ("payments-*", "pci"), ("patients", "phi")]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("topics:\n  a*b: pci\n", 'a "*" inside "a*b" has no meaning'),
        ("topics:\n  orders: [<b>]\n", "is no tag"),
        ("topics: {}\n", '"topics" is empty'),
        ("topic:\n  orders: pci\n", 'unknown option "topic"'),
    ],
)
def test_a_mistake_is_told_with_its_place_and_a_way_out(text: str, said: str) -> None:
    _, problems = FORM.examine(text, "tags.yaml", {}).result()
    assert said in " ".join(map(str, problems))
    assert all(problem.place for problem in problems)
