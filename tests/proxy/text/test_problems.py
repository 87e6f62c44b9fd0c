"""A problem as one line."""

from proxy.text.places import Place
from proxy.text.problems import BadFileError, Problem


def test_a_problem_is_a_place_a_fact_and_a_way_out() -> None:
    assert str(Problem("g.yaml", Place(3, 7), "fact; way out")) == "g.yaml:3:7: fact; way out"
    assert str(Problem("g.yaml", None, "fact; way out", warning=True)) == "g.yaml: warning: fact; way out"


def test_a_problem_is_one_line_whatever_it_quotes() -> None:
    quoting = 'unknown word "a\nb\t\x1b[2J\u2028é"; write "c"'
    said = r'g.yaml:3:7: unknown word "a\nb\t\x1b[2J\u2028é"; write "c"'
    assert str(Problem("g.yaml", Place(3, 7), quoting)) == said
    assert str(Problem("g\x1b[2J\n.yaml", None, "fact; way out")) == r"g\x1b[2J\n.yaml: fact; way out"


def test_an_error_has_every_problem() -> None:
    error = BadFileError(Problem("g.yaml", Place(line, 1), "fact; way out") for line in (1, 2))
    assert str(error) == "g.yaml:1:1: fact; way out\ng.yaml:2:1: fact; way out"
