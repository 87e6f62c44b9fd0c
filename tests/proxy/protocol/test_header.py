"""Headers: the version for each API version, and the start of the body."""

import pytest

from proxy.protocol.api import (
    API_VERSIONS,
    CONTROLLED_SHUTDOWN,
    FETCH,
    METADATA,
    OFFSET_DELETE,
    PRODUCE,
    SASL_HANDSHAKE,
)
from proxy.protocol.header import (
    answered_version,
    read_request_header,
    read_response_header,
    request_body_offset,
    request_frame,
    response_frame,
)
from proxy.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from proxy.protocol.messages.metadata import MetadataRequest
from proxy.protocol.problem import ProtocolError


@pytest.mark.parametrize(
    ("api", "version", "request_header", "response_header"),
    [
        (PRODUCE, 8, 1, 0),
        (PRODUCE, 9, 2, 1),
        (FETCH, 12, 2, 1),
        (API_VERSIONS, 2, 1, 0),
        (API_VERSIONS, 3, 2, 0),
        (API_VERSIONS, 99, 2, 0),
        (SASL_HANDSHAKE, 1, 1, 0),
        (OFFSET_DELETE, 0, 1, 0),
        (CONTROLLED_SHUTDOWN, 0, 0, 0),
        (CONTROLLED_SHUTDOWN, 1, 1, 0),
    ],
)
def test_headers_follow_the_first_flexible_version_but_for_their_exceptions(
    api, version, request_header, response_header
):
    assert (api.request_header(version), api.response_header(version)) == (request_header, response_header)


@pytest.mark.parametrize("client_id", [None, "", "a client"])
@pytest.mark.parametrize("version", [0, 9])
def test_a_request_is_read_as_it_was_framed(client_id, version):
    frame = request_frame(MetadataRequest(topics=[]), version, -7, client_id)
    header, body = read_request_header(frame[4:])
    assert (header.request_api_key, header.request_api_version, header.correlation_id) == (3, version, -7)
    assert header.client_id == client_id
    assert request_body_offset(METADATA, version, frame, 4) == body + 4
    assert int.from_bytes(frame[:4], "big") == len(frame) - 4


def test_where_the_body_begins_is_not_known_before_the_header_is_whole():
    frame = request_frame(MetadataRequest(topics=[]), 9, 1, "client")
    assert [request_body_offset(METADATA, 9, frame[:n], 4) for n in range(21)] == [None] * 21
    assert request_body_offset(METADATA, 9, frame[:21], 4) == 21


@pytest.mark.parametrize(
    ("frame", "complaint"),
    [
        ("0003", "a request has 8 bytes at the least"),
        ("00ff 0000 00000000", "no API has the key 255"),
        ("0003 ffff 00000000 0000", "no version is -1"),
        ("0003 0001 00000000 0009 61", "client_id needs 9 bytes where 1 are left"),
    ],
)
def test_a_header_that_is_none_is_refused_with_its_place(frame, complaint):
    with pytest.raises(ProtocolError, match=complaint):
        read_request_header(bytes.fromhex(frame))


def test_a_broker_that_does_not_know_the_version_of_api_versions_answers_in_v0():
    body = response_frame(ApiVersionsResponse(error_code=35, api_keys=[]), 0, 1)[8:]
    assert answered_version(API_VERSIONS, 4, body) == 0
    assert answered_version(API_VERSIONS, 4, b"\x00\x00" + body[2:]) == 4
    assert answered_version(METADATA, 4, body) == 4


def test_an_answer_to_api_versions_has_no_tags_in_its_header():
    frame = response_frame(ApiVersionsResponse(error_code=0, api_keys=[]), 3, 5)
    header, body = read_response_header(API_VERSIONS, 3, frame[4:])
    assert (header.correlation_id, body) == (5, 4)
    assert len(request_frame(ApiVersionsRequest(), 3, 5, None)) == 4 + 8 + 2 + 1 + 3
