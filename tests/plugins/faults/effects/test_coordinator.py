"""Wrong coordinators."""

from pathlib import Path
from typing import Any

from proxy.protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from tests.plugins.faults.talking import FaultFile, FaultTalk


def found(request: Any, version: int) -> Any:
    if version < 4:
        return FindCoordinatorResponse(error_code=0, node_id=1, host="kafka-1", port=9092)
    each = [
        FindCoordinatorResponse.Coordinator(
            key=key, node_id=1, host="kafka-1", port=9092, error_code=0, error_message=None
        )
        for key in request.coordinator_keys
    ]
    return FindCoordinatorResponse(coordinators=each)


def talking(folder: Path, brokers: int = 2) -> tuple[FaultFile, FaultTalk]:
    faults = FaultFile(folder, "faults: [{match: {api: FindCoordinator, group: billing}, do: coordinator}]")
    talk = FaultTalk(faults, found)
    for node_id in range(1, brokers + 1):
        talk.connection.topology.learn(node_id, f"kafka-{node_id}", 9092)
    return faults, talk


def test_another_broker_is_named_for_the_group_that_is_meant(tmp_path: Path) -> None:
    _, talk = talking(tmp_path)
    answer = talk.ask(FindCoordinatorRequest(key_type=0, coordinator_keys=["billing", "other"]), 4)
    assert [(it.key, it.node_id, it.host) for it in answer.coordinators] == [
        ("billing", 2, "kafka-2"),
        ("other", 1, "kafka-1"),
    ]


def test_old_clients_are_told_one_coordinator(tmp_path: Path) -> None:
    _, talk = talking(tmp_path)
    answer = talk.ask(FindCoordinatorRequest(key="billing"), 0)
    assert (answer.node_id, answer.host, answer.port) == (2, "kafka-2", 9092)


def test_where_there_is_no_other_broker_nothing_fires(tmp_path: Path) -> None:
    faults, talk = talking(tmp_path, brokers=1)
    talk.ask(FindCoordinatorRequest(key="billing"), 0)
    assert faults.told[0].endswith("no other broker is known")
