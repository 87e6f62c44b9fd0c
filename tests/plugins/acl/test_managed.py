"""ACLs that the proxy keeps: requests of Kafka's tools get the responses that a broker gives. A real broker is used in
`test_managed_real`."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from plugins.acl import Acl
from proxy.core.events import AclsChanged, AclsNotChanged, Denied
from proxy.protocol.messages.create_acls import CreateAclsResponse
from proxy.protocol.messages.delete_acls import DeleteAclsResponse
from proxy.protocol.messages.describe_acls import DescribeAclsResponse
from proxy.protocol.schema import Request
from proxy.testing import build
from proxy.text.problems import Reload
from rules import Client, Operation, ResourceType
from rules.bindings import Binding
from rules.edit import said
from rules.model import AclFile
from tests.plugins.acl.asked import CLOSED, Keeper, create, creation, delete, describe
from tests.plugins.acl.talk import Talk

TEXT = """\
super_users: [User:admin]
acls:
  - {allow: User:a, to: [Read, Write], topics: [t, "*", p-*]}   # all there is
  - {allow: User:looker, to: Describe, cluster: true}
  - {allow: User:changer, to: Alter, cluster: true}
  - {allow: User:b, to: Read, topics: t, client_id: app}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "acl.yaml"
    file.write_text(TEXT)
    return file


@pytest.fixture
def keeper(file: Path) -> Keeper:
    return Keeper(file)


def described(keeper: Keeper, version: int = 3, **filters: Any) -> list[tuple[Any, ...]]:
    answer = cast(DescribeAclsResponse, keeper.ask(describe(**filters), version))
    assert (answer.error_code, answer.error_message) == (0, "")
    resources = [(each.resource_type, each.pattern_type, each.resource_name) for each in answer.resources]
    assert len(resources) == len(set(resources)), "what is about one resource stands together"
    return [
        (each.resource_type, each.pattern_type, each.resource_name, *(acl.principal, acl.host, acl.operation))
        for each in answer.resources
        for acl in each.acls
    ]


def outcomes(answer: Any) -> list[tuple[int, str | None]]:
    assert isinstance(answer, CreateAclsResponse)
    return [(result.error_code, result.error_message) for result in answer.results]


def matched(answer: Any) -> list[list[tuple[int, str, int]]]:
    assert isinstance(answer, DeleteAclsResponse)
    assert all(result.error_code == 0 for result in answer.filter_results)
    return [
        [(acl.error_code, acl.resource_name, acl.operation) for acl in result.matching_acls]
        for result in answer.filter_results
    ]


def test_the_rules_are_described_as_acls(keeper: Keeper) -> None:
    assert described(keeper, kind=2) == [
        (2, pattern, name, "User:a", "*", operation)
        for pattern, name in ((3, "*"), (3, "t"), (4, "p-"))
        for operation in (3, 4)
    ]


@pytest.mark.parametrize(
    ("filters", "names"),
    [
        ({"name": "p-1", "pattern": 2}, ["*", "p-"]),
        ({"name": "t", "pattern": 2}, ["*", "t"]),
        ({"name": "*", "pattern": 2}, ["*"]),
        ({"name": "t"}, ["t"]),
        ({"name": "p-", "pattern": 4}, ["p-"]),
        ({"name": "p-", "pattern": 3}, []),
        ({"pattern": 4}, ["p-"]),
        ({"who": "User:*"}, []),
        ({"host": "10.1.1.1"}, []),
        ({"to": 8}, []),
        ({"allow": 2}, []),
        ({"kind": 99}, []),
        ({"pattern": 99}, []),
        ({"to": 99}, []),
        ({"name": ""}, []),
        ({"kind": 2, "to": 3, "allow": 3, "who": "User:a", "host": "*"}, ["*", "t", "p-"]),
    ],
)
def test_filters_mean_what_they_mean_to_a_broker(keeper: Keeper, filters: dict[str, Any], names: list[str]) -> None:
    found = described(keeper, **({"kind": 2} | filters))
    assert list(dict.fromkeys(each[2] for each in found)) == names


def test_version_0_knows_no_prefixes(keeper: Keeper) -> None:
    assert [each[2] for each in described(keeper, version=0, kind=2, to=3, pattern=3)] == ["*", "t"]


@pytest.mark.parametrize("version", range(4))
def test_a_new_acl_is_in_force_when_it_is_answered(keeper: Keeper, file: Path, version: int) -> None:
    assert outcomes(keeper.ask(create(creation(name="new"), creation(name="new")), version)) == [(0, ""), (0, "")]
    assert file.read_text() == TEXT + "  - allow: User:a\n    to: Read\n    topics: new\n"
    assert keeper.rules.value.decide(Client("User:a"), Operation.READ, ResourceType.TOPIC, "new").allowed
    assert keeper.events == [AclsChanged(1, 0)]


