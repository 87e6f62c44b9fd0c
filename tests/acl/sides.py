"""The two sides that are compared: a broker with the rules in its own authorizer, and one without behind Doorkeeper.

# The rules of all scenarios are in force at once, and their topics are there, before the first is played.
# What was changed is in force when the cluster says so, and never because time passed.
"""

from __future__ import annotations

import hashlib
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, cast

from proxy.auth.users import save
from proxy.auth.verifiers import verifiers
from proxy.protocol.api import PRODUCE
from proxy.protocol.errors import ErrorCode
from proxy.protocol.messages.create_acls import CreateAclsRequest
from proxy.protocol.messages.create_topics import CreateTopicsRequest
from proxy.protocol.messages.delete_acls import DeleteAclsRequest
from proxy.protocol.messages.find_coordinator import FindCoordinatorRequest
from proxy.protocol.messages.metadata import MetadataRequest, MetadataResponse
from proxy.protocol.schema import Response
from proxy.protocol.wire import NO_UUID
from rules.bindings import Binding, bindings
from rules.model import Acl, AclFile
from rules.write import file_text
from tests.acl.language import Scenario
from tests.acl.names import SUPER_USER, Names
from tests.acl.nodes import AUTHORIZER, HOST, PASSWORD, UNMATCHED, Node
from tests.acl.wire import Wire
from tests.real.jars import CHECKOUT
from tests.real.ports import free_block
from tests.real.process import Program

START = 30.0
PATIENCE = 30.0  # seconds until what was changed is in force
FENCE = "fence"  # whose rights and topics say that all that came before is in force
OLDEST_PRODUCE = 3  # brokers advertise 0 and close on it (KAFKA-18659)
CONFIGURATION = """\
clusters:
  main:
    bootstrap: ["{host}:{clients}"]
    sasl: {{mechanism: PLAIN, username: {admin}, password: {password}, identities: {identities}}}
listeners:
  clients:
    cluster: main
    bind: "{host}:{port}"
    sasl: {{mechanisms: [PLAIN], credentials: users.yaml}}
plugins:
  - acl: {{rules: acl.yaml, managed: true}}
"""


class Ids:
    """Topics of one cluster by name and by id; what has no topic gets an id of its own that no cluster knows."""

    def __init__(self, trusted: Wire) -> None:
        self._trusted = trusted
        self._ids: dict[str, bytes] = {}
        self._names: dict[bytes, str] = {}

    def of(self, name: str) -> bytes:
        """The id of a topic as it is now."""
        if name not in self._ids:
            (topic,) = self._ask(MetadataRequest.Topic(name=name, topic_id=NO_UUID))
            if topic.error_code:
                missing = hashlib.md5(name.encode()).digest()
                self._names[missing] = name
                return missing
            self.learn(name, topic.topic_id)
        return self._ids[name]

    def name(self, topic_id: bytes) -> str | None:
        """The name of the topic that has this id."""
        if topic_id not in self._names:
            (topic,) = self._ask(MetadataRequest.Topic(name=None, topic_id=topic_id))
            if topic.error_code or topic.name is None:
                return None
            self.learn(topic.name, topic_id)
        return self._names[topic_id]

    def learn(self, name: str, topic_id: bytes) -> None:
        self._ids[name], self._names[topic_id] = topic_id, name

    def _ask(self, topic: MetadataRequest.Topic) -> list[MetadataResponse.Topic]:
        request = MetadataRequest(topics=[topic], allow_auto_topic_creation=False)
        return cast(MetadataResponse, self._trusted.ask(request, 12)).topics


class Side:
    """One of the two: where clients connect, and who looks after it."""

    def __init__(self, name: str, node: Node, port: int) -> None:
        self.name, self.node, self.port = name, node, port
        self.trusted = Wire(node.trusted)
        self.ids = Ids(self.trusted)
        self.admin = Wire(port, SUPER_USER)
        self._fences = 0

    def close(self) -> None:
        self.trusted.close()
        self.admin.close()

    def change(self, number: int, acls: Sequence[Acl]) -> None:
        """Put other rules in force for a scenario."""
        raise NotImplementedError

    def _wait(self, probe: Wire, fence: str) -> None:
        """Until the one who may see the fence is told that it is missing, and no longer that it is forbidden."""
        topic = MetadataRequest.Topic(name=fence, topic_id=NO_UUID)
        request = MetadataRequest(topics=[topic], allow_auto_topic_creation=False)

        def in_force() -> bool:
            (told,) = cast(MetadataResponse, probe.ask(request, 12)).topics
            return told.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION

        until(in_force, f"{self.name}: the rules")


