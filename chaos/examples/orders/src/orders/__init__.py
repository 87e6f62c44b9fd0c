"""Orders: a producer places them, and a consumer counts each number once, however often it was written."""

from orders.counting import Order, count_orders, read_orders
from orders.placing import NotPlacedError, place_order

__all__ = ["NotPlacedError", "Order", "count_orders", "place_order", "read_orders"]
