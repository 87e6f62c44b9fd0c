"""Questions to the rules."""

from rules import AccessQuestion, Client, Operation, ResourceType, examine_text

CLIENT = Client("User:a")
TEXT = "acls:\n  - {allow: User:a, to: Write, topics: t, during: {hours: 08:00-18:00}}\n"


def test_without_a_name_it_is_asked_whether_any_would_do() -> None:
    snapshot, _ = examine_text(TEXT, "acl.yaml", {})
    assert snapshot is not None
    any_topic = AccessQuestion(CLIENT, Operation.WRITE, ResourceType.TOPIC, None, at=36_000)
    assert any_topic.put(snapshot).allowed
    assert not AccessQuestion(CLIENT, Operation.WRITE, ResourceType.TOPIC, "u", at=36_000).put(snapshot).allowed


def test_it_is_asked_at_a_time() -> None:
    snapshot, _ = examine_text(TEXT, "acl.yaml", {})
    assert snapshot is not None
    for at, allowed in ((36_000, True), (80_000, False), (None, False)):
        assert AccessQuestion(CLIENT, Operation.WRITE, ResourceType.TOPIC, "t", at).put(snapshot).allowed is allowed


def test_a_kind_is_a_noun() -> None:
    question = AccessQuestion(CLIENT, Operation.WRITE, ResourceType.TRANSACTIONAL_ID, "t")
    assert question.noun == "transactional id"
