"""Structs: the meaning of their declarations, kept for codecs and for loops over the schema.

Rules:
* One slotted class for all versions. The slot of a field that was never set is empty; reading it gives the default.
* A declaration that makes no sense raises TypeError when its module is imported, not when a frame arrives.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar, cast, dataclass_transform

from proxy.protocol.annotations import annotated, wire_type
from proxy.protocol.declarations import UNSET, Declaration
from proxy.protocol.wire import ZERO, Meaning, Primitive


class Field(NamedTuple):
    """One field of a struct, as the codecs and the loops over the schema see it."""

    name: str
    json: str
    kind: Primitive | type[Struct]  # of the value, or of an array's elements
    is_array: bool
    meaning: Meaning | None
    first: int
    last: int
    tag: int | None
    nullable: int | None  # the first version in which it may be null
    explicit_default: Any  # UNSET: the zero of its kind
    required: bool
    mirrors: tuple[str, ...]  # dotted paths to the request's arrays, one or more in each version

    def present(self, version: int) -> bool:
        """Is the field on the wire in `version`?"""
        return self.first <= version <= self.last

    def may_be_null(self, version: int) -> bool:
        """May the field be null in `version`?"""
        return self.nullable is not None and version >= self.nullable

    def default(self) -> Any:
        """The value of the field if nothing was read or set; lists and structs are made anew."""
        if self.explicit_default is not UNSET:
            return self.explicit_default
        if self.is_array:
            return []
        if isinstance(self.kind, Primitive):
            return ZERO.get(self.kind, 0)
        return blank(self.kind)


def camel(name: str) -> str:
    """`topic_data` -> `topicData`: Kafka's JSON name."""
    head, *rest = name.split("_")
    return head + "".join(word[:1].upper() + word[1:] for word in rest)


def _field(owner: str, name: str, annotation: Any, declared: Declaration | None) -> Field:
    """Read one line of a declaration."""
    how, typed = declared or Declaration(), wire_type(annotation)
    if typed is None or not isinstance(typed.kind, Primitive | StructType):
        raise TypeError(f"{owner}.{name}: {annotation!r} is no wire type")
    nullable = None
    if typed.may_be_null:
        nullable = how.first if how.nullable is None else how.nullable
    elif how.nullable is not None or how.default is None:
        raise TypeError(f"{owner}.{name}: null needs a type that says so: `... | None`")
    return Field(
        name,
        how.json or camel(name),
        cast(Primitive | type[Struct], typed.kind),
        typed.is_array,
        typed.meaning,
        how.first,
        how.last,
        how.tag,
        nullable,
        how.default,
        declared is None,
        (how.mirrors,) if isinstance(how.mirrors, str) else how.mirrors,
    )


def _plain(fields: tuple[Field, ...]) -> dict[str, Any]:
    """The defaults that all structs of a class may share, because nobody can change them."""
    defaults = {field.name: field.default() for field in fields}
    shared = {name: value for name, value in defaults.items() if not isinstance(value, list | Struct)}
    return {"unknown_tags": (), "elements": None, "unread": (), **shared}


@dataclass_transform(kw_only_default=True, eq_default=True)
class StructType(type):
    """Turns a class body of declarations into a slotted class."""

    def __new__(mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **options: Any) -> Any:
        if "__slots__" in namespace:  # one of the bases below, which declare no fields
            return super().__new__(mcs, name, bases, namespace, **options)
        declared = {key: namespace.pop(key) for key, value in list(namespace.items()) if isinstance(value, Declaration)}
        types = annotated(namespace)
        for stray in declared.keys() - types.keys():
            raise TypeError(f"{name}.{stray}: a field needs a type")
        fields = tuple(_field(name, key, type_, declared.get(key)) for key, type_ in types.items())
        namespace["__slots__"] = tuple(field.name for field in fields)
        namespace["fields"] = fields
        namespace["field"] = {field.name: field for field in fields}
        namespace["needed"] = frozenset(field.name for field in fields if field.required)
        namespace["plain"] = _plain(fields)
        return super().__new__(mcs, name, bases, namespace, **options)


class Struct(metaclass=StructType):
    """Some fields in a fixed order. `unknown_tags` are tagged fields newer than the declaration, as (tag, bytes)."""

    __slots__ = ("unknown_tags",)

    fields: ClassVar[tuple[Field, ...]] = ()
    field: ClassVar[dict[str, Field]] = {}
    needed: ClassVar[frozenset[str]] = frozenset()
    plain: ClassVar[dict[str, Any]] = {}
    if TYPE_CHECKING:
        unknown_tags: list[tuple[int, bytes]] = []

    def __init__(self, **values: Any) -> None:
        for name, value in values.items():
            if name not in self.field and name != "unknown_tags":
                raise TypeError(f"{type(self).__qualname__} has no field {name!r}")
            setattr(self, name, value)
        if not values.keys() >= self.needed:
            missing = next(field.name for field in self.fields if field.required and field.name not in values)
            raise TypeError(f"{type(self).__qualname__} needs the field {missing!r}")

    def __getattr__(self, name: str) -> Any:
        # Only reached if the slot is empty: most messages never set most fields.
        if name in self.plain:
            return self.plain[name]
        field = self.field.get(name)
        if field is None:
            raise AttributeError(f"{type(self).__qualname__} has no field {name!r}")
        value = field.default()
        if isinstance(value, list | Struct):  # it may be changed in place
            setattr(self, name, value)
        return value

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(getattr(self, field.name) == getattr(other, field.name) for field in self.fields) and list(
            self.unknown_tags
        ) == list(other.unknown_tags)

    __hash__ = None  # type: ignore[assignment]  # mutable

    def __repr__(self) -> str:
        shown = (f"{field.name}={self._shown(field)}" for field in self.fields if self.has(field.name))
        return f"{type(self).__qualname__}({', '.join(shown)})"

    def _shown(self, field: Field) -> str:
        value = getattr(self, field.name)
        if field.meaning is Meaning.SECRET:
            return "***"
        if field.meaning is Meaning.RECORDS and value is not None:
            return f"<{len(value)} bytes>"
        return repr(value)

    def has(self, name: str) -> bool:
        """Was this field read or set, rather than left at its default?"""
        try:
            object.__getattribute__(self, name)
        except AttributeError:
            return False
        return True


S = TypeVar("S", bound="Struct")


def blank(cls: type[S]) -> S:
    """A struct of defaults, even if the constructor would require fields."""
    return cls.__new__(cls)


def structs(root: type[Struct]) -> Iterator[type[Struct]]:
    """The struct and all that it contains, each once, parents first."""
    seen: list[type[Struct]] = [root]
    for struct in seen:  # grows while we walk
        for field in struct.fields:
            if isinstance(field.kind, StructType) and field.kind not in seen:
                seen.append(field.kind)
    yield from seen
