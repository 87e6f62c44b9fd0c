"""Walks: every message can be walked in any pieces, looking only at its lengths."""

import random

from proxy.protocol.codec import encode, tags_finder
from proxy.protocol.emit import walker
from proxy.protocol.messages.fetch import FetchResponse
from proxy.protocol.plan import plan
from tests.proxy.protocol.generate import EVERY, make


def walked(cls, version: int, body: bytes, pieces) -> int:
    """Where the walk over a body in pieces says that the message's own tagged fields begin."""
    walk = walker(plan(cls, version), "a test")()
    next(walk)
    kept, start, fed = b"", 0, 0
    while True:
        size = next(pieces)
        buf = kept + body[fed : fed + size]
        fed = min(fed + size, len(body))
        if start > len(buf):
            start -= len(buf)
            kept = b""
            continue
        try:
            p = walk.send((buf, start, len(buf)))
        except StopIteration as end:
            return fed - len(buf) + end.value
        start, kept = (p - len(buf), b"") if p > len(buf) else (0, buf[p:])


def test_a_walk_in_any_pieces_ends_where_the_tags_begin():
    dice = random.Random(16)
    for cls, version in EVERY:
        body = encode(make(cls, version, dice), version)
        end = tags_finder(cls, version)(body, 0)
        for sizes in ([1], [len(body) + 1], [1, 3, 40]):
            # One byte more than there is: the walk may ask before it sees that nothing is left to go over.
            pieces = iter(lambda sizes=sizes: dice.choice(sizes), None)
            assert walked(cls, version, body, pieces) == end, (cls, version, sizes)


def test_records_are_stepped_over_unseen():
    partition = FetchResponse.Topic.Partition(
        partition_index=0, error_code=0, high_watermark=1, aborted_transactions=None, records=bytes(1 << 20)
    )
    body = encode(FetchResponse(responses=[FetchResponse.Topic(partitions=[partition])]), 17)
    walk = walker(plan(FetchResponse, 17), "a test")()
    next(walk)
    assert walk.send((body[:100], 0, 100)) == len(body) - 3  # behind the records are three counts of tags
