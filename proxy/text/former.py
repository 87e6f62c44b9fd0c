"""Former names: a module whose names are promised still has those that were changed.

* A name that was changed leads to the object of the new name, so what imports it runs on.
* Each use warns with DeprecationWarning, which tests show to the author and a running proxy does not.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping


def former_names(module: str, renamed: Mapping[str, str]) -> Callable[[str], object]:
    """The `__getattr__` (PEP 562) of `module`, with the new name of each former one.

    It raises AttributeError for any other name, in Python's own words.
    """

    def attribute(name: str) -> object:
        new = renamed.get(name)
        if new is None:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        warnings.warn(f"{module}.{name} is called {new} now", DeprecationWarning, stacklevel=2)
        found: object = getattr(sys.modules[module], new)
        return found

    return attribute
