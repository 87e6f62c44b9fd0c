"""What Doorkeeper's pages show, word for word."""
# ruff: noqa: PT018
# mypy: allow-untyped-defs

from orders import count_orders, place_order


def test_no_order_is_doubled_when_an_ack_is_lost(kafka_faults):
    with kafka_faults.on("Produce", topic="orders").after_broker().disconnect().times(1) as lost:
        place_order(bootstrap=kafka_faults.bootstrap)
    assert lost.fired == 1 and count_orders() == 1