class Broker(Side):
    """Kafka's own authorizer."""

    def __init__(self, node: Node) -> None:
        super().__init__("the broker", node, node.clients)
        self._in_force: dict[int, frozenset[Binding]] = {}

    def change(self, number: int, acls: Sequence[Acl]) -> None:
        self.load({number: acls})

    def load(self, rules: Mapping[int, Sequence[Acl]]) -> None:
        """Put the rules of scenarios in force, instead of those that they had."""
        new = {
            number: frozenset(binding for acl in acls for binding in bindings(acl)) for number, acls in rules.items()
        }
        wanted = frozenset().union(*new.values())
        had = frozenset().union(*(self._in_force.get(number, frozenset()) for number in rules))
        self._in_force |= new
        self._fences += 1
        fence = f"{FENCE}-{self._fences}"
        may_see = Acl.model_validate({"allow": f"User:{FENCE}", "to": "Describe", "topics": fence})
        if had - wanted:
            checked(self.trusted.ask(DeleteAclsRequest(filters=[*map(_filter, had - wanted)]), 3))
        checked(self.trusted.ask(CreateAclsRequest(creations=[*map(_creation, wanted - had)]), 3))
        checked(self.trusted.ask(CreateAclsRequest(creations=[*map(_creation, bindings(may_see))]), 3))
        with Wire(self.port, FENCE) as probe:
            self._wait(probe, fence)


class Proxied(Side):
    """Doorkeeper with the plugin `acl`, in front of a broker that allows everything."""

    def __init__(self, folder: Path, node: Node, scenarios: Sequence[Scenario], unmatched: str) -> None:
        folder.mkdir()
        self._unmatched = unmatched
        self._rules = {each.number: Names(each.number).rules(each.given.acls) for each in scenarios}
        self._file = folder / "acl.yaml"
        self._fences = 0
        self._write()
        same = verifiers(PASSWORD)
        save(folder / "users.yaml", dict.fromkeys(users(scenarios), same))
        port = free_block(4, HOST)
        known = ", ".join(f"User:{name}: {{username: {name}, password: {PASSWORD}}}" for name in identified(scenarios))
        text = CONFIGURATION.format(
            host=HOST,
            clients=node.clients,
            port=port,
            admin=SUPER_USER,
            password=PASSWORD,
            identities=f"{{{known}}}",
        )
        (folder / "gateway.yaml").write_text(text)
        command = [sys.executable, "-m", "proxy", "run", str(folder / "gateway.yaml"), "--log", "text"]
        self.program = Program("doorkeeper", command, folder / "doorkeeper.log", env={"PYTHONPATH": str(CHECKOUT)})
        try:
            self.program.expect("listening", str(port), within=START)
            super().__init__("doorkeeper", node, port)
        except BaseException:
            self.program.kill()
            raise

    def close(self) -> None:
        super().close()
        self.program.stop()

    def change(self, number: int, acls: Sequence[Acl]) -> None:
        self._rules[number] = list(acls)
        self._fences += 1
        self._write()
        with Wire(self.port, FENCE) as probe:
            self._wait(probe, f"{FENCE}-{self._fences}")

    def _write(self) -> None:
        may_see = Acl.model_validate({"allow": f"User:{FENCE}", "to": "Describe", "topics": f"{FENCE}-{self._fences}"})
        acls = tuple(acl for rules in self._rules.values() for acl in rules)
        rules = AclFile.model_construct(
            super_users=(f"User:{SUPER_USER}",), unmatched=self._unmatched, acls=(may_see, *acls)
        )
        text = file_text(rules)
        fresh = self._file.with_suffix(".new")
        fresh.write_text(text)
        fresh.replace(self._file)


def users(scenarios: Iterable[Scenario]) -> list[str]:
    """Everybody who asks anything, on the wire."""
    named = {Names(each.number).wire(step.as_) for each in scenarios for step in each.steps}
    return sorted({SUPER_USER, FENCE} | named)


def identified(scenarios: Iterable[Scenario]) -> list[str]:
    """For whom the proxy speaks to the broker in their own name: tokens belong to who asks for them."""
    return users(each for each in scenarios if each.theme == "tokens")


