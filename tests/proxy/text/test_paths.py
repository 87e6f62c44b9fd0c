"""Files that a file names."""

import pytest
from pydantic import TypeAdapter, ValidationError

from proxy.text.paths import FilePath

READ = TypeAdapter[str](FilePath)


@pytest.mark.parametrize(
    ("written", "meant"), [("a.pem", "conf/a.pem"), ("/x/a.pem", "/x/a.pem"), ("../a", "conf/../a")]
)
def test_a_path_starts_at_the_folder_of_the_file_that_names_it(written: str, meant: str) -> None:
    assert READ.validate_python(written, context={"folder": "conf"}) == meant


@pytest.mark.parametrize("value", ["", 3, None, "a\0b"])
def test_what_is_no_path_is_refused(value: object) -> None:
    with pytest.raises(ValidationError, match="write the path of one"):
        READ.validate_python(value)
