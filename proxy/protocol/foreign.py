"""Foreign bytes: what stands where Kafka has the size of a frame, told in the words of whoever sent it.

A client that speaks TLS to a plain port, or HTTP to Kafka, is the usual mistake.
"""

FOREIGN = {
    b"GET ": "HTTP",
    b"POST": "HTTP",
    b"PUT ": "HTTP",
    b"HEAD": "HTTP",
    b"OPTI": "HTTP",
    b"CONN": "HTTP",
    b"PRI ": "HTTP/2",
    b"HTTP": "HTTP",
    b"SSH-": "SSH",
    **{bytes((22, 3, minor, high)): "TLS" for minor in range(5) for high in range(66)},
    **{bytes((21, 3, minor, 0)): "TLS" for minor in range(5)},
}


def why_no_size(four: bytes, least: int, longest: int) -> str:
    """Why these four bytes are no size of a frame that has `least` to `longest` bytes."""
    foreign = FOREIGN.get(four)
    if foreign:
        return f"this is {foreign}, not Kafka"
    size = int.from_bytes(four, signed=True)
    if size < least:
        return f"a frame of {size:,} bytes cannot be"
    return f"a frame of {size:,} bytes, over the limit of {longest:,}"
