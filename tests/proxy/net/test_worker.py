from __future__ import annotations

import json
import socket
import sys
from pathlib import Path

import trio

from chaos.ports import is_free
from proxy.config import Config
from proxy.net.channel import Lines, Settings, written
from proxy.net.last_resort import LastResort
from proxy.net.process import CANNOT_START, CUT, DONE
from proxy.net.shared_rows import shared_file
from proxy.net.worker import work
from tests.proxy.net.scripted import LOOPBACK, PATIENCE, Broker, configuration, port_of
from tests.proxy.net.test_changing import Marking, having, until, use


async def test_a_worker_says_when_it_is_ready_reports_and_ends_with_its_supervisor(
    nursery: trio.Nursery, broker: Broker
) -> None:
    config = configuration(broker.endpoint)
    ours, theirs = socket.socketpair()
    codes: list[int] = []

    async def run() -> None:
        with LastResort(CUT) as last_resort:
            codes.append(await work(Settings(config, 0, "json", False), theirs, last_resort))

    nursery.start_soon(run)
    lines = Lines(ours)
    with ours, theirs, trio.fail_after(PATIENCE):
        assert await lines.receive() == {"learned": ["main", broker.node_id, *broker.endpoint]}
        ready = await lines.receive()
        assert ready is not None
        assert ready["ready"]["listening"] == {"clients": {"1": port_of(config, 1)}}
        for nonsense in (7, ["main"], ["main", 7, "a..b", 1], ["another", 7, "kafka", 9092]):
            await lines.send({"learned": nonsense})
        await lines.send({"learned": ["main", 7, *broker.endpoint]})
        await lines.send({})
        answer = await lines.receive()
        assert answer is not None
        assert answer["report"]["ready"]
        assert answer["report"]["listening"]["clients"].keys() == {"1", "7"}
        ours.shutdown(socket.SHUT_RDWR)
        while not codes:
            await trio.lowlevel.checkpoint()
    assert codes == [DONE]
    assert is_free(LOOPBACK, port_of(config))


async def test_what_was_prepared_too_late_for_the_supervisor_is_forgotten_with_the_next(
    nursery: trio.Nursery, broker: Broker
) -> None:
    Marking.running.clear()
    config = configuration(broker.endpoint)
    ours, theirs = socket.socketpair()
    lines = Lines(ours)
    with ours, theirs, trio.fail_after(PATIENCE), LastResort(CUT) as last_resort:
        nursery.start_soon(work, Settings(config, 0, "json", False), theirs, last_resort)
        for number in (1, 2):
            await lines.send({"prepare": number, "config": written(having(config, use(number)))})
            while (line := await lines.receive()) is None or "prepared" not in line:
                assert line is not None
            assert line == {"prepared": number, "problems": [], "findings": [], "scarce": None}
        await until(lambda: Marking.running == [2])
        await lines.send({"take": 2})
        while (line := await lines.receive()) is None or "taken" not in line:
            assert line is not None
        assert line["report"] is not None
        assert Marking.running == [2]
        ours.shutdown(socket.SHUT_RDWR)
        await until(lambda: not Marking.running)


async def test_a_worker_that_cannot_start_says_so_by_its_exit_code(broker: Broker, tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text("nonsense")
    config = configuration(broker.endpoint).model_dump(exclude_unset=True)
    config["clusters"]["main"]["tls"] = {"ca": str(tmp_path / "ca.pem")}
    ours, theirs = socket.socketpair()
    with ours, theirs, trio.fail_after(PATIENCE), LastResort(CUT) as last_resort:
        settings = Settings(Config.model_validate(config), 0, "json", False)
        assert await work(settings, theirs, last_resort) == CANNOT_START


async def test_a_worker_without_descriptors_says_so_in_one_line(broker: Broker) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs, shared_file() as shared, trio.fail_after(PATIENCE):
        descriptors = theirs.fileno(), shared.fileno()
        limited = ["sh", "-c", 'ulimit -n 7; exec "$@"', "sh"]  # enough for Python, and not for trio
        command = [*limited, sys.executable, "-m", "proxy.net.worker", *map(str, descriptors)]
        lines = Lines(ours)
        await lines.send_settings(Settings(configuration(broker.endpoint), 0, "json", False))
        ended = await trio.run_process(command, pass_fds=descriptors, capture_stderr=True, check=False)
    (said,) = ended.stderr.splitlines()
    assert json.loads(said)["event"] == "cannot start"
    assert json.loads(said)["why"] == "too many open files; raise the limit of open files (ulimit -n)"
    assert ended.returncode == CUT
