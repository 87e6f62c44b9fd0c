"""A rule fires when it was said to, and always at the same matches."""

from rules.trigger import Firing, RuleCounts, Triggers, Unfired
from rules.when import When


def fired(when: When, matches: int = 10, seed: int = 7, rule: str = "rule") -> list[int]:
    """The numbers of the matches at which the rule fires."""
    triggers = Triggers({rule: when}, seed, 0.0)
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
    triggers = Triggers({"rule": When(probability=0.5), "other": When(probability=0.5)}, 7, 0.0)
    together = []
    for _ in range(100):
        triggers.ask("other", 0.0)
        answer = triggers.ask("rule", 0.0)
        if isinstance(answer, Firing):
            together.append(answer.match)
        triggers.ask("other", 0.0)
    assert together == alone


def test_matches_outside_its_window_are_not_counted() -> None:
    triggers = Triggers({"rule": When.model_validate({"from": "10s", "for": "5s", "nth": 2})}, 7, 100.0)
    assert triggers.ask("rule", 109.9) == Unfired("rule", None, "its window opens in 0.1 s")
    assert isinstance(triggers.ask("rule", 110.0), Unfired)  # the first that counts
    assert triggers.ask("rule", 114.9) == Firing("rule", 2, 1, 7)
    assert triggers.ask("rule", 115.0) == Unfired("rule", None, "its window is over")


def test_a_rule_waits_for_another_one() -> None:
    triggers = Triggers({"first": When(nth=2), "then": When(after_rule="first", nth=1)}, 7, 0.0)
    assert triggers.ask("then", 0.0) == Unfired("then", None, '"first" has not fired yet')
    triggers.ask("first", 0.0)
    assert isinstance(triggers.ask("then", 0.0), Unfired)
    triggers.ask("first", 0.0)
    assert triggers.ask("then", 0.0) == Firing("then", 1, 1, 7)


def test_a_rule_holds_while_another_one_is_under_way() -> None:
    whens = {"down": When.model_validate({"for": "5s", "times": 2}), "slow": When(while_rule="down")}
    triggers = Triggers(whens, 7, 0.0)
    assert isinstance(triggers.ask("slow", 0.0), Unfired)  # it did not begin
    triggers.ask("down", 1.0)
    assert isinstance(triggers.ask("slow", 1.0), Firing)
    assert isinstance(triggers.ask("slow", 5.0), Unfired)  # its window is over
    triggers.ask("down", 4.0)
    assert triggers.ask("slow", 4.5) == Unfired("slow", None, '"down" is not under way')  # it fired twice


def test_a_rule_that_stays_keeps_what_it_counted_when_others_come() -> None:
    before = Triggers({"stays": When(times=2), "changes": When(times=2)}, 7, 0.0)
    for rule in ("stays", "changes"):
        before.ask(rule, 0.0)
    whens = {"stays": When(times=2), "changes": When(times=3), "new": When()}
    after = Triggers(whens, 7, 50.0, {"stays": before.counts["stays"]})
    assert after.counts == {"stays": RuleCounts(0.0, 1, 1), "changes": RuleCounts(50.0), "new": RuleCounts(50.0)}


def test_what_did_not_fire_says_why() -> None:
    triggers = Triggers({"rule": When(after=1, nth=3, times=1)}, 7, 0.0)
    said = [answer.why for answer in (triggers.ask("rule", 0.0) for _ in range(4)) if isinstance(answer, Unfired)]
    assert said == [
        "it was match 1, and the first 1 are left out",
        "it was match 2, and 3 are meant",
        "it fired 1 times already",
    ]


def test_a_firing_draws_the_same_for_each_purpose() -> None:
    firing = Firing("rule", 3, 1, 7)
    assert firing.chance("delay") == Firing("rule", 3, 2, 7).chance("delay")
    assert firing.chance("delay") != firing.chance("jitter")
