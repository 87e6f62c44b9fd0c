"""Each API and version whose requests name several resources: refused ones are taken out, the rest is served.

The requests are made from the schema: of two resources that a check is about, one is allowed and one is denied. The
broker answers each element that reaches it with success, as far as the schema maps responses to requests.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from typing import Any

import pytest

from plugins.acl.checks import Check, ElementCheck, RequestCheck, RequiredFieldsCheck, apply_all
from plugins.acl.configs import ConfigsCheck
from plugins.acl.errors import CLUSTER, ERRORS, GROUP, TOPIC, TRANSACTIONAL_ID
from plugins.acl.request_authorizer import MOST_EVENTS
from plugins.acl.subjects import MEANINGS, name_field, naming
from plugins.acl.table import checks
from proxy.core.events import Denied
from proxy.protocol.api import APIS, CREATE_PARTITIONS, DELETE_TOPICS, SYNC_GROUP, Api
from proxy.protocol.errors import ErrorCode
from proxy.protocol.messages.metadata import MetadataRequest
from proxy.protocol.messages.streams_group_describe import (
    StreamsGroupDescribeRequest,
    StreamsGroupDescribeResponse,
    TopologyDescription,
    TopologyDescriptionGlobalStore,
    TopologyDescriptionNode,
    TopologyDescriptionSubtopology,
)
from proxy.protocol.messages.sync_group import SyncGroupRequest
from proxy.protocol.mirror import identity, mirrored
from proxy.protocol.refused_elements import ONCE
from proxy.protocol.schema import Field, Request, Response, Struct, StructType, blank
from proxy.protocol.walk import StructChain
from proxy.protocol.wire import INT32, NO_UUID, Meaning
from tests.plugins.acl.talk import Rules, Talk, metadata_of, topic_id

MINE, THEIRS = "mine", "theirs"
TOPICS = {name: topic_id(name) for name in (MINE, THEIRS)}
RULES = f"""
acls:
- {{allow: User:alice, to: All, topics: {MINE}, groups: {MINE}, transactional_ids: {MINE}}}
"""
TABLE = checks()
WORDS, ANY = ("resource_type_filter", "pattern_type_filter", "operation", "permission_type"), 1  # of a filter for ACLs
NEVER_TWICE = (CREATE_PARTITIONS, DELETE_TOPICS)  # there a topic that stands twice is wrong, whoever asks


def cases(kind: type[Check]) -> Iterator[Any]:
    for api, asked in TABLE.items():
        for check in asked:
            if isinstance(check, kind) and not isinstance(check, ConfigsCheck):
                for version in api.versions:
                    for path in check.paths(api.request) if isinstance(check, ElementCheck) else ("",):
                        if present(api.request, path, version):
                            yield pytest.param(api, version, check, path, id=f"{api}-{version}-{path}")


def present(cls: type[Struct], path: str, version: int) -> bool:
    """Is there such an array in this version?"""
    for name in path.split(".") if path else ():
        if not cls.field[name].present(version):
            return False
        cls = cls.field[name].kind  # type: ignore[assignment]
    return True


def request_of(api: Api, version: int, path: str, kind: Any, names: list[str]) -> Request:
    """A request that asks for things of these names; whatever is around them may be used."""
    request = blank(api.request)
    fill(request, version)
    put(request, version, path.split("."), kind, names)
    return request


def fill(struct: Any, version: int) -> None:
    """Give every name in a struct that one may use; an id only where topics have no names."""
    present = [field for field in struct.fields if field.present(version) and not field.is_array]
    named = any(field.meaning is Meaning.TOPIC_NAME for field in present)
    for field in present:
        if field.meaning in (Meaning.GROUP_ID, Meaning.TRANSACTIONAL_ID, Meaning.TOPIC_NAME):
            setattr(struct, field.name, MINE)
        elif field.meaning is Meaning.TOPIC_ID and not named:
            setattr(struct, field.name, TOPICS[MINE])
        elif field.name in WORDS:
            setattr(struct, field.name, ANY)


def put(struct: Any, version: int, path: list[str], kind: Any, names: list[str]) -> None:
    name, *rest = path
    field: Field = struct.field[name]
    if not isinstance(field.kind, StructType):
        setattr(struct, name, names)
        return
    elements = []
    for each in [MINE] if rest else names:
        element = blank(field.kind)
        fill(element, version)
        if rest:
            put(element, version, rest, kind, names)
        else:
            say(element, version, kind, each)
            give_partitions(element, version)
        elements.append(element)
    setattr(struct, name, elements)


def say(element: Any, version: int, kind: Any, name: str) -> None:
    """Let this element be about that, by its name where it has one."""
    field = naming(type(element), kind, version)[0]
    by_id = element.field[field].meaning is Meaning.TOPIC_ID
    setattr(element, field, TOPICS[name] if by_id else name)


def give_partitions(element: Any, version: int) -> None:
    """One partition, where it has some."""
    for field in element.fields:
        if field.is_array and field.present(version) and field.name.startswith("partition"):
            setattr(element, field.name, [0 if field.kind is INT32 else blank(field.kind)])


def serves(request: Request, version: int) -> Response | None:
    """A broker with both topics that does all it is asked."""
    if isinstance(request, MetadataRequest):
        return metadata_of(TOPICS, request)
    answer: Response = success(request.api.response, version, (request,))
    return answer


def success(cls: type[Any], version: int, chain: StructChain) -> Any:
    """An answer to what is at the end of the chain, with all that it answers element by element."""
    answer = blank(cls)
    for field in cls.fields:
        if not field.present(version):
            continue
        if field.mirrors:
            setattr(answer, field.name, [success(field.kind, version, it) for it in mirrored(field, version, chain)])
        elif (asked := identity(field, version, chain)) is not None and asked.value is not None:
            setattr(answer, field.name, asked.value)
    return answer


def told(struct: Struct, version: int) -> Iterator[tuple[str | bytes, int]]:
    """Every error of an answer, with the name nearest to it."""
    yield from _told(struct, version, "")


def _told(struct: Any, version: int, name: str | bytes) -> Iterator[tuple[str | bytes, int]]:
    meanings = {meaning for kinds in MEANINGS.values() for meaning in kinds}
    fields = [field for field in struct.fields if field.present(version)]
    for field in fields:
        value = getattr(struct, field.name)
        if field.meaning in meanings and not field.is_array and value and value != NO_UUID:
            name = value
    for field in fields:
        value = getattr(struct, field.name)
        if field.meaning is Meaning.ERROR and field.tag is None and "acknowledge" not in field.name:
            yield name, value
        elif isinstance(field.kind, StructType):
            for child in (value or ()) if field.is_array else (value,) if value is not None else ():
                yield from _told(child, version, name)


def named(value: str | bytes) -> str:
    return value if isinstance(value, str) else value.rstrip(b"\0").decode()


@pytest.mark.parametrize(("api", "version", "check", "path"), list(cases(ElementCheck)))
def test_what_is_refused_is_taken_out_and_said(
    rules: Callable[..., Rules], api: Api, version: int, check: ElementCheck, path: str
) -> None:
    talk = Talk(rules(RULES).acl, "User:alice", serves)
    request = request_of(api, version, path, check.kind, [THEIRS, MINE, THEIRS])
    answer = talk.ask(request, version)
    kept = request_of(api, version, path, check.kind, [MINE])
    (reached,) = [each for each in talk.to_broker if not isinstance(each, MetadataRequest)]
    assert reached == kept
    errors = [(named(name), error) for name, error in told(answer, version) if name or error]
    error = ErrorCode.INVALID_REQUEST if api in NEVER_TWICE else ERRORS[check.kind]
    assert errors.count((THEIRS, error)) == (1 if api in ONCE else 2)
    assert {error for name, error in errors if name == MINE} == {ErrorCode.NONE}
    assert talk.denied == [(check.operation.word, check.kind.word, THEIRS)] * (0 if api is DELETE_TOPICS else 2)


@pytest.mark.parametrize(("api", "version", "check", "path"), list(cases(ElementCheck)))
def test_what_is_allowed_reaches_the_broker_as_it_came(
    rules: Callable[..., Rules], api: Api, version: int, check: ElementCheck, path: str
) -> None:
    talk = Talk(rules(RULES).acl, "User:alice", serves)
    request = request_of(api, version, path, check.kind, [MINE])
    answer = talk.ask(request, version)
    assert request in talk.to_broker
    assert not talk.denied
    assert {error for _, error in told(answer, version)} <= {ErrorCode.NONE}


@pytest.mark.parametrize(("api", "version", "check", "path"), list(cases(ElementCheck)))
def test_where_all_is_refused_the_proxy_answers_unless_the_broker_has_more_to_say(
    rules: Callable[..., Rules], api: Api, version: int, check: ElementCheck, path: str
) -> None:
    talk = Talk(rules(RULES).acl, "User:alice", serves)
    answer = talk.ask(request_of(api, version, path, check.kind, [THEIRS]), version)
    errors = [(named(name), error) for name, error in told(answer, version) if error]
    assert errors == [(THEIRS, ERRORS[check.kind])]
    reached = [each for each in talk.to_broker if not isinstance(each, MetadataRequest)]
    assert bool(reached) == (check.anyway or "." in path)


@pytest.mark.parametrize(("api", "version", "check", "path"), list(cases(RequestCheck)))
@pytest.mark.parametrize("may", [False, True])
def test_all_or_nothing(
    rules: Callable[..., Rules], api: Api, version: int, check: RequestCheck, path: str, may: bool
) -> None:
    request = blank(api.request)
    fill(request, version)
    for required in (each for each in TABLE[api] if isinstance(each, RequiredFieldsCheck)):
        for name in required.paths:
            setattr(request, name, "said")
    own: Rules = rules("super_users: [User:alice]" if may else "acls: []")
    talk = Talk(own.acl)
    if check.kind is not CLUSTER and not name_field(api.request, check.kind).present(version):
        return  # another check asks in this version
    answer = talk.ask(request, version)
    assert (len(talk.to_broker), answer is None) == ((1, True) if may else (0, False))
    if not may:
        first = next(each for each in TABLE[api] if isinstance(each, RequestCheck))
        said = {error for _, error in told(answer, version)}
        assert said <= {ERRORS[first.kind]}
        assert talk.denied[0][:2] == (first.operation.word, first.kind.word)


@pytest.mark.parametrize("missing", [{"protocol_type"}, {"protocol_name"}, {"protocol_type", "protocol_name"}])
@pytest.mark.parametrize("version", SYNC_GROUP.versions)
def test_what_must_be_said_is_missed_before_anybody_asks_who_sent_it(
    rules: Callable[..., Rules], version: int, missing: set[str]
) -> None:
    request = SyncGroupRequest(group_id=THEIRS, generation_id=1, member_id="m", assignments=[])
    for name in {"protocol_type", "protocol_name"} - missing:
        setattr(request, name, "said")
    talk = Talk(rules(RULES).acl)
    answer = talk.ask(request, version)
    expected = ErrorCode.INCONSISTENT_GROUP_PROTOCOL if version >= 5 else ErrorCode.GROUP_AUTHORIZATION_FAILED
    assert (answer.error_code, talk.to_broker) == (expected, [])


def test_every_kind_of_resource_has_an_error() -> None:
    assert {TOPIC, GROUP, CLUSTER, TRANSACTIONAL_ID} <= ERRORS.keys()
    assert DELETE_TOPICS in TABLE
    assert TABLE.keys() <= set(APIS.values())


def node(source: str, sink: str | None = None) -> TopologyDescriptionNode:
    return TopologyDescriptionNode(
        name="n", node_type=1, source_topics=[source], sink_topic=sink, stores=[], successors=[]
    )


@pytest.mark.parametrize(
    ("nodes", "stores", "refused"),
    [
        ([node(MINE, MINE)], [(MINE, MINE)], False),
        ([node(THEIRS)], [], True),
        ([node(MINE, THEIRS)], [], True),
        ([], [(THEIRS, MINE)], True),
        ([], [(MINE, THEIRS)], True),
    ],
)
def test_a_streams_group_is_not_told_to_whom_may_not_see_a_topic_of_its_topology(
    rules: Callable[..., Rules], nodes: list[Any], stores: list[tuple[str, str]], refused: bool
) -> None:
    talk = Talk(rules(RULES).acl)
    asked = StreamsGroupDescribeRequest(
        group_ids=[MINE], include_authorized_operations=False, include_topology_description=True
    )
    talk.ask(asked, 1)
    group = blank(StreamsGroupDescribeResponse.Group)
    group.group_id, group.group_state = MINE, "Stable"
    group.topology_description = TopologyDescription(
        subtopologies=[TopologyDescriptionSubtopology(subtopology_id="0", nodes=nodes)],
        global_stores=[
            TopologyDescriptionGlobalStore(source=node(source), processor=node(processor))
            for source, processor in stores
        ],
    )
    (told,) = talk.answer(StreamsGroupDescribeResponse(throttle_time_ms=0, groups=[group])).groups
    assert told.error_code == (ErrorCode.TOPIC_AUTHORIZATION_FAILED if refused else ErrorCode.NONE)
    assert (told.topology_description is None) is refused
    assert told.group_state == ("" if refused else "Stable")


def refused_answer(talk: Talk) -> list[tuple[str, int | None]]:
    """The broker's answer names a topic that the client may not see; the refusals that the answer gave, with ids."""
    group = blank(StreamsGroupDescribeResponse.Group)
    group.group_id, group.group_state = MINE, "Stable"
    group.topology_description = TopologyDescription(
        subtopologies=[TopologyDescriptionSubtopology(subtopology_id="0", nodes=[node(THEIRS)])], global_stores=[]
    )
    before = len(talk.events)
    (told,) = talk.answer(StreamsGroupDescribeResponse(throttle_time_ms=0, groups=[group])).groups
    assert told.error_code == ErrorCode.TOPIC_AUTHORIZATION_FAILED
    return [(it.name, it.correlation_id) for it in talk.events[before:] if isinstance(it, Denied)]


