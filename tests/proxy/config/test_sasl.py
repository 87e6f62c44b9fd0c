"""The options under `sasl:` as values."""

import pickle

import pytest
from pydantic import TypeAdapter, ValidationError

from proxy.config.sasl import OFFERED, MechanismName, Secret

MECHANISM: TypeAdapter[str] = TypeAdapter(MechanismName)
SECRET: TypeAdapter[Secret] = TypeAdapter(Secret)


@pytest.mark.parametrize("name", OFFERED)
def test_a_mechanism_has_a_name(name: str) -> None:
    assert MECHANISM.validate_python(name) == name


@pytest.mark.parametrize("value", [7, None, ["x"], 1234567])
def test_what_is_no_secret_is_not_said(value: object) -> None:
    with pytest.raises(ValidationError, match="this is no text; put it in quotes") as raised:
        SECRET.validate_python(value)
    (error,) = raised.value.errors()
    assert "1234567" not in error["msg"]


def test_a_secret_is_shown_to_nobody_and_reaches_a_worker() -> None:
    secret = SECRET.validate_python("hunter2")
    assert "hunter2" not in repr(secret) + str(secret)
    assert pickle.loads(pickle.dumps(secret)).get_secret_value() == "hunter2"
