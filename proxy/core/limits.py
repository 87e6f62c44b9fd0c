"""Limits of one link, and how often each was met: plain numbers, compared and counted where the bytes are."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """What one link lets through before it says no."""

    frame: int = 100 << 20  # bytes, without the four of the size; Kafka's socket.request.max.bytes
    in_flight: int = 1000  # unanswered requests; more are not read until answers come
    elements: int = 300_000  # of arrays, in a large request that the proxy has to read

    @property
    def elements_of_response(self) -> int:
        """The same in a large response: brokers send many small elements, and are more trusted than clients."""
        return 2 * self.elements


@dataclass(slots=True)
class Counters:
    """How often it happened, over all links of a worker. Only ever grows."""

    too_many_elements: int = 0  # in a message that had to be read
    bad_frames: int = 0  # too large, negative, or not Kafka at all
    full_pipelines: int = 0  # a client was not read for a while: too many requests in flight
    unknown_apis: int = 0  # no such api or version, or none for clients
    broken_pairs: int = 0  # an answer that nobody asked for
    undecodable: int = 0  # a handler needed to read it and could not
    failed_handlers: int = 0
    failed_observers: int = 0
    failed_authentications: int = 0
    answered: int = 0  # requests, by the proxy instead of a broker
