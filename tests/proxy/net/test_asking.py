"""Requests to a broker on the proxy's own connection."""

import pytest
import trio
import trio.testing

from proxy.net.asking import EndedError, ask
from proxy.protocol.header import response_frame
from proxy.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
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


VERSIONS = ApiVersionsResponse(
    error_code=0,
    api_keys=[ApiVersionsResponse.ApiVersion(api_key=0, min_version=0, max_version=n % 100) for n in range(20_000)],
)


async def test_a_long_answer_is_read_while_others_have_their_turn(nursery: trio.Nursery) -> None:
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            await trio.lowlevel.checkpoint()
            turns += 1

    ours, theirs = trio.testing.memory_stream_pair()
    await theirs.send_all(response_frame(VERSIONS, 0, 0))
    nursery.start_soon(count)
    assert await ask(ours, ApiVersionsRequest(), 0, ApiVersionsResponse) == VERSIONS
    assert turns > 5


async def test_an_answer_with_elements_without_end_is_none() -> None:
    ours, theirs = trio.testing.memory_stream_pair()
    await theirs.send_all(response_frame(VERSIONS, 0, 0))
    with pytest.raises(ProtocolError, match="more than 1,000 elements"):
        await ask(ours, ApiVersionsRequest(), 0, ApiVersionsResponse, most=1_000)
