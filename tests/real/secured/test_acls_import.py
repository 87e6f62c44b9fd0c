"""The ACLs of a cluster that requires authentication: `doorkeeper acls import` logs in as the proxy would."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result
from kafka.admin import ACL, ACLOperation, ACLPermissionType, KafkaAdminClient, ResourcePattern, ResourceType

from proxy.cli import main
from proxy.cli.live_acls import ELSEWHERE
from tests.real.records import patiently
from tests.real.secured.cluster import PASSWORDS, SecuredCluster

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def asking(secured: SecuredCluster) -> SecuredCluster:
    """The brokers, which allow only Doorkeeper to describe ACLs."""
    cluster = ResourcePattern(ResourceType.CLUSTER, "kafka-cluster")
    acl = ACL("User:doorkeeper", "*", ACLOperation.DESCRIBE, ACLPermissionType.ALLOW, cluster)
    with closing(KafkaAdminClient(bootstrap_servers=secured.bootstrap.split(","))) as admin:
        admin.create_acls([acl])
    for _ in patiently("every broker lets it"):
        if all("to: Describe" in imported("--bootstrap", at).stdout for at in secured.bootstrap.split(",")):
            break
    return secured


def imported(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["acls", "import", *map(str, arguments)])


def sasl(mechanism: str, name: str = "doorkeeper", password: str | None = None) -> dict[str, str]:
    return {"mechanism": mechanism, "username": name, "password": password or PASSWORDS[name]}


def written(folder: Path, brokers: SecuredCluster, listener: str, **how: object) -> Path:
    """A configuration with one cluster, whose first broker does not exist."""
    file = folder / "gateway.yaml"
    bootstrap = ["127.0.0.1:1", *brokers.at(listener).split(",")]
    config = {
        "clusters": {"main": {"bootstrap": bootstrap, **how}},
        "listeners": {"clients": {"cluster": "main", "bind": "127.0.0.1:9192"}},
    }
    file.write_text(yaml.safe_dump(config))
    return file


@pytest.mark.parametrize(
    ("listener", "mechanism"), [("SASL", "PLAIN"), ("SEALED", "SCRAM-SHA-512"), ("SHORT", "SCRAM-SHA-256")]
)
def test_a_configured_cluster_is_asked_over_its_tls_and_as_its_user(
    asking: SecuredCluster, tmp_path: Path, listener: str, mechanism: str
) -> None:
    tls = {"tls": {"ca": str(asking.authority.file)}} if listener == "SEALED" else {}
    file = written(tmp_path, asking, listener, sasl=sasl(mechanism), **tls)
    result = imported("--config", file)
    assert result.exit_code == 0, result.output
    assert result.stdout == imported("--bootstrap", asking.bootstrap.split(",")[0]).stdout


def test_a_certificate_says_who_asks_too(asking: SecuredCluster, tmp_path: Path) -> None:
    certificate, key = asking.authority.issue("Doorkeeper", organization="Clients")
    tls = {"ca": str(asking.authority.file), "certificate": str(certificate), "key": str(key)}
    result = imported("--config", written(tmp_path, asking, "CERTIFIED", tls=tls), "--cluster", "main")
    assert result.exit_code == 0, result.output
    assert "User:doorkeeper" in result.stdout


def test_whoever_may_not_describe_the_cluster_is_told_so(asking: SecuredCluster, tmp_path: Path) -> None:
    result = imported("--config", written(tmp_path, asking, "SASL", sasl=sasl("PLAIN", "alice")))
    assert (result.exit_code, result.stdout) == (1, "")
    assert ": CLUSTER_AUTHORIZATION_FAILED: " in result.stderr


def test_every_broker_that_refuses_is_told(asking: SecuredCluster, tmp_path: Path) -> None:
    file = written(tmp_path, asking, "SASL", sasl=sasl("SCRAM-SHA-256", password="wrong"))
    result = imported("--config", file)
    assert (result.exit_code, result.stdout) == (1, "")
    first, *others = result.stderr.splitlines()
    assert first == f"{file}:4:7: 127.0.0.1:1: connection refused; {ELSEWHERE}"
    assert len(others) == 3
    assert all("refused our credentials: SASL_AUTHENTICATION_FAILED" in line for line in others)
