"""A rule fires as its trigger says, and always at the same matches."""

from collections.abc import Mapping
from contextlib import AbstractContextManager

from rules.trigger import Firing, Triggers, Unfired, new_row
from rules.when import When


def triggered(whens: Mapping[str, When], at: float = 0.0) -> Triggers:
    """Triggers of rules that come into force at this time."""
    return Triggers(whens, 7, {name: new_row(at) for name in whens})


def fired(when: When, matches: int = 10, seed: int = 7, rule: str = "rule") -> list[int]:
    """The numbers of the matches at which the rule fires."""
    triggers = Triggers({rule: when}, seed, {rule: new_row(0.0)})
    answers = [triggers.ask(rule, 0.0) for _ in range(matches)]
    return [answer.match for answer in answers if isinstance(answer, Firing)]


def test_without_a_condition_it_fires_at_each_match() -> None:
    assert fired(When(), 3) == [1, 2, 3]


def test_after_leaves_out_the_first_matches_and_times_ends_it() -> None:
    assert fired(When(after=4)) == [5, 6, 7, 8, 9, 10]
    assert fired(When(times=2)) == [1, 2]
    assert fired(When(after=4, times=2)) == [5, 6]
    assert fired(When(nth=(2, 9))) == [2, 9]
    assert fired(When(nth=(2, 5, 9), times=2)) == [2, 5]


def test_probability_goes_by_seed_rule_and_number_alone() -> None:
    half = When(probability=0.5)
    first = fired(half, 1000)
    assert first == fired(half, 1000)
    assert 400 < len(first) < 600
    assert first != fired(half, 1000, seed=8)
    assert first != fired(half, 1000, rule="other")
    assert fired(When(probability=1.0), 100) == list(range(1, 101))


def test_other_rules_change_nothing_about_one() -> None:
    alone = fired(When(probability=0.5), 100)
    triggers = triggered({"rule": When(probability=0.5), "other": When(probability=0.5)})
    together = []
    for _ in range(100):
        triggers.ask("other", 0.0)
        answer = triggers.ask("rule", 0.0)
        if isinstance(answer, Firing):
            together.append(answer.match)
        triggers.ask("other", 0.0)
    assert together == alone


def test_matches_outside_its_window_are_not_counted() -> None:
    triggers = triggered({"rule": When.model_validate({"from": "10s", "for": "5s", "nth": 2})}, 100.0)
    assert triggers.ask("rule", 109.9) == Unfired("rule", None, "its window opens in 0.1 s")
    assert isinstance(triggers.ask("rule", 110.0), Unfired)  # the first that counts
    assert triggers.ask("rule", 114.9) == Firing("rule", 2, 7)
    assert triggers.ask("rule", 115.0) == Unfired("rule", None, "its window is over")


def test_a_rule_waits_for_another_one() -> None:
    triggers = triggered({"first": When(nth=2), "then": When(after_rule="first", nth=1)})
    assert triggers.ask("then", 0.0) == Unfired("then", None, '"first" has not fired yet')
    triggers.ask("first", 0.0)
    assert isinstance(triggers.ask("then", 0.0), Unfired)
    triggers.ask("first", 0.0)
    assert triggers.ask("then", 0.0) == Firing("then", 1, 7)


def test_a_rule_holds_while_another_one_is_under_way() -> None:
    whens = {"down": When.model_validate({"for": "5s", "times": 2}), "slow": When(while_rule="down")}
    triggers = triggered(whens)
    assert isinstance(triggers.ask("slow", 0.0), Unfired)  # it did not begin
    triggers.ask("down", 1.0)
    assert isinstance(triggers.ask("slow", 1.0), Firing)
    assert isinstance(triggers.ask("slow", 5.0), Unfired)  # its window is over
    triggers.ask("down", 4.0)
    assert triggers.ask("slow", 4.5) == Unfired("slow", None, '"down" is not under way')  # it fired twice


def test_what_was_counted_in_a_row_goes_on_by_whoever_asks() -> None:
    whens = {"first": When(times=2), "then": When(after_rule="first", nth=3)}
    rows = {name: new_row(50.0) for name in whens}
    asked = [Triggers(whens, 7, rows) for _ in range(3)]
    assert [isinstance(each.ask("first", 0.0), Firing) for each in asked] == [True, True, False]
    assert [isinstance(each.ask("then", 0.0), Firing) for each in asked] == [False, False, True]
    counts = asked[0].counts["first"]
    assert (counts.began, counts.matches, counts.fired) == (50.0, 3, 2)


def test_nobody_else_counts_while_a_rule_is_asked_about() -> None:
    held: list[str] = []

    class Alone(AbstractContextManager[object]):
        def __enter__(self) -> None:
            held.append("begins")

        def __exit__(self, *ended: object) -> None:
            held.append(f"ends with {rows['rule'][1:]}")

    rows = {"rule": new_row(0.0)}
    Triggers({"rule": When()}, 7, rows, Alone()).ask("rule", 0.0)
    assert held == ["begins", "ends with [1.0, 1.0]"]


def test_what_did_not_fire_says_why() -> None:
    triggers = triggered({"rule": When(after=1, nth=3, times=1)})
    said = [answer.why for answer in (triggers.ask("rule", 0.0) for _ in range(4)) if isinstance(answer, Unfired)]
    assert said == [
        "it was match 1, and the first 1 are left out",
        "it was match 2, and 3 are meant",
        "it fired 1 times already",
    ]


def test_a_firing_draws_the_same_for_each_purpose() -> None:
    firing = Firing("rule", 3, 7)
    assert firing.chance("delay") == Firing("rule", 3, 7).chance("delay")
    assert firing.chance("delay") != firing.chance("jitter")
