"""A lack of memory or descriptors on the machine is not the file's fault."""

import errno

import pytest

from proxy.text.file import Form
from proxy.text.scarce import is_scarce


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE, errno.ENOMEM])
def test_a_file_for_which_there_is_no_descriptor_is_not_called_bad(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*args: object) -> None:
        raise OSError(number, "none left")

    monkeypatch.setattr("os.open", refuse)
    with pytest.raises(OSError, match="none left") as raised:
        Form(object, "file", "begin", largest=1).text("gateway.yaml")
    assert is_scarce(raised.value)
