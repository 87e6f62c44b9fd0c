"""The client of the admin API controls faults of a real proxy, and a real client meets them."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from confluent_kafka import Producer

from chaos.admin_answers import AdminError
from chaos.client import AdminClient
from tests.chaos.running import LONG, FaultyProxy, until

DENIED = {"match": {"api": "Produce", "topic": "orders"}, "do": {"error": "TOPIC_AUTHORIZATION_FAILED"}}
ONCE = {**DENIED, "name": "once", "when": {"times": 1}}


@pytest.fixture(scope="module", params=[1, 2])
def running(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, mock_cluster: str
) -> Iterator[FaultyProxy]:
    """A proxy with one worker, or two."""
    proxy = FaultyProxy(tmp_path_factory.mktemp("proxy"), mock_cluster, request.param)
    yield proxy
    proxy.kill()
    print(proxy.tail())


@pytest.fixture
def proxy(running: FaultyProxy) -> FaultyProxy:
    running.admin.reset()
    return running


def test_a_fault_that_is_added_fires_for_a_client_that_comes_next(proxy: FaultyProxy) -> None:
    assert proxy.admin.add(ONCE) == ["once"]
    assert proxy.produce() == "TOPIC_AUTHORIZATION_FAILED"
    status = proxy.admin.fault("once")
    assert (status.source, status.fault, status.matched, status.fired) == ("api", ONCE, 1, 1)
    (entry,) = proxy.admin.ledger(wait=5).entries
    assert (entry.fault, entry.result, entry.effect, entry.api) == ("once", "fired", "error", "Produce")
    assert entry.client_id == "rdkafka"
    proxy.admin.remove("once")
    assert proxy.produce() is None


def test_a_ledger_is_read_on_and_begins_anew_after_a_reset(proxy: FaultyProxy) -> None:
    proxy.admin.add(DENIED)
    proxy.produce()
    first = proxy.admin.ledger(wait=5)
    proxy.produce()
    second = proxy.admin.ledger(first.next, wait=5)
    assert [entry.number for entry in (*first.entries, *second.entries)] == [first.next, first.next + 1]
    assert proxy.admin.ledger(second.next).entries == ()
    proxy.admin.reset()
    assert proxy.admin.faults().faults == ()
    assert proxy.admin.ledger().entries == ()


def test_a_wrong_fault_changes_nothing_and_says_where_with_the_nearest_word(proxy: FaultyProxy) -> None:
    proxy.admin.add(ONCE)
    wrong = {**DENIED, "do": {"error": "TOPIC_AUTHORIZATION_FAIL"}}
    with pytest.raises(AdminError) as refused:
        proxy.admin.add(DENIED, wrong)
    assert refused.value.status == 422
    told = 'unknown error "TOPIC_AUTHORIZATION_FAIL"; did you mean "TOPIC_AUTHORIZATION_FAILED"?'
    assert refused.value.problems == (("faults[1].do.error", told),)
    assert [fault.name for fault in proxy.admin.faults().faults] == ["once"]


def test_a_body_that_is_too_large_is_refused_and_the_proxy_goes_on(proxy: FaultyProxy) -> None:
    with pytest.raises(AdminError, match="the body is larger than 1 MiB") as refused:
        proxy.admin.add(*[{"match": {"topic": "a" * 1_000}, "do": "hold"}] * 1_100)
    assert refused.value.status == 413
    assert proxy.admin.faults().faults == ()


def test_an_admin_side_that_is_not_there_is_said_to_be_silent() -> None:
    with pytest.raises(
        AdminError, match=r"^http://127.0.0.1:1 does not answer: [^;]*refused; see.* `admin: {bind: 127.0.0.1:1}` in"
    ):
        AdminClient("http://127.0.0.1:1").faults()
    with pytest.raises(AdminError, match="no URL of an admin side"):
        AdminClient("127.0.0.1:9190")


@contextmanager
def answering(status: int, answer: str) -> Iterator[AdminClient]:
    """A client of another program, which has one answer to all."""

    class Other(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.end_headers()
            self.wfile.write(answer.encode())

    with HTTPServer(("127.0.0.1", 0), Other) as server:
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        try:
            yield AdminClient(f"http://127.0.0.1:{server.server_port}")
        finally:
            server.shutdown()
            serving.join()


def test_a_port_that_does_not_speak_tls_is_told_with_the_url_to_write() -> None:
    with answering(200, "[]") as plain:
        url = plain._url.replace("http://", "https://")
        with pytest.raises(AdminError, match=f"^{url} does not speak TLS; write http:// in place of https://$"):
            AdminClient(url).faults()


def test_another_program_is_told_with_the_address_to_give_instead() -> None:
    way_out = "give the address that stands at `admin: bind` in the proxy's configuration"
    with (
        answering(200, "<html>") as admin,
        pytest.raises(AdminError, match=f" is no admin side: its answer is no JSON; {way_out}$"),
    ):
        admin.faults()


@pytest.mark.parametrize("status", [200, 500])
@pytest.mark.parametrize("answer", ["{}", "[]", "null", '{"faults": [{"x": 1}], "entries": [{}], "problems": ["x"]}'])
def test_another_program_that_answers_in_json_is_said_to_be_no_admin_side(status: int, answer: str) -> None:
    with answering(status, answer) as admin:
        for call in (admin.faults, admin.ledger, admin.connections, lambda: admin.fault("x")):
            with pytest.raises(AdminError, match=r"is no admin side of this version: .*; give the|status 500"):
                call()


def test_clients_that_are_connected_are_shown(proxy: FaultyProxy) -> None:
    proxy.admin.add({"name": "seen", "do": {"delay": "1ms"}})  # whose requests are read shows its client id
    producer = Producer({"bootstrap.servers": proxy.bind, "client.id": "shown", "log_level": 0})
    producer.produce("orders", b"x")
    assert producer.flush(LONG) == 0  # now it has a connection to the leader, which stays
    found = [it for it in proxy.admin.connections() if it.client_id == "shown"]
    assert found
    assert {(it.listener, it.principal) for it in found} == {("clients", None)}
    assert all(it.client.startswith("127.0.0.1:") for it in found)
    noted = {entry.connection for entry in proxy.admin.ledger(wait=5).entries if entry.client_id == "shown"}
    assert noted & {it.id for it in found}


def test_a_reload_keeps_what_was_added_and_so_does_a_worker_that_is_replaced(proxy: FaultyProxy) -> None:
    proxy.admin.add(DENIED)
    reloads = len(proxy.lines("configuration reloaded"))
    for more in ("plugins: []", "plugins: [faults: {}]", "plugins: [{faults: {}}]\nlimits: {connections: 1000}"):
        proxy.write(more)
        os.kill(proxy.pid, signal.SIGHUP)
        reloads += 1
        until(lambda wanted=reloads: len(proxy.lines("configuration reloaded")) == wanted)
    assert proxy.produce() == "TOPIC_AUTHORIZATION_FAILED"
    workers = proxy.workers()
    if workers:
        os.kill(workers[0], signal.SIGKILL)
        until(lambda: len(proxy.workers()) == 2 and proxy.workers() != workers and proxy.is_ready())
        assert [proxy.produce() for _ in range(5)] == ["TOPIC_AUTHORIZATION_FAILED"] * 5


def test_a_thousand_that_come_and_go_leave_nothing_behind(proxy: FaultyProxy) -> None:
    before = 0
    for round_ in range(20):
        names = [f"{round_}-{number}" for number in range(50)]
        proxy.admin.populate([{**DENIED, "name": name} for name in names])
        assert proxy.produce() == "TOPIC_AUTHORIZATION_FAILED"
        proxy.admin.populate([])
        assert proxy.produce() is None
        before = before or proxy.memory()  # after the first
    assert proxy.memory() - before < 8 << 20
    proxy.admin.reset()
    assert proxy.admin.ledger().entries == ()
