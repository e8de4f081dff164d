"""Everything that users can call says what it is for, in its own docstring or in that of the method it implements."""

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator

import pytest

FACADES = ("common", "datastream", "cep", "metrics", "table", "state", "testing")
RULE_CODE = re.compile(r"\((?:[A-Z]\d{1,2}(?:[–,] ?)?)+\)")


def _modules() -> Iterator[str]:
    for facade in FACADES:
        package = importlib.import_module(f"penstock.{facade}")
        yield package.__name__
        if facade not in ("state", "testing"):
            yield from (m.name for m in pkgutil.walk_packages(package.__path__, f"{package.__name__}."))


def _public() -> dict[str, object]:
    """Every public class and function under its shortest public name."""
    found: dict[int, tuple[str, object]] = {}
    for name in _modules():
        module = importlib.import_module(name)
        for public in module.__all__:
            value = getattr(module, public)
            if inspect.isclass(value) or inspect.isfunction(value):
                known = found.get(id(value))
                if known is None or len(f"{name}.{public}") < len(known[0]):
                    found[id(value)] = (f"{name}.{public}", value)
    return dict(sorted(found.values(), key=lambda pair: pair[0]))


def _members(owner: object, name: str) -> Iterator[tuple[str, str | None]]:
    """What is documented about a name and, if it is a class, about its public methods, properties and inner classes."""
    yield name, inspect.getdoc(owner) if _own(owner) else None
    if not inspect.isclass(owner):
        return
    for key in sorted(vars(owner)):
        raw = inspect.getattr_static(owner, key)
        value = getattr(owner, key)
        if key.startswith("_") or (inspect.isclass(value) and not value.__qualname__.startswith(owner.__qualname__)):
            continue
        if inspect.isclass(value):
            yield from _members(value, f"{name}.{key}")
        elif inspect.isroutine(value):
            yield f"{name}.{key}", inspect.getdoc(value)
        elif isinstance(raw, property):
            yield f"{name}.{key}", _of_property(owner, key)


def _own(owner: object) -> bool:
    """A dataclass without a docstring is given its signature for one, which says nothing about what it is for."""
    doc = inspect.getdoc(owner)
    return doc is not None and not doc.startswith(f"{getattr(owner, '__name__', '')}(")


def _of_property(owner: type, key: str) -> str | None:
    found = (vars(base).get(key) for base in owner.__mro__)
    return next((doc for doc in (inspect.getdoc(value) for value in found if value is not None) if doc), None)


PUBLIC = _public()


def test_there_is_something_to_look_at() -> None:
    assert len(PUBLIC) > 300


@pytest.mark.parametrize("name", PUBLIC)
def test_it_is_documented(name: str) -> None:
    missing = [member for member, doc in _members(PUBLIC[name], name) if not doc]
    assert missing == []


@pytest.mark.parametrize("name", PUBLIC)
def test_its_text_is_for_users(name: str) -> None:
    """Numbers of rules belong to the contract, not to what users read."""
    coded = [member for member, doc in _members(PUBLIC[name], name) if doc and RULE_CODE.search(doc)]
    assert coded == []
