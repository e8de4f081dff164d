"""Dataclasses and named tuples as bytes, by the names of their fields: state outlives the class that it was written by.

Left to itself pickle writes a named tuple, and a frozen dataclass with slots, by position: fields that change places
swap their values. And it knows nothing of fields that are new or gone. Here the names are written once for each class
in a pickle, then values alone; what is read is fitted to the fields that the class has by then. A class that says how
it is pickled (`__reduce__`, `__getstate__`, `__setstate__`, …) is left to itself.
"""

from __future__ import annotations

import dataclasses
import io
import pickle
import sys
from collections.abc import Callable, Mapping, Sequence
from copyreg import __newobj__, dispatch_table  # type: ignore[attr-defined]
from functools import lru_cache, partial
from operator import attrgetter, itemgetter, methodcaller
from typing import Any, Generic, Protocol

from penstock.core.errors import StateError
from penstock.pickled import record, remade, stable, stable_name
from penstock.runtime.values import Record

__all__ = [
    "DICT_FIELDS",
    "SELF_TOLD",
    "UPGRADE",
    "RecordPickler",
    "dumps_by_name",
    "field_names",
    "reader",
    "refitted",
    "tuple_maker",
]

UPGRADE = "__penstock_upgrade__"
"""A class method that is given fields as they were written, by name, and answers with fields as the class has them."""

_HOOKS = ("__reduce__", "__reduce_ex__", "__getstate__", "__setstate__", "__getnewargs__", "__getnewargs_ex__")
_NEUTRAL = (object, tuple, Generic, Protocol)
_MOST_CLASSES = 4096
_HEAP_TYPE = 1 << 9

_Reducer = Callable[[Any], Any]
_Fill = Callable[[Any, Any], None]
_Fields = dict[str, Any]
"""The fields of a record by name."""
_Reduced = tuple[Any, ...]
"""What pickle wants of a reducer: a callable, its arguments and the state to set."""
_Put = Callable[[Any, _Fields], None]
_by_itself: _Reducer = methodcaller("__reduce_ex__", 5)


# -- which classes, and with which fields ---------------------------------------------------------


def field_names(cls: type) -> tuple[str, ...] | None:
    """The fields by which instances of a class are written; None if pickle does it in its own way."""
    if issubclass(cls, tuple):
        return tuple(getattr(cls, "_fields", ())) if _is_named_tuple(cls) else None
    if not dataclasses.is_dataclass(cls) or _says_how(cls) or not all(map(_is_plain, cls.__mro__)):
        return None
    return tuple(field.name for field in dataclasses.fields(cls))


def _is_named_tuple(cls: type) -> bool:
    owner = next((c for c in cls.__mro__ if {"_fields", "_make", "_replace"} <= c.__dict__.keys()), None)
    return owner is not None and owner.__base__ is tuple and not _says_how(cls)


def _is_plain(cls: type) -> bool:
    """Whether instances hold nothing that is not an attribute, as those of a dict or an exception would."""
    return cls is object or bool(cls.__flags__ & _HEAP_TYPE)


def _says_how(cls: type) -> bool:
    return cls in dispatch_table or any(map(partial(_own_hook, cls), _HOOKS))


def _own_hook(cls: type, name: str) -> bool:
    """Whether the user has defined one of pickle's methods: neither `dataclass` nor `namedtuple` has."""
    for base in cls.__mro__:
        if name in base.__dict__ and base not in _NEUTRAL:
            made = getattr(base.__dict__[name], "__module__", None) == "dataclasses"
            return not made and not ("_fields" in base.__dict__ and name == "__getnewargs__")
    return False


def _slots(cls: type) -> set[str]:
    found: set[str] = set()
    for base in cls.__mro__:
        slots = base.__dict__.get("__slots__", ())
        found.update((slots,) if isinstance(slots, str) else slots)
    return found - {"__dict__", "__weakref__"}


# -- writing --------------------------------------------------------------------------------------


class _Shape:
    """Pickles as the function that reads instances of a class with these fields; written once in a pickle."""

    __slots__ = ("reduced",)

    def __init__(self, cls: type, names: tuple[str, ...]) -> None:
        self.reduced = reader, (cls, " ".join(names))

    def __call__(self, *args: Any) -> object:
        """Pickle requires a callable."""
        make, described = self.reduced
        return make(*described)(*args)


