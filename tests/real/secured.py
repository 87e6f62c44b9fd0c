"""One real Kafka node that wants to know who its clients are, and what they may do.

Its listener SASL speaks every mechanism; a session ends after two seconds where a test asks for that. What a client may
touch is whatever begins with its own name: so a topic says who wrote to it.
"""

from __future__ import annotations

import shutil
from contextlib import closing
from pathlib import Path
from types import TracebackType

from tests.real.cluster import CLUSTER_ID, SETTINGS, START, Broker
from tests.real.ports import free_port
from tests.real.way import Way

PASSWORDS = {"alice": "alice-secret", "bob": "bob-secret", "doorkeeper": "doorkeeper-secret"}
SCRAM = ("SCRAM-SHA-256", "SCRAM-SHA-512")
MECHANISMS = ("PLAIN", *SCRAM, "OAUTHBEARER")
MODULES = "org.apache.kafka.common.security."
PLAIN_USERS = " ".join(f'user_{name}="{password}"' for name, password in PASSWORDS.items())

SECURITY = """
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SASL:SASL_PLAINTEXT,SHORT:SASL_PLAINTEXT
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
super.users=User:ANONYMOUS;User:doorkeeper
offsets.topic.replication.factor=1
default.replication.factor=1
transaction.state.log.replication.factor=1
share.coordinator.state.topic.replication.factor=1
"""
OF_LISTENER = f"""
listener.name.LISTENER.sasl.enabled.mechanisms={",".join(MECHANISMS)}
listener.name.LISTENER.plain.sasl.jaas.config={MODULES}plain.PlainLoginModule required {PLAIN_USERS};
listener.name.LISTENER.scram-sha-256.sasl.jaas.config={MODULES}scram.ScramLoginModule required;
listener.name.LISTENER.scram-sha-512.sasl.jaas.config={MODULES}scram.ScramLoginModule required;
listener.name.LISTENER.oauthbearer.sasl.jaas.config=\
{MODULES}oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="node";
"""


class SecuredNode(Broker):
    """The node; a context that ends it."""

    def __init__(self, folder: Path) -> None:
        super().__init__(1, folder)
        self.sasl_port = free_port(self.host)
        self.short_port = free_port(self.host)

    @property
    def sasl(self) -> str:
        """Where clients have to say who they are."""
        return f"{self.host}:{self.sasl_port}"

    @property
    def short(self) -> str:
        """The same, and again every two seconds."""
        return f"{self.host}:{self.short_port}"

    @property
    def way(self) -> Way:
        """Straight to it."""
        return Way("direct", self.sasl, {self.sasl: 1})

    def format(self, voters: str) -> None:
        """Write the settings, and prepare the empty disk with the users of SCRAM."""
        self.folder.mkdir(parents=True)
        clients = f"PLAINTEXT://{self.address},SASL://{self.sasl},SHORT://{self.short}"
        listeners = f"{clients},CONTROLLER://{self.host}:{self.controller_port}"
        own = {
            "node.id": self.node_id,
            "controller.quorum.voters": voters,
            "listeners": listeners,
            "advertised.listeners": listeners,
            "log.dirs": self.folder / "data",
            "listener.name.short.connections.max.reauth.ms": 2000,
        }
        settings = {line.partition("=")[0]: line for line in SETTINGS.splitlines() + SECURITY.splitlines() if line}
        lines = [*(f"{name}={value}" for name, value in own.items()), *settings.values()]
        text = "\n".join(lines) + OF_LISTENER.replace("LISTENER", "sasl") + OF_LISTENER.replace("LISTENER", "short")
        (self.folder / "server.properties").write_text(text)
        users = [
            argument
            for mechanism in SCRAM
            for name, password in PASSWORDS.items()
            for argument in ("--add-scram", f"{mechanism}=[name={name},password={password}]")
        ]
        storage = self._run("kafka.tools.StorageTool", "format", "-t", CLUSTER_ID, *users, "-c")
        if storage.wait(START):
            raise AssertionError(f"the disk was not formatted:\n{storage.tail()}")

    def __enter__(self) -> SecuredNode:
        try:
            self.format(self.voter)
            self.start()
            self.ready()
            self.allow()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._program is not None:
            self.kill()
        shutil.rmtree(self.folder / "data", ignore_errors=True)

    def allow(self) -> None:
        """Each user may do everything with what begins with their name."""
        from kafka.admin import ACL, ACLOperation, ACLPermissionType, KafkaAdminClient, ResourcePattern, ResourceType
        from kafka.admin import ACLResourcePatternType as Kind

        with closing(KafkaAdminClient(bootstrap_servers=self.address)) as admin:
            admin.create_acls(
                [
                    ACL(
                        principal=f"User:{name}",
                        host="*",
                        operation=ACLOperation.ALL,
                        permission_type=ACLPermissionType.ALLOW,
                        resource_pattern=ResourcePattern(kind, f"{name}-", Kind.PREFIXED),
                    )
                    for name in PASSWORDS
                    for kind in (ResourceType.TOPIC, ResourceType.GROUP)
                ]
            )


def unsecured_token(subject: str, lifetime: float, now: float) -> str:
    """A token that nobody signed."""
    from tests.plugins.sasl import jwt

    return jwt(sub=subject, iat=now, exp=now + lifetime)