def test_a_refusal_in_an_answer_is_told_also_if_a_later_request_was_refused_very_often(
    rules: Callable[..., Rules],
) -> None:
    talk = Talk(rules(RULES).acl)
    asked = StreamsGroupDescribeRequest(
        group_ids=[MINE], include_authorized_operations=False, include_topology_description=True
    )
    talk.ask(asked, 1)
    many = [MetadataRequest.Topic(name=f"shut-{number}") for number in range(MOST_EVENTS + 1)]
    talk.ask(MetadataRequest(topics=many, allow_auto_topic_creation=False), 9)
    assert len(talk.denied) == MOST_EVENTS
    assert refused_answer(talk) == [(THEIRS, 1)]


class Steps(Check):
    """A check by these steps, which is applied to nothing."""

    def __init__(self, steps: Generator[object, object, object]) -> None:
        self._steps = steps

    def apply(self, checked: object) -> Any:
        return self._steps


def asking(*, fails: bool = False) -> Generator[object, object, object]:
    """Steps with one question."""
    try:
        answer = yield "question"
    except KeyError:
        answer = "failed"
    return [answer, fails]


def at_once(decision: object) -> Generator[object, object, object]:
    """Steps that may ask, and do not."""
    if decision == "asked":
        yield
    return decision


def test_checks_that_asked_nothing_did_not_wait() -> None:
    applied = apply_all([Steps(at_once(None)), Steps(at_once("refused")), Steps(asking())], None)  # type: ignore[arg-type]
    with pytest.raises(StopIteration) as ended:
        next(applied)
    assert ended.value.value == ("refused", False)


def test_an_answer_or_an_error_reaches_the_check_that_asked() -> None:
    for give in ("send", "throw"):
        applied = apply_all([Steps(at_once(None)), Steps(asking(fails=give == "throw"))], None)  # type: ignore[arg-type]
        assert next(applied) == "question"
        with pytest.raises(StopIteration) as ended:
            applied.send("answer") if give == "send" else applied.throw(KeyError())
        assert ended.value.value == (["answer", False] if give == "send" else ["failed", True], True)
