"""The users of generated months, with their software and topics; some have malicious names."""

from __future__ import annotations

from dataclasses import dataclass, field

HARMFUL = (
    "<script>alert(1)</script>",
    "=HYPERLINK(0)",
    '+1"|quoted, with a comma',
    "evil\u202egnp.exe",
    "line\r\nbreak\ttab",
    "x" * 249,
    "@SUM(A1)",
    "&amp;é漢字🦊",
    "-2+3",
    "'quoted'",
)


@dataclass(frozen=True)
class Software:
    """A client library, and the API versions that it sends."""

    says: str | None
    produce: int
    fetch: int
    metadata: int
    others: int = 1


JAVA_4 = Software("apache-kafka-java 4.0.0", 12, 17, 13, 6)
JAVA_3 = Software("apache-kafka-java 3.9.1", 11, 17, 12, 5)
JAVA_1 = Software(None, 5, 7, 5, 1)
JAVA_010 = Software(None, 2, 2, 1, 0)
LIBRDKAFKA = Software("librdkafka 2.6.0", 10, 16, 12, 3)
SARAMA = Software("sarama 1.43", 3, 5, 5, 1)
SOFTWARE = (JAVA_4, JAVA_3, JAVA_1, JAVA_010, LIBRDKAFKA, SARAMA)


@dataclass(frozen=True)
class Person:
    """One user of the cluster, at one address."""

    principal: str | None
    host: str
    client_id: str | None
    software: Software
    topics: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    mechanism: str | None = "SCRAM-SHA-256"
    tls: str | None = "TLSv1.3 TLS_AES_256_GCM_SHA384"
    listener: str = "clients"
    subject: str | None = None
    forbidden: tuple[str, ...] = field(default=())  # topics that it requests without the right to use them

    @property
    def party(self) -> dict[str, object]:
        """The user's fields in each of its events; unknown fields are left out, as the writer does."""
        said = {
            "cluster": "main",
            "listener": self.listener,
            "client_host": self.host,
            "principal": self.principal,
            "mechanism": self.mechanism,
            "tls": self.tls,
            "tls_subject": self.subject,
            "client_id": self.client_id,
            "client_software": self.software.says,
        }
        return {name: value for name, value in said.items() if value is not None}


ODD_TOPIC, LONG_TOPIC = "odd.<b>&'\"\u202e", "t" * 249

PRODUCERS = (
    Person("User:orders-app", "10.1.2.3", "orders-app", JAVA_4, ("orders", "payments")),
    Person("User:billing", "10.1.2.9", "billing-1", LIBRDKAFKA, ("payments", "invoices", "refunds")),
    Person("User:sensors", "10.9.0.7", "s-1", JAVA_010, ("telemetry",), mechanism="PLAIN", tls=None),
    Person(f"User:{HARMFUL[0]}", "10.66.6.6", HARMFUL[1], SARAMA, (ODD_TOPIC, LONG_TOPIC), forbidden=("patients",)),
)
CONSUMERS = (
    Person("User:warehouse", "10.1.3.1", "warehouse", JAVA_3, ("orders",), ("warehouse-a",)),
    Person("User:analyst", "10.4.4.4", "notebook", LIBRDKAFKA, ("orders", "payments"), ("lab-1",), forbidden=("hr",)),
    Person("User:clinic", "2001:db8:0:0:0:0:0:5", "clinic", JAVA_4, ("patients",), ("clinic",)),
    Person(None, "192.168.7.7", None, JAVA_1, ("telemetry",), ("old",), mechanism=None, tls=None, listener="legacy"),
    Person(
        f"User:{HARMFUL[5]}", "10.66.6.7", HARMFUL[2], JAVA_3, (LONG_TOPIC,), (HARMFUL[3],), forbidden=(HARMFUL[4],)
    ),
)
ADMINS = (
    Person("User:admin", "10.0.0.2", "admin-tool", JAVA_4, subject="CN=admin,OU=ops", tls="TLSv1.2 ECDHE-RSA-AES128"),
    Person("User:deploy", "10.0.0.3", "terraform", SARAMA),
)
STRANGERS = (
    Person(None, "203.0.113.9", "kafka-python-2.0", SARAMA, mechanism="PLAIN", tls=None),
    Person(None, "198.51.100.4", HARMFUL[6], JAVA_3, mechanism="SCRAM-SHA-512"),
)
NEWCOMERS = (  # they connect only in the second half of a month
    Person("User:contractor", "10.8.8.8", "laptop", LIBRDKAFKA, ("orders",), ("contractor",)),
    Person("User:analyst", "10.4.4.5", HARMFUL[7], LIBRDKAFKA, ("payments",), ("lab-2",)),
)
SENSITIVE = {"payments": ("pci",), "invoices": ("pci",), "patients": ("phi", "gdpr"), "hr": ("gdpr",)}
