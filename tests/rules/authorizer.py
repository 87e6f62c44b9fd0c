"""Kafka's own authorizer, with random ACLs and questions about them.

Names, principals and hosts are drawn from small sets, so that ACLs overlap and questions match them.
"""

from __future__ import annotations

import random
from functools import cache
from typing import Any, NamedTuple

from rules.bindings import Binding
from rules.values import Pattern
from rules.vocabulary import Operation, PatternType, Permission, ResourceType
from tests.proxy.protocol.oracles.kafka import Kafka

NAMES = ("a", "ab", "abc", "abcd", "abd", "b", "b-a", "hardcode", "hard", "z", "kafka-cluster", "a*", "*a", "(", "é")
ACL_NAMES = (*NAMES, "*", "*", "*", "")
PRINCIPALS = ("User:a", "User:b", "Group:a", "User:a:b", "User:", "Group:*")
ACL_PRINCIPALS = (*PRINCIPALS, "User:a", "User:*", "User:*")
HOSTS = ("127.0.0.1", "10.1.2.3", "0:0:0:0:0:0:0:1")
ACL_HOSTS = ("*", "*", "*", *HOSTS, "::1", "10.0.0.0/8")
# A few types and operations are drawn most of the time: random ones of all would hardly ever match.
KINDS = (ResourceType.TOPIC, ResourceType.TOPIC, *ResourceType)
OPERATIONS = (*(Operation.READ, Operation.WRITE, Operation.DESCRIBE, Operation.ALL) * 3, *Operation)


class Question(NamedTuple):
    """May this principal from this host do this operation on the resource? A name of None means any resource."""

    principal: str
    host: str
    operation: Operation
    kind: ResourceType
    name: str | None


class Case(NamedTuple):
    """ACLs in force, and questions about them."""

    super_users: tuple[str, ...]
    everyone: bool
    bindings: frozenset[Binding]
    questions: tuple[Question, ...]


def case(dice: random.Random, questions: int) -> Case:
    """A random case."""
    few = dice.sample(KINDS, 2)  # most ACLs and questions are about a few types, so that they match
    bindings = frozenset(_binding(dice, few) for _ in range(dice.choice((0, 1, 2, 3, 5, 8, 13, 21))))
    super_users = tuple(dice.sample(PRINCIPALS, dice.choice((0, 0, 0, 1, 2))))
    return Case(super_users, dice.random() < 0.3, bindings, tuple(_question(dice, few) for _ in range(questions)))


def _binding(dice: random.Random, kinds: list[ResourceType]) -> Binding:
    pattern = Pattern(dice.choice((PatternType.LITERAL, PatternType.PREFIXED)), dice.choice(ACL_NAMES))
    permission = dice.choice((Permission.ALLOW, Permission.ALLOW, Permission.DENY))
    return Binding(
        dice.choice(kinds),
        pattern,
        dice.choice(ACL_PRINCIPALS),
        dice.choice(ACL_HOSTS),
        dice.choice(OPERATIONS),
        permission,
    )


def _question(dice: random.Random, kinds: list[ResourceType]) -> Question:
    kind = dice.choice(kinds)
    name = None if dice.random() < 0.2 else dice.choice((*NAMES, "*", "**", "abcde", ""))
    return Question(dice.choice(PRINCIPALS), dice.choice(HOSTS), dice.choice(OPERATIONS), kind, name)


class Authorizer:
    """StandardAuthorizer, through py4j. Java objects that are used repeatedly are created once."""

    def __init__(self, kafka: Kafka) -> None:
        self.kafka = kafka
        self.metadata = kafka.gateway.jvm.org.apache.kafka.metadata.authorizer
        self.server = kafka.gateway.jvm.org.apache.kafka.server.authorizer
        metrics = kafka.common.metrics
        self.authorizer = self.metadata.StandardAuthorizer()
        self.authorizer.configure({})
        self.authorizer.withPluginMetrics(metrics.internals.PluginMetricsImpl(metrics.Metrics(), {}))
        self.authorizer.completeInitialLoad()
        # py4j does not find the default methods of interfaces; Java's reflection does.
        methods = kafka.java.lang.Class.forName("org.apache.kafka.server.authorizer.Authorizer").getMethods()
        (self.by_type,) = (method for method in methods if method.getName() == "authorizeByResourceType")
        self.context = cache(self._context)
        self.action = cache(self._action)
        self.acl = cache(self._acl)

    def answers(self, case: Case) -> list[bool]:
        """Kafka's answers to the questions of a case."""
        self._put_in_force(case)
        return [self._answer(question) for question in case.questions]

    def _put_in_force(self, case: Case) -> None:
        everyone = str(case.everyone).lower()
        settings = {"super.users": ";".join(case.super_users), "allow.everyone.if.no.acl.found": everyone}
        self.authorizer.configure(settings)
        self.authorizer.loadSnapshot({})
        for binding in case.bindings:
            self.authorizer.addAcl(self.kafka.common.Uuid.randomUuid(), self.acl(binding))

    def _answer(self, question: Question) -> bool:
        context = self.context(question.principal, question.host)
        operation = self._word(self.kafka.common.acl.AclOperation, question.operation)
        if question.name is None:
            kind = self._word(self.kafka.common.resource.ResourceType, question.kind)
            arguments = self.kafka.gateway.new_array(self.kafka.java.lang.Object, 3)
            arguments[0], arguments[1], arguments[2] = context, operation, kind
            return str(self.by_type.invoke(self.authorizer, arguments)) == "ALLOWED"
        action = self.action(question.operation, question.kind, question.name)
        return str(self.authorizer.authorize(context, action)[0]) == "ALLOWED"

    def _word(self, kind: Any, word: Any) -> Any:
        return kind.valueOf(word.name)

    def _acl(self, binding: Binding) -> Any:
        acl, resource = self.kafka.common.acl, self.kafka.common.resource
        return self.metadata.StandardAcl(
            self._word(resource.ResourceType, binding.kind),
            binding.pattern.name,
            self._word(resource.PatternType, binding.pattern.type),
            binding.principal,
            binding.host,
            self._word(acl.AclOperation, binding.operation),
            self._word(acl.AclPermissionType, binding.permission),
        )

    def _action(self, operation: Operation, kind: ResourceType, name: str) -> Any:
        acl, resource = self.kafka.common.acl, self.kafka.common.resource
        literal = resource.PatternType.LITERAL
        pattern = resource.ResourcePattern(self._word(resource.ResourceType, kind), name, literal)
        action = self.server.Action(self._word(acl.AclOperation, operation), pattern, 1, True, True)
        return self.kafka.java.util.List.of(action)

    def _context(self, principal: str, host: str) -> Any:
        common, kind = self.kafka.common, principal.partition(":")[0]
        return common.requests.RequestContext(
            common.requests.RequestHeader(common.protocol.ApiKeys.METADATA, 12, "client", 0),
            "connection",
            self.kafka.java.net.InetAddress.getByName(host),
            common.security.auth.KafkaPrincipal(kind, principal.partition(":")[2]),
            common.network.ListenerName("CLIENTS"),
            common.security.auth.SecurityProtocol.PLAINTEXT,
            common.network.ClientInformation.EMPTY,
            False,
        )
