"""A lack of memory or descriptors on the machine is not the file's fault."""

import errno

import pytest

from proxy.text.file import Form
from proxy.text.scarce import is_scarce, scarcity, way_out


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


FEW = OSError(errno.EMFILE, "Too many open files")


def test_the_reason_of_a_group_is_scarcity_if_nothing_else_failed() -> None:
    few = "too many open files; raise the limit of open files (ulimit -n)"
    assert scarcity(FEW) == scarcity(ExceptionGroup("", [ExceptionGroup("", [FEW]), FEW])) == few
    assert scarcity(ExceptionGroup("", [FEW, ValueError()])) is None
    assert scarcity(OSError(errno.EACCES, "Permission denied")) is None


def test_more_open_files_are_no_way_out_where_memory_is_scarce() -> None:
    why = "cannot allocate memory; free memory on this machine"
    assert scarcity(OSError(errno.ENOMEM, "Cannot allocate memory")) == why


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (errno.EMFILE, "raise the limit of open files (ulimit -n)"),
        (errno.ENFILE, "raise this machine's limit of open files (sysctl fs.file-max)"),
        (errno.ENOBUFS, "free memory on this machine"),
        (errno.ENOMEM, "free memory on this machine"),
    ],
)
def test_the_way_out_is_the_limit_that_was_reached(number: int, expected: str) -> None:
    assert way_out(number) == expected
    assert scarcity(OSError(number, "none left")).endswith(f"; {expected}")
