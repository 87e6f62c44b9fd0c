"""Kafka's ACLs as rules and back: nothing is lost or added."""

from hypothesis import given
from hypothesis import strategies as st

from rules.bindings import Binding, bindings, rules
from rules.model import AclRule
from rules.values import Pattern
from rules.vocabulary import Operation, PatternType, Permission, ResourceType

patterns = st.builds(Pattern, st.sampled_from(PatternType), st.sampled_from(["a", "b", "*", ""]))
some = st.builds(
    Binding,
    st.sampled_from([ResourceType.TOPIC, ResourceType.GROUP]),
    patterns,
    st.sampled_from(["User:a", "User:*"]),
    st.sampled_from(["*", "10.1.2.3", "10.0.0.0/8"]),
    st.sampled_from([Operation.READ, Operation.WRITE]),
    st.sampled_from(Permission),
)


@given(st.frozensets(some, max_size=30))
def test_rules_stand_for_exactly_the_bindings_they_were_made_of(of: frozenset[Binding]) -> None:
    made = rules(of)
    said = [binding for acl in made for binding in bindings(acl)]
    assert len(said) == len(set(said))
    assert set(said) == of


def test_what_goes_together_is_one_rule() -> None:
    whole = AclRule.model_validate(
        {"allow": "User:a", "to": ("Read", "Write"), "topics": ("t", "u*"), "groups": "g", "from": ("*", "10.1.2.3")}
    )
    (again,) = rules(bindings(whole))
    assert set(bindings(again)) == set(bindings(whole))
    assert len(set(bindings(whole))) == 2 * 3 * 2
