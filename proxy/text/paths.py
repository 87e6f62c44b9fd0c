"""Files that a file names: a relative path starts at the folder of the file that names it."""

import os
from typing import Annotated

from pydantic import BeforeValidator, ValidationInfo, WithJsonSchema

from proxy.text.words import shown, wrong


def beside(value: object, info: ValidationInfo) -> str:
    """The path of a file, as it can be opened from here."""
    if not isinstance(value, str) or not value or "\0" in value:
        raise wrong(f"{shown(value)} is not a file", "write the path of one")
    folder = (info.context or {}).get("folder", "")
    return os.path.join(folder, os.path.expanduser(value))


FilePath = Annotated[str, BeforeValidator(beside), WithJsonSchema({"type": "string"})]
