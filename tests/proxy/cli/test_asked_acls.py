"""The cluster that `doorkeeper acls import` asks."""

from pathlib import Path

from proxy.cli.live_acls import ELSEWHERE
from tests.proxy.cli.test_acls import acls

TWO = """\
clusters: {main: {bootstrap: ["127.0.0.1:1"]}, spare: {bootstrap: ["127.0.0.1:2", "127.0.0.1:3"]}}
listeners: {clients: {cluster: main, bind: "127.0.0.1:9192"}}
"""


def test_of_several_clusters_one_must_be_named(tmp_path: Path) -> None:
    file = tmp_path / "gateway.yaml"
    file.write_text(TWO)
    for arguments, complaint in (
        ((), f"{file} has several clusters; give --cluster: main, spare"),
        (("--cluster", "spar"), f'{file} has no cluster "spar"; did you mean "spare"?'),
    ):
        result = acls("import", "--config", file, *arguments)
        assert result.exit_code == 2
        assert complaint in result.output


def test_every_broker_of_a_configured_cluster_is_tried_and_told_at_its_place(tmp_path: Path) -> None:
    file = tmp_path / "gateway.yaml"
    file.write_text(TWO)
    result = acls("import", "--config", file, "--cluster", "spare")
    assert result.output == "".join(
        f"{file}:1:{column}: 127.0.0.1:{port}: connection refused; {ELSEWHERE}\n" for column, port in ((68, 2), (83, 3))
    )
    assert result.exit_code == 1


def test_a_configuration_with_a_mistake_is_told_at_its_place(tmp_path: Path) -> None:
    file = tmp_path / "gateway.yaml"
    file.write_text("clusters: 7\n")
    result = acls("import", "--config", file)
    assert f"{file}:1:11: " in result.output
    assert result.exit_code == 1


def test_a_cluster_that_does_not_answer_is_a_line_for_each_of_its_brokers() -> None:
    result = acls("import", "--bootstrap", "127.0.0.1:1,127.0.0.1:2")
    assert result.output == "".join(
        f"--bootstrap: 127.0.0.1:{port}: connection refused; {ELSEWHERE}\n" for port in (1, 2)
    )
    assert result.exit_code == 1
