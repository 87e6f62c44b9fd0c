"""Kafka's own classes, called from Python: what they read and write is what the wire is.

A `Kafka` is a Java virtual machine with one release of kafka-clients. py4j turns bytes into byte[] and back.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pyspark
from py4j.java_gateway import GatewayParameters, JavaGateway, launch_gateway
from py4j.protocol import Py4JJavaError

from tests.real.jars import classpath, jars
from tests.real.java import java

JACKSON = "kafka-4.3.1"  # kafka-clients does not bring what its JSON converters need; the broker's jars do

KafkaRefusedError = Py4JJavaError


class Kafka:
    """One release of kafka-clients, running. `with Kafka("clients-4.4.0") as kafka: kafka.common.message...`"""

    def __init__(self, clients: str) -> None:
        (py4j_jar,) = Path(pyspark.__file__).parent.glob("jars/py4j-*.jar")
        jackson = [str(jar) for jar in jars(JACKSON).glob("jackson-*.jar")]
        port = launch_gateway(
            classpath=os.pathsep.join([classpath(clients), *jackson]),
            jarpath=str(py4j_jar),
            java_path=java(),
            javaopts=["-Xmx256m", "-XX:+UseSerialGC", "-Dslf4j.internal.verbosity=ERROR"],
            redirect_stderr=None,
            die_on_exit=True,
        )
        self.gateway = JavaGateway(gateway_parameters=GatewayParameters(port=port, auto_convert=True))
        self.java: Any = self.gateway.jvm.java
        self.common: Any = self.gateway.jvm.org.apache.kafka.common

    def __enter__(self) -> Kafka:
        return self

    def __exit__(self, *_: object) -> None:
        self.gateway.shutdown()

    def has(self, name: str) -> bool:
        """Is there a class of this name?"""
        try:
            self.java.lang.Class.forName(name)
        except Py4JJavaError:
            return False
        return True