class _Reducers(dict[type, _Reducer]):
    """The reducer of each class, made when the class is met for the first time."""

    def __missing__(self, cls: type) -> _Reducer:
        if len(self) >= _MOST_CLASSES:
            self.clear()
        self[cls] = reducer = _reducer(cls)
        return reducer


def _reducer(cls: type) -> _Reducer:
    if cls is _Shape:
        return attrgetter("reduced")
    if cls in dispatch_table:
        return dispatch_table[cls]
    if issubclass(cls, type):
        return _global_name  # the instances are classes: cls is a metaclass
    names, name = field_names(cls), stable_name(cls)
    if name is not None:
        return _own_reducer(name, cls) if names is None else _own_record_reducer(name, names)
    if names is None:
        return _by_itself
    if issubclass(cls, tuple):
        return _tuple_reducer(_Shape(cls, names))
    return _object_reducer(cls, names)


def _global_name(cls: Any) -> str:
    name: str = cls.__qualname__
    return name


def _own_reducer(name: str, cls: type) -> _Reducer:
    """For a class of Penstock's that pickle writes in its own way: the same, but with the stable name of the class."""

    def reduce(one: object) -> Any:
        reduced = _by_itself(one)
        if isinstance(reduced, str):
            return reduced
        make, args, *rest = reduced
        if make is cls:
            return remade, (name, False, *args), *rest
        if make is __newobj__ and args[0] is cls:
            return remade, (name, True, *args[1:]), *rest
        return reduced

    # a class that has such a method of its own names stable functions in it
    return _by_itself if {"__reduce__", "__reduce_ex__"} & cls.__dict__.keys() else reduce


def _own_record_reducer(name: str, names: tuple[str, ...]) -> _Reducer:
    """For a named tuple or dataclass of Penstock's."""
    fields, values = " ".join(names), _several(attrgetter, names)

    def reduce(one: object) -> tuple[Any, ...]:
        return record, (name, fields, values(one))

    return reduce


def _tuple_reducer(shape: _Shape) -> _Reducer:
    def reduce(record: Record) -> _Reduced:
        return shape, (tuple(record),), getattr(record, "__dict__", None) or None

    return reduce


def _object_reducer(cls: type, names: tuple[str, ...]) -> _Reducer:
    """A reducer that writes values in the order of the fields; a record with other attributes is written by name."""
    new, shape, slots = (cls,), _Shape(cls, names), _slots(cls)
    count = len(names)

    def by_name(record: object) -> _Reduced:
        state = {name: getattr(record, name) for name in slots if hasattr(record, name)}
        return __newobj__, new, {**getattr(record, "__dict__", {}), **state}, None, None, shape

    def from_dict(record: object) -> _Reduced:
        state = record.__dict__
        if len(state) != count:
            return by_name(record)
        try:
            return __newobj__, new, values(state), None, None, shape
        except KeyError:
            return by_name(record)

    def from_slots(record: object) -> _Reduced:
        try:
            return __newobj__, new, values(record), None, None, shape
        except AttributeError:
            return by_name(record)

    if cls.__dictoffset__ and not slots:
        values = _several(itemgetter, names)
        return from_dict
    if not cls.__dictoffset__ and slots == set(names):
        values = _several(attrgetter, names)
        return from_slots
    return by_name


def _several(getter: Any, names: tuple[str, ...]) -> Callable[[Any], _Reduced]:
    """A getter that always returns a tuple."""
    if not names:
        return lambda record: ()
    get = getter(*names)
    return get if len(names) > 1 else lambda record: (get(record),)


class RecordPickler(pickle.Pickler):
    """Writes dataclasses and named tuples by the names of their fields."""

    dispatch_table = _Reducers()


_KEPT, _KEPT_BYTES = 8, 1 << 12
_IDLE: list[tuple[RecordPickler, io.BytesIO]] = []
"""Picklers that have just pickled something small: to make one takes longer than to pickle a number. A pickler at
work is not in the list, so neither another thread nor a `__reduce__` that pickles something itself can meet it."""


