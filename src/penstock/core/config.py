"""String settings by name, as PyFlink's `Configuration`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from penstock.core.errors import ConfigurationError

__all__ = ["Configuration"]


class Configuration:
    """A bag of settings.

    >>> conf = Configuration()
    >>> conf.set_integer("parallelism.default", 2).get_integer("parallelism.default", 1)
    2
    """

    def __init__(self, other: Configuration | Mapping[str, Any] | None = None) -> None:
        self._data: dict[str, str] = {}
        if isinstance(other, Configuration):
            self._data.update(other._data)
        elif other is not None:
            self._data.update({k: _text(v) for k, v in other.items()})

    def set_string(self, key: str, value: str) -> Configuration:
        self._data[key] = value
        return self

    def set_integer(self, key: str, value: int) -> Configuration:
        return self.set_string(key, str(value))

    def set_boolean(self, key: str, value: bool) -> Configuration:
        return self.set_string(key, _text(value))

    def set_float(self, key: str, value: float) -> Configuration:
        return self.set_string(key, str(value))

    def get_string(self, key: str, default_value: str) -> str:
        return self._data.get(key, default_value)

    def get_integer(self, key: str, default_value: int) -> int:
        return int(self._number(key, default_value, int))

    def get_float(self, key: str, default_value: float) -> float:
        return float(self._number(key, default_value, float))

    def get_boolean(self, key: str, default_value: bool) -> bool:
        text = self._data.get(key)
        if text is None:
            return default_value
        if text.lower() not in ("true", "false"):
            raise ConfigurationError(f"Setting {key!r} must be true or false, got {text!r}")
        return text.lower() == "true"

    def _number(self, key: str, default: Any, kind: type) -> Any:
        text = self._data.get(key)
        if text is None:
            return default
        try:
            return kind(text)
        except ValueError:
            raise ConfigurationError(f"Setting {key!r} must be of type {kind.__name__}, got {text!r}") from None

    def contains_key(self, key: str) -> bool:
        return key in self._data

    def remove_config(self, key: str) -> bool:
        return self._data.pop(key, None) is not None

    def key_set(self) -> set[str]:
        return set(self._data)

    def add_all(self, other: Configuration, prefix: str = "") -> None:
        self._data.update({prefix + k: v for k, v in other._data.items()})

    def to_dict(self) -> dict[str, str]:
        return dict(self._data)

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Configuration) and self._data == other._data

    def __hash__(self) -> int:
        return hash(frozenset(self._data.items()))

    def __repr__(self) -> str:
        return f"Configuration({self._data})"


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
