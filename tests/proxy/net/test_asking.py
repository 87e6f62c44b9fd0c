"""Asking a broker on a connection of our own."""

import pytest
import trio
import trio.testing

from proxy.net.asking import EndedError, ask
from proxy.protocol.header import response_frame
from proxy.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from proxy.protocol.problem import ProtocolError

QUESTION = HeartbeatRequest(group_id="g", generation_id=1, member_id="m")


async def answered(data: bytes) -> HeartbeatResponse:
    ours, theirs = trio.testing.memory_stream_pair()
    await theirs.send_all(data)
    await theirs.send_eof()
    return await ask(ours, QUESTION, 4, HeartbeatResponse, "error_code")


async def test_the_answer_is_given() -> None:
    assert (await answered(response_frame(HeartbeatResponse(error_code=7), 4, 0))).error_code == 7


@pytest.mark.parametrize("data", [b"", b"\0\0", b"\0\0\0\x09half"])
async def test_a_broker_that_ends_is_told_from_one_that_answers(data: bytes) -> None:
    with pytest.raises(EndedError):
        await answered(data)


@pytest.mark.parametrize(("data", "said"), [(b"HTTP/1.1", "HTTP"), (b"\xff\xff\xff\xff", "something else")])
async def test_what_is_not_kafka_is_named(data: bytes, said: str) -> None:
    with pytest.raises(ProtocolError, match=said):
        await answered(data)
