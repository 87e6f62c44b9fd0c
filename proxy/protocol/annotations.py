"""Annotations: what the type of a field says of its values.

    topics: array[Topic] | None                     an array of structs, which may be null
    host: Annotated[str, STRING, Meaning.HOST]      a primitive, and what it stands for

Rules:
* In which versions a field is there, or may be null, its declaration says (`declarations.py`).
"""

from __future__ import annotations

import sys
from types import UnionType
from typing import Annotated, Any, NamedTuple, Union, get_args, get_origin

from proxy.protocol.wire import PLAIN, Meaning


class WireType(NamedTuple):
    """What an annotation says. `kind`: a Primitive or a class; in an array, that of the elements."""

    kind: Any
    is_array: bool
    may_be_null: bool
    meaning: Meaning | None


def wire_type(annotation: Any) -> WireType | None:
    """What this annotation says; None if it names several types."""
    inner, may_be_null = annotation, False
    if get_origin(inner) in (Union, UnionType):
        options = [option for option in get_args(inner) if option is not type(None)]
        if len(options) != 1:
            return None
        inner, may_be_null = options[0], True
    is_array = get_origin(inner) is list
    if is_array:
        (inner,) = get_args(inner)
    meaning = None
    if get_origin(inner) is Annotated:
        _, kind, *meanings = get_args(inner)
        meaning = meanings[0] if meanings else None
    else:
        kind = PLAIN.get(inner, inner)
    return WireType(kind, is_array, may_be_null, meaning)


def annotated(namespace: dict[str, Any]) -> dict[str, Any]:
    """The annotations of a class body; Python 3.14 keeps them as a function (PEP 749)."""
    if sys.version_info >= (3, 14):
        import annotationlib

        annotate = annotationlib.get_annotate_from_class_namespace(namespace)
        if annotate is not None:
            return annotationlib.call_annotate_function(annotate, annotationlib.Format.VALUE)
    return dict(namespace.get("__annotations__", {}))
