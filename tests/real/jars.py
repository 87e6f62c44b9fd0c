"""Jars of Kafka and of a remote file system, from Maven Central, by the Ivy in PySpark's wheel.

A set of jars is one folder, complete or absent: it is fetched beside its place and then renamed, so an interrupted
fetch never looks complete. One run fetches and the others wait for it, because Ivy's cache is not safe for two
processes at a time.
"""

from __future__ import annotations

import fcntl
import importlib.util
import os
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path

from plugins.audit.reports.pipeline.audit_topic import PACKAGE
from tests.real.java import java

CHECKOUT = Path(__file__).resolve().parents[2]

KAFKA_SOURCE = f"spark-kafka-{PACKAGE.rpartition(':')[2]}"  # Spark's
# name -> the coordinates that are fetched into one folder
SETS = {
    "kafka-4.3.1": (
        "org.apache.kafka:kafka_2.13:4.3.1",
        "org.apache.kafka:kafka-tools:4.3.1",
        "org.slf4j:slf4j-simple:1.7.36",  # without a logger a broker prints nothing, not even that it has started
    ),
    "clients-4.4.0": ("org.apache.kafka:kafka-clients:4.4.0",),
    "clients-2.3.1": ("org.apache.kafka:kafka-clients:2.3.1",),
    # The oldest clients expect the classes of jaxb-api in Java itself, as Java once had them.
    "clients-1.0.2": ("org.apache.kafka:kafka-clients:1.0.2", "javax.xml.bind:jaxb-api:2.3.1"),
    "clients-0.11.0.3": ("org.apache.kafka:kafka-clients:0.11.0.3", "javax.xml.bind:jaxb-api:2.3.1"),
    "clients-4.3.1": ("org.apache.kafka:kafka-streams:4.3.1",),  # and the clients that it depends on
    KAFKA_SOURCE: (PACKAGE,),
    "clients-3.9.1": ("org.apache.kafka:kafka-clients:3.9.1",),
    "hdfs-3.5.0": (
        "org.apache.hadoop:hadoop-client-minicluster:3.5.0",  # a distributed file system (HDFS) with its dependencies
        "org.slf4j:slf4j-simple:1.7.36",
    ),
}
# Debian's bundle of the machine's CA certificates: only it has the CA of a machine whose TLS is intercepted.
TRUSTSTORE = Path("/etc/ssl/certs/java/cacerts")
PATIENCE = 600  # seconds for one coordinate; 40 is usual


class NoJarsError(RuntimeError):
    """A set of jars is not cached, and cannot be fetched."""


def cache_folder() -> Path:
    """The folder that keeps downloads between runs: DOORKEEPER_CACHE, else `.cache` in the checkout."""
    return Path(os.environ.get("DOORKEEPER_CACHE") or CHECKOUT / ".cache")


def jars(name: str) -> Path:
    """The folder of the set `name`, fetched once; NoJarsError says in one line why it could not be."""
    folder = cache_folder() / "jars" / name
    if folder.is_dir():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.is_dir():
            fetch(SETS[name], folder)
    return folder


def kafka_source() -> tuple[Path, ...]:
    """The jars of Spark's Kafka source that Spark's wheel lacks."""
    carried = pyspark_jar("spark-sql_*.jar").parent
    return tuple(jar for jar in jars(KAFKA_SOURCE).glob("*.jar") if not (carried / jar.name).exists())


def classpath(name: str) -> str:
    """The class path of the set `name`, for `java -cp`."""
    return f"{jars(name)}/*"


def fetch(coordinates: Iterable[str], folder: Path) -> None:
    with tempfile.TemporaryDirectory(prefix=".fetching-", dir=folder.parent) as fresh:
        whole = Path(fresh, folder.name)
        whole.mkdir()
        for coordinate in coordinates:
            retrieve(coordinate, whole)
        whole.rename(folder)


def retrieve(coordinate: str, into: Path) -> None:
    """Fetch one artifact and its dependencies."""
    command = [java()]
    if TRUSTSTORE.is_file():
        command.append(f"-Djavax.net.ssl.trustStore={TRUSTSTORE}")
    command += ["-jar", str(pyspark_jar("ivy-*.jar")), "-cache", str(cache_folder() / "ivy"), "-confs", "default"]
    command += ["-dependency", *coordinate.split(":"), "-retrieve", f"{into}/[artifact]-[revision].[ext]"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        raise NoJarsError(f"{coordinate}: Maven Central did not deliver it in {PATIENCE} s; run again") from None
    if done.returncode or not any(into.glob("*.jar")):
        raise NoJarsError(f"{coordinate}: not fetched from Maven Central: {reason(done.stdout + done.stderr)}")


def reason(output: str) -> str:
    """The line of Ivy's long output that has the error."""
    telling = [line.strip(" \t:") for line in output.splitlines() if "not found" in line or "xception" in line]
    return telling[0] if telling else "Ivy gave no reason; is this machine online?"


def pyspark_jar(pattern: str) -> Path:
    """A jar in PySpark's wheel."""
    found = importlib.util.find_spec("pyspark")
    for place in found.submodule_search_locations or () if found else ():
        for jar in Path(place, "jars").glob(pattern):
            return jar
    raise NoJarsError(f"no {pattern} at hand: run `pip install pyspark`, whose wheel carries it")
