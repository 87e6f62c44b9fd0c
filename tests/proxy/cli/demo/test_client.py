"""What the demo's client counts."""

import json
from collections import Counter

from proxy.cli.demo.client import Traffic


def report(client: str, **requests: dict[str, int]) -> str:
    brokers = {name: {"nodename": name, "req": counts} for name, counts in requests.items()}
    return json.dumps({"name": client, "brokers": brokers})


def test_the_last_report_of_each_client_counts_and_clients_add_up() -> None:
    traffic = Traffic()
    traffic.note(report("producer-1", a={"Produce": 1}, b={"Produce": 0}))
    traffic.note(report("producer-1", a={"Produce": 3}, b={"Produce": 0}))
    traffic.note(report("consumer-2", a={"Fetch": 2, "Produce": 0}))
    assert traffic.requests == {"a": Counter(Produce=3, Fetch=2)}