def test_an_acl_that_is_there_is_created_without_a_change(keeper: Keeper, file: Path) -> None:
    assert outcomes(keeper.ask(create(creation(name="p-", pattern=4)))) == [(0, "")]
    assert file.read_text() == TEXT
    assert keeper.events == []


NO_COLON = (
    "Could not parse principal from `alice` (no colon is present separating the principal type from the principal name)"
)


@pytest.mark.parametrize(
    ("odd", "message"),
    [
        ({"kind": 8}, "Invalid resourceType UNKNOWN"),
        ({"kind": -1}, "Invalid resourceType UNKNOWN"),
        ({"pattern": 9}, "Invalid patternType UNKNOWN"),
        ({"to": 16}, "Invalid operation UNKNOWN"),
        ({"allow": 9}, "Invalid permissionType UNKNOWN"),
        ({"name": ""}, "Invalid empty resource name"),
        ({"kind": 4, "name": "*"}, "The only valid name for the CLUSTER resource is kafka-cluster"),
        ({"who": "alice"}, NO_COLON),
        ({"kind": 99, "pattern": 9, "to": 99, "allow": 9, "who": "x"}, "Invalid resourceType UNKNOWN"),
    ],
)
def test_an_acl_that_cannot_be_is_refused_and_the_others_are_created(
    keeper: Keeper, odd: dict[str, Any], message: str
) -> None:
    answer = keeper.ask(create(creation(**odd), creation(name="other")))
    assert outcomes(answer) == [(42, message), (0, "")]
    assert [each[2] for each in described(keeper, name="other")] == ["other"]


@pytest.mark.parametrize("odd", [{"kind": 1}, {"pattern": 1}, {"pattern": 2}, {"to": 1}, {"allow": 1}])
def test_an_acl_for_anything_fails_the_whole_request(keeper: Keeper, file: Path, odd: dict[str, Any]) -> None:
    assert outcomes(keeper.ask(create(creation(**odd), creation(name="other")))) == [(-1, None), (-1, None)]
    assert file.read_text() == TEXT


@pytest.mark.parametrize("odd", ["kind", "pattern", "to", "allow"])
def test_an_unknown_word_closes_the_connection_of_whoever_says_it(file: Path, odd: str) -> None:
    requests: list[Request] = [create(creation(**{odd: 0})), describe(**{odd: 0}), delete({}, {odd: 0})]
    for request in requests:
        for principal in ("User:admin", "User:nobody"):
            talk = Talk(build(Acl, rules=str(file), managed=True), principal)
            assert talk.ask(request, 3) is None
            assert talk.closed == f"a {request.api} request with an UNKNOWN in it"
    assert file.read_text() == TEXT


def test_each_filter_tells_what_it_deleted_and_what_people_wrote_stays(keeper: Keeper, file: Path) -> None:
    answer = keeper.ask(delete({"name": "t", "to": 3, "who": "User:a"}, {"name": "t", "who": "User:a"}, {"name": "no"}))
    assert matched(answer) == [[(0, "t", 3)], [(0, "t", 3), (0, "t", 4)], []]
    assert file.read_text() == TEXT.replace(
        '  - {allow: User:a, to: [Read, Write], topics: [t, "*", p-*]}   # all there is\n',
        '  # all there is\n  - allow: User:a\n    to: [Read, Write]\n    topics: ["*", p-*]\n',
    )
    assert keeper.events == [AclsChanged(0, 2)]


def test_filters_that_a_broker_refuses_are_refused_and_the_others_delete(keeper: Keeper) -> None:
    answer = keeper.ask(delete({"kind": 99}, {"pattern": 9}, {"to": 99}, {"allow": 9}, {"name": "p-"}))
    assert isinstance(answer, DeleteAclsResponse)
    refused = [(42, "Unknown patternFilter.")] * 2 + [(42, "Unknown entryFilter.")] * 2
    assert [(each.error_code, each.error_message) for each in answer.filter_results] == [*refused, (0, None)]
    assert len(answer.filter_results[-1].matching_acls) == 2


def test_a_rule_with_a_condition_is_not_described_and_its_deletion_is_an_error_with_its_place(
    keeper: Keeper, file: Path
) -> None:
    assert "User:b" not in {each[3] for each in described(keeper)}
    (result,) = cast(DeleteAclsResponse, keeper.ask(delete({"name": "t", "to": 3}))).filter_results
    (gone, kept) = result.matching_acls
    assert (gone.principal, gone.error_code) == ("User:a", 0)
    assert (kept.principal, kept.error_code) == ("User:b", 44)
    condition = 'Kafka\'s ACLs cannot say "client_id"; edit the file'
    before, now = (text.splitlines().index(TEXT.splitlines()[-1]) + 1 for text in (TEXT, file.read_text()))
    assert now > before
    assert kept.error_message == f"{file}:{now}:5: not deleted: {condition}"


