"""Three real brokers that authenticate and authorize their clients.

Each has a listener for each way to authenticate:

    PLAINTEXT   none: for brokers among themselves, and for the preparation of tests
    SASL        every mechanism; tokens are unsigned
    SHORT       the same, with a session of eight seconds, after which clients authenticate again
    SEALED      the same as SASL, over TLS
    SIGNED      tokens signed by an issuer, over TLS; the principal is in their claim `client`
    CERTIFIED   client certificates, by their names

A client may use only resources whose names begin with its own name: so a topic shows its writer's principal.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from tests.certificates import Authority
from tests.proxy.auth.issuer import Issuer
from tests.real.cluster import Broker, Cluster
from tests.real.ports import free_port

PASSWORDS = {"alice": "alice-secret", "bob": "bob-secret", "doorkeeper": "doorkeeper-secret"}
SCRAM = ("SCRAM-SHA-256", "SCRAM-SHA-512")
MECHANISMS = ("PLAIN", *SCRAM, "OAUTHBEARER")
CLAIM = "client"
# A mapping rule in Kafka's syntax that changes case: CN=Alice,O=Clients is alice.
PRINCIPALS = ("RULE:^CN=([^,]+),O=Clients$/$1/L", "DEFAULT")

PROTOCOLS = {
    "SASL": "SASL_PLAINTEXT",
    "SHORT": "SASL_PLAINTEXT",
    "SEALED": "SASL_SSL",
    "SIGNED": "SASL_SSL",
    "CERTIFIED": "SSL",
}
MODULES = "org.apache.kafka.common.security."
PLAIN_USERS = " ".join(f'user_{name}="{password}"' for name, password in PASSWORDS.items())

SECURITY = f"""
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,\
{",".join(f"{name}:{protocol}" for name, protocol in PROTOCOLS.items())}
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
super.users=User:ANONYMOUS
delegation.token.secret.key=a secret of the brokers
default.replication.factor=1
ssl.keystore.type=PEM
ssl.truststore.type=PEM
listener.name.certified.ssl.client.auth=required
listener.name.certified.ssl.principal.mapping.rules={",".join(PRINCIPALS)}
listener.name.short.connections.max.reauth.ms=8000
"""
OF_LISTENER = f"""
listener.name.LISTENER.sasl.enabled.mechanisms={",".join(MECHANISMS)}
listener.name.LISTENER.plain.sasl.jaas.config={MODULES}plain.PlainLoginModule required {PLAIN_USERS};
listener.name.LISTENER.scram-sha-256.sasl.jaas.config={MODULES}scram.ScramLoginModule required;
listener.name.LISTENER.scram-sha-512.sasl.jaas.config={MODULES}scram.ScramLoginModule required;
listener.name.LISTENER.oauthbearer.sasl.jaas.config=\
{MODULES}oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="node";
"""
SIGNED = f"""
listener.name.signed.sasl.enabled.mechanisms=OAUTHBEARER
listener.name.signed.oauthbearer.sasl.jaas.config=\
{MODULES}oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="node";
listener.name.signed.oauthbearer.sasl.server.callback.handler.class=\
{MODULES}oauthbearer.OAuthBearerValidatorCallbackHandler
listener.name.signed.sasl.oauthbearer.jwks.endpoint.url=JWKS
listener.name.signed.sasl.oauthbearer.expected.audience=kafka
listener.name.signed.sasl.oauthbearer.expected.issuer=https://issuer
listener.name.signed.sasl.oauthbearer.sub.claim.name={CLAIM}
"""


class SecuredBroker(Broker):
    """One secured broker, with a certificate for its address."""

    users = tuple(
        f"{mechanism}=[name={name},password={password}]" for mechanism in SCRAM for name, password in PASSWORDS.items()
    )

    def __init__(self, node_id: int, folder: Path, authority: Authority, keys: Path) -> None:
        super().__init__(node_id, folder)
        self.ports = {name: free_port(self.host) for name in PROTOCOLS}
        self._authority, self._keys = authority, keys
        self.flags = (f"-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls={keys.as_uri()}",)

    @property
    def listeners(self) -> dict[str, str]:
        """The addresses of its listeners, by name."""
        return super().listeners | {name: f"{self.host}:{port}" for name, port in self.ports.items()}

    def settings(self, voters: str) -> str:
        """The text of its server.properties."""
        certificate, key = self._authority.issue(f"broker-{self.node_id}", self.host)
        store = self.folder / "broker.pem"
        store.write_text(key.read_text() + certificate.read_text() + self._authority.file.read_text())
        parts = [
            super().settings(voters),
            SECURITY,
            *(OF_LISTENER.replace("LISTENER", name) for name in ("sasl", "short", "sealed")),
            SIGNED.replace("JWKS", self._keys.as_uri()),
            f"ssl.keystore.location={store}\nssl.truststore.location={self._authority.file}\n",
        ]
        return "".join(parts)


class SecuredCluster(Cluster):
    """The brokers, the CA of their certificates and of their clients', and the issuer of tokens."""

    def __init__(self, folder: Path) -> None:
        self.authority = Authority(folder)
        self.issuer = Issuer()
        self.keys = folder / "keys.json"
        self.keys.write_text(self.issuer.jwks)
        super().__init__(folder)

    def broker(self, node_id: int, folder: Path) -> SecuredBroker:
        """One of them, not started yet."""
        return SecuredBroker(node_id, folder, self.authority, self.keys)

    def at(self, listener: str) -> str:
        """The bootstrap addresses of a listener."""
        return ",".join(broker.listeners[listener] for broker in self.brokers.values())

    def allow(self, *names: str) -> None:
        """Allow each user everything on resources whose names begin with the user's name."""
        from kafka.admin import ACL, ACLOperation, ACLPermissionType, KafkaAdminClient, ResourcePattern, ResourceType
        from kafka.admin import ACLResourcePatternType as Kind

        rules = [
            ACL(
                principal=f"User:{name}",
                host="*",
                operation=ACLOperation.ALL,
                permission_type=ACLPermissionType.ALLOW,
                resource_pattern=ResourcePattern(kind, f"{name}-", Kind.PREFIXED),
            )
            for name in names
            for kind in (ResourceType.TOPIC, ResourceType.GROUP)
        ]
        with closing(KafkaAdminClient(bootstrap_servers=self.bootstrap.split(","))) as admin:
            admin.create_acls(rules)