def dumps_by_name(value: object) -> bytes:
    """Pickle; dataclasses and named tuples anywhere in it go by the names of their fields."""
    try:
        pickler, file = _IDLE.pop()
    except IndexError:
        pickler, file = _new_pickler()
    pickler.dump(value)
    data = file.getvalue()
    if len(data) <= _KEPT_BYTES and len(_IDLE) < _KEPT:
        pickler.clear_memo()
        file.seek(0)
        file.truncate()
        _IDLE.append((pickler, file))
    return data


def _new_pickler() -> tuple[RecordPickler, io.BytesIO]:
    file = io.BytesIO()
    return RecordPickler(file, 5), file


# -- a record of scalars by itself, as state mostly keeps it ----------------------------------------


SELF_TOLD = 4
"""The protocol of such records, by which they are told from others: pickle itself names what is in a `__dict__`."""


class _DictFields(dict[type, frozenset[str] | None]):
    """The fields of classes whose instances keep them in a `__dict__`; None for other classes."""

    def __missing__(self, cls: type) -> frozenset[str] | None:
        if len(self) >= _MOST_CLASSES:
            self.clear()
        names = None if issubclass(cls, tuple) or stable_name(cls) is not None else field_names(cls)
        self[cls] = found = frozenset(names) if names and cls.__dictoffset__ and not _slots(cls) else None
        return found


DICT_FIELDS = _DictFields()


class _Bare:
    """The plain object that a record whose class has changed is read into."""


class _Refitting(pickle.Unpickler):
    """Reads a record into a plain object instead of its class, which is the first class named in the pickle."""

    def __init__(self, data: bytes) -> None:
        super().__init__(io.BytesIO(data))
        self.cls: Any = None

    def find_class(self, module: str, name: str) -> object:
        found = super().find_class(module, name)
        if self.cls is not None:
            return found
        self.cls = found
        return _Bare


def refitted(data: bytes) -> object:
    """A record of scalars that was written with other fields than its class has now."""
    reading = _Refitting(data)
    state = vars(reading.load())
    record = reading.cls.__new__(reading.cls)
    reader(reading.cls, " ".join(state))(record, state)
    return record


# -- reading --------------------------------------------------------------------------------------


@stable("reader")
@lru_cache(_MOST_CLASSES)
def reader(cls: type, fields: str) -> Callable[..., object]:
    """The function that makes (a named tuple) or fills (another record) an instance written with these fields."""
    names = tuple(map(sys.intern, fields.split()))
    return tuple_maker(cls, names) if issubclass(cls, tuple) else _filler(cls, names)


def tuple_maker(cls: Any, names: tuple[str, ...]) -> Callable[[Sequence[Any]], Any]:
    """A function that makes a named tuple of the values of these fields."""
    now = tuple(getattr(cls, "_fields", ()))
    owner = next((c for c in cls.__mro__ if "_make" in c.__dict__), cls)
    plain = cls.__new__ is owner.__new__
    make: Callable[[Sequence[Any]], Any] = (
        partial(tuple.__new__, cls) if plain else lambda values: cls.__new__(cls, *values)
    )
    if now == names:
        return make
    defaults = getattr(cls, "_field_defaults", {})
    fit = _fitting(cls, names, now, {name: partial(defaults.__getitem__, name) for name in defaults})

    def fitted(values: Sequence[object]) -> object:
        found = fit(dict(zip(names, values, strict=True)))
        return make([found[name] for name in now])

    return fitted


def _filler(cls: type, names: tuple[str, ...]) -> _Fill:
    """A function that fills a new instance with values in the order of the names, or with attributes by name."""
    put = _putter(cls)
    if _own_hook(cls, "__setstate__"):
        return partial(_set_state, names)
    now = field_names(cls) or _dataclass_fields(cls)
    if now is None or set(now) == set(names):
        return _quick_filler(cls, names, put)
    fit = _fitting(cls, names, now, _defaults(cls))

    def fill(record: object, state: object) -> None:
        found = _named(names, state)
        kept = {name: value for name, value in found.items() if name not in names}
        put(record, {**kept, **fit({name: value for name, value in found.items() if name in names})})

    return fill