def test_a_change_that_cannot_be_made_is_an_error_and_is_told(keeper: Keeper, file: Path) -> None:
    file.write_text("acls: [")
    ((code, message),) = outcomes(keeper.ask(create(creation(name="new"))))
    assert code == -1
    assert str(message).startswith(f"{file} cannot be changed: {file}:1:8: ")
    (result,) = cast(DeleteAclsResponse, keeper.ask(delete({}))).filter_results
    assert (result.error_code, result.error_message, result.matching_acls) == (-1, message, [])
    assert keeper.events == [AclsNotChanged(str(message))] * 2
    assert len(described(keeper)) == 8


@pytest.mark.parametrize("shadow", [False, True])
@pytest.mark.parametrize("version", range(4))
def test_whoever_may_not_gets_a_refusal_also_in_shadow(file: Path, shadow: bool, version: int) -> None:
    changer, looker, nobody = (
        Keeper(file, shadow=shadow, principal=f"User:{name}") for name in ("changer", "looker", "nobody")
    )
    for each in (looker, nobody):
        assert [code for code, _ in outcomes(each.ask(create(creation(name="new")), version))] == [31]
        (result,) = cast(DeleteAclsResponse, each.ask(delete({"pattern": 3}), version)).filter_results
        assert result.error_code == 31
    assert cast(DescribeAclsResponse, nobody.ask(describe(pattern=3), version)).error_code == 31
    told = [event for event in nobody.events if isinstance(event, Denied)]
    assert told
    assert all(event.enforced for event in told)
    assert file.read_text() == TEXT
    assert described(looker, pattern=3)
    # Alter implies Describe.
    assert described(changer, pattern=3)
    assert outcomes(changer.ask(create(creation(name="new")), version)) == [(0, "")]


@pytest.mark.parametrize("principal", ["User:admin", None])
def test_a_client_that_its_broker_does_not_serve_neither_sees_nor_changes_acls(
    file: Path, principal: str | None
) -> None:
    """It did not authenticate at a broker that wants it, or its session is over: only the broker knows."""
    file.write_text(text := "super_users: [User:admin]\nunmatched: allow\nacls: []\n")
    stranger = Keeper(file, principal=principal, serves=False)
    for request in (describe(), create(creation(name="new")), delete({})):
        assert stranger.ask(request) is CLOSED
    assert file.read_text() == text


def test_what_others_changed_in_the_file_is_described_at_once(keeper: Keeper, file: Path) -> None:
    other = Keeper(file)
    assert outcomes(other.ask(create(creation(name="new")))) == [(0, "")]
    assert [each[2] for each in described(keeper, name="new")] == ["new"]
    assert keeper.rules.look() == Reload(str(keeper.rules.file), True)


def test_nothing_to_do_is_done(keeper: Keeper, file: Path) -> None:
    assert outcomes(keeper.ask(create())) == []
    assert matched(keeper.ask(delete())) == []
    assert file.read_text() == TEXT


def test_descriptions_and_changes_are_computed_apart_and_do_not_wait_for_each_other(keeper: Keeper) -> None:
    described(keeper)
    assert keeper.apart == ["descriptions of ACLs"]
    keeper.ask(create(creation(name="new")))
    keeper.ask(delete({"name": "new"}))
    assert keeper.apart[1:] == ["changes of ACLs"] * 2


def test_the_acls_are_sorted_once_however_many_questions_come(keeper: Keeper, monkeypatch: pytest.MonkeyPatch) -> None:
    sorted_files: list[AclFile] = []

    def noted(file: AclFile) -> set[Binding]:
        sorted_files.append(file)
        return said(file)

    monkeypatch.setattr("plugins.acl.acl_index.said", noted)
    for name in ("t", "no", "p-"):
        described(keeper, name=name)
    assert sorted_files == [keeper.rules.value.file]
    keeper.ask(create(creation(name="new")))
    assert [each[2] for each in described(keeper, name="new")] == ["new"]
    assert len(sorted_files) == 2


def test_a_deletion_that_matches_too_many_acls_deletes_none_and_is_told_as_a_controller_tells_it(
    keeper: Keeper, file: Path
) -> None:
    """Each of these 1,500 filters matches 8 ACLs of the same."""
    answer = keeper.ask(delete({"kind": 99}, *[{} for _ in range(1_500)]))
    assert isinstance(answer, DeleteAclsResponse)
    unknown, *others = answer.filter_results
    assert unknown.error_message == "Unknown patternFilter."
    fact = "Cannot remove more than 10000 acls in a single delete operation."
    assert {(each.error_code, each.error_message) for each in others} == {(42, fact)}
    assert not any(each.matching_acls for each in others)
    assert file.read_text() == TEXT
    assert keeper.events == [AclsNotChanged(fact)]


def test_too_many_acls_at_once_are_not_created(keeper: Keeper, file: Path) -> None:
    results = outcomes(keeper.ask(create(*[creation(name=f"n{number}") for number in range(10_001)])))
    fact = f"{file} cannot be changed: more than 10000 ACLs would be added at once; add fewer"
    assert set(results) == {(-1, fact)}
    assert file.read_text() == TEXT