class Sides:
    """Both, with all that some scenarios are given; a context that ends them. Doorkeeper stands before `behind`."""

    def __init__(self, folder: Path, scenarios: Sequence[Scenario], behind: Node) -> None:
        self._folder, self._scenarios, self._behind = folder, scenarios, behind
        (self._unmatched,) = {each.unmatched for each in scenarios}
        self._node = Node(folder / "secured", users(scenarios), AUTHORIZER + UNMATCHED[self._unmatched])

    def __enter__(self) -> Sides:
        with ExitStack() as stack:
            node = stack.enter_context(self._node)
            stack.enter_context(self._behind)
            for each in (node, self._behind):
                prepare(each, self._scenarios)
            self.broker = Broker(node)
            stack.callback(self.broker.close)
            self.broker.load({each.number: Names(each.number).rules(each.given.acls) for each in self._scenarios})
            self.proxied = Proxied(self._folder / "doorkeeper", self._behind, self._scenarios, self._unmatched)
            stack.callback(self.proxied.close)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def __iter__(self) -> Iterator[Side]:
        yield from (self.broker, self.proxied)

    def spoken(self) -> dict[int, range]:
        """What clients may send through the proxy."""
        spoken = self.proxied.admin.spoken()
        spoken[PRODUCE.key] = range(OLDEST_PRODUCE, spoken[PRODUCE.key].stop)
        return spoken


def prepare(node: Node, scenarios: Iterable[Scenario]) -> None:
    """Make all topics, and wake the coordinators."""
    trusted = Wire(node.trusted)
    named = topics(scenarios)
    Topic = CreateTopicsRequest.Topic  # noqa: N806
    wanted = [
        Topic(name=name, num_partitions=count, replication_factor=1, assignments=[], configs=[])
        for name, count in named.items()
    ]
    checked(trusted.ask(CreateTopicsRequest(topics=wanted, timeout_ms=60_000), 7))

    def there() -> bool:
        asked = [MetadataRequest.Topic(name=name, topic_id=NO_UUID) for name in named]
        request = MetadataRequest(topics=asked, allow_auto_topic_creation=False)
        answer = cast(MetadataResponse, trusted.ask(request, 12))
        return not any(topic.error_code or any(part.error_code for part in topic.partitions) for topic in answer.topics)

    until(there, "the topics")
    for key_type in (0, 1):
        request = FindCoordinatorRequest(key_type=key_type, coordinator_keys=["x"])
        until(lambda request=request: not any(errors(trusted.ask(request, 4))), "a coordinator")  # type: ignore[misc]
    trusted.close()


def topics(scenarios: Iterable[Scenario]) -> dict[str, int]:
    """All topics that scenarios are given, on the wire, and their numbers of partitions."""
    from tests.acl.names import versioned

    found = {}
    for each in scenarios:
        names = Names(each.number)
        for name, count in each.given.topics.items():
            for version in range(20) if "$version" in name else (0,):
                found[names.wire(versioned(name, version))] = count
    return found


def errors(answer: Response) -> Iterator[int]:
    """Every error code of an answer, of whatever is in it."""
    from proxy.protocol.schema import Struct
    from proxy.protocol.wire import Meaning

    def within(struct: Struct) -> Iterator[int]:
        for field in struct.fields:
            if not struct.has(field.name):
                continue
            value = getattr(struct, field.name)
            if field.meaning is Meaning.ERROR and not field.is_array:
                yield value
            for inner in value if isinstance(value, list) else (value,):
                if isinstance(inner, Struct):
                    yield from within(inner)

    return within(answer)


def checked(answer: Response) -> Response:
    assert not any(errors(answer)), answer
    return answer


def until(holds: Callable[[], bool], what: str) -> None:
    """Ask until it holds."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, f"{what}: not there after {PATIENCE:.0f} s"


def _creation(binding: Binding) -> Any:
    return CreateAclsRequest.Creation(
        resource_type=binding.kind,
        resource_name=binding.pattern.name,
        resource_pattern_type=binding.pattern.type,
        principal=binding.principal,
        host=binding.host,
        operation=binding.operation,
        permission_type=binding.permission,
    )


def _filter(binding: Binding) -> Any:
    return DeleteAclsRequest.Filter(
        resource_type_filter=binding.kind,
        resource_name_filter=binding.pattern.name,
        pattern_type_filter=binding.pattern.type,
        principal_filter=binding.principal,
        host_filter=binding.host,
        operation=binding.operation,
        permission_type=binding.permission,
    )