def _set_state(names: tuple[str, ...], record: Record, state: object) -> None:
    record.__setstate__(_named(names, state))


def _dataclass_fields(cls: type) -> tuple[str, ...] | None:
    return tuple(f.name for f in dataclasses.fields(cls)) if dataclasses.is_dataclass(cls) else None


def _named(names: tuple[str, ...], state: Any) -> _Fields:
    return state if type(state) is dict else dict(zip(names, state, strict=True))


def _quick_filler(cls: type, names: tuple[str, ...], put: _Put) -> _Fill:
    if cls.__dictoffset__ and not _slots(cls):

        def fill(record: Record, state: Any) -> None:
            record.__dict__.update(state if type(state) is dict else zip(names, state))  # noqa: B905 - as many as names

        return fill
    setters = [getattr(cls, name).__set__ for name in names] if _slots(cls).issuperset(names) else None

    def fill_slots(record: Record, state: Any) -> None:
        if setters is None or type(state) is dict:
            return put(record, _named(names, state))
        for setter, value in zip(setters, state):  # noqa: B905 - as many as names
            setter(record, value)

    return fill_slots


def _putter(cls: type) -> _Put:
    """A function that sets attributes, in slots or not, even of a frozen record."""
    slots = _slots(cls)

    def put(record: object, state: _Fields) -> None:
        for name, value in state.items():
            if name in slots or not cls.__dictoffset__:
                object.__setattr__(record, name, value)
            else:
                record.__dict__[name] = value

    return put


def _defaults(cls: Any) -> dict[str, Callable[[], Any]]:
    made: dict[str, Callable[[], Any]] = {}
    for field in dataclasses.fields(cls):
        if field.default_factory is not dataclasses.MISSING:
            made[field.name] = field.default_factory
        elif field.default is not dataclasses.MISSING:
            made[field.name] = partial(getattr, field, "default")
    return made


def _fitting(
    cls: type, names: tuple[str, ...], now: tuple[str, ...], defaults: Mapping[str, Callable[[], Any]]
) -> Callable[[_Fields], _Fields]:
    """A function that turns fields as they were written into the fields that the class has now."""
    upgrade = getattr(cls, UPGRADE, None)

    def fit(written: _Fields) -> _Fields:
        found = written if upgrade is None else _upgraded(cls, upgrade(dict(written)), now, defaults)
        return {**{name: defaults[name]() for name in now if name not in found and name in defaults}, **found}

    if upgrade is None:
        gone = [n for n in names if n not in now]
        new = [n for n in now if n not in names and n not in defaults]
        if gone or new:
            raise StateError(_refusal(cls, names, now, gone, new))
    return fit


def _upgraded(cls: type, made: object, now: Sequence[str], defaults: Mapping[str, object]) -> _Fields:
    """Check the fields that a class made of older ones: all of its own that have no default, and no others."""
    where = f"{UPGRADE}() of class {cls.__module__}.{cls.__qualname__}"
    if not isinstance(made, dict):
        raise StateError(f"{where} must answer with a dict of fields, got {type(made).__name__}")
    unknown = [repr(n) for n in made if n not in now]
    missing = [repr(n) for n in now if n not in made and n not in defaults]
    if unknown or missing:
        what = f"with {', '.join(unknown)}, which it does not have" if unknown else f"without {', '.join(missing)}"
        raise StateError(f"{where} answered {what}: the class has the fields {', '.join(now)}")
    return made


def _refusal(cls: type, names: Sequence[str], now: Sequence[str], gone: list[str], new: list[str]) -> str:
    what = [
        *([f"it no longer has {', '.join(map(repr, gone))}"] if gone else []),
        *([f"{', '.join(map(repr, new))} would have no value"] if new else []),
    ]
    return (
        f"A record of class {cls.__module__}.{cls.__qualname__} was written with the fields {', '.join(names)}; the "
        f"class has {', '.join(now)} now: {' and '.join(what)}. Give new fields a default, keep old ones, or define a "
        f"class method {UPGRADE}(cls, fields) that is given the fields as they were written, as a dict, and answers "
        "with those of the class"
    )
