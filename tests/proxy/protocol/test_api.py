"""The 95 APIs: keys, versions, and which ones clients may send."""

import pickle

from proxy.protocol import messages  # noqa: F401  # makes every message known
from proxy.protocol.api import API_VERSIONS, APIS, FETCH, OFFSET_DELETE, PRODUCE, SASL_HANDSHAKE, api_named
from proxy.protocol.schema import Request, Response


def test_every_key_from_0_to_94_is_an_api_with_both_its_messages():
    assert list(APIS) == list(range(95))
    for api in APIS.values():
        assert issubclass(api.request, Request)
        assert issubclass(api.response, Response)
        assert (api.request.api, api.response.api) == (api, api)


def test_all_368_versions_are_known():
    assert sum(len(api.versions) for api in APIS.values()) == 368


def test_a_version_is_flexible_from_the_first_flexible_one_on():
    assert [PRODUCE.is_flexible(version) for version in (8, 9, 13)] == [False, True, True]
    assert not any(api.is_flexible(version) for api in (SASL_HANDSHAKE, OFFSET_DELETE) for version in api.versions)


def test_what_brokers_say_to_brokers_is_no_business_of_clients():
    assert [api.key for api in APIS.values() if api.inter_broker] == [
        *(4, 5, 6, 7, 27, 52, 53, 54, 56, 58, 59, 62, 63, 67, 70, 73, 82, 83, 84, 85, 86, 87)
    ]


def test_an_api_is_found_by_its_name_in_any_case():
    assert api_named("apiversions") is API_VERSIONS
    assert api_named("Fetch") is FETCH
    assert api_named("Fetsch") is None


def test_an_api_stays_itself_when_it_crosses_to_another_process():
    assert pickle.loads(pickle.dumps(FETCH)) is FETCH
