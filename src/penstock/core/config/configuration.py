"""String settings by name, as PyFlink's `Configuration`."""

from __future__ import annotations

import ast
import base64
import binascii
import builtins
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from penstock.core.config.option import ConfigOption
from penstock.core.errors import ConfigurationError
from penstock.core.time.spans import parse_duration_ms

T = TypeVar("T")

__all__ = ["Configuration"]


class Configuration:
    """A bag of settings.

    >>> conf = Configuration()
    >>> conf.set_integer("parallelism.default", 2).get_integer("parallelism.default", 1)
    2
    """

    def __init__(self, other: Configuration | Mapping[str, object] | None = None) -> None:
        self._data: dict[str, str] = {}
        self._typed: dict[str, int | float | bool | bytearray] = {}
        if isinstance(other, Configuration):
            self.add_all(other)
        elif other is not None:
            self._data.update({k: _text(v) for k, v in other.items()})

    @classmethod
    def from_dict(cls, map: Mapping[str, object]) -> Configuration:
        """A configuration with these settings."""
        return cls(map)

    @staticmethod
    def parse_list_value(value: str | None) -> list[Any]:
        """The items of a list as configuration files spell it: `[a, b]`, lines of `- a`, or `a;b`.

        >>> Configuration.parse_list_value("['a.jar', 'b.jar']"), Configuration.parse_list_value("a.jar;b.jar")
        (['a.jar', 'b.jar'], ['a.jar', 'b.jar'])
        """
        text = (value or "").strip()
        if not text:
            return []
        if text.startswith("[") and text.endswith("]"):
            return _flow_list(text)
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        if all(line.startswith("- ") for line in lines):
            return [_scalar(line[2:]) for line in lines]
        return text.split(";")

    # -- writing ----------------------------------------------------------------------------------

    def set_string(self, key: str, value: str) -> Configuration:
        """Set a value as text."""
        self._data[key] = value
        self._typed.pop(key, None)
        return self

    def set_integer(self, key: str, value: int) -> Configuration:
        """Set a whole number."""
        return self._set_typed(key, str(value), value)

    def set_boolean(self, key: str, value: bool) -> Configuration:
        """Set true or false."""
        return self._set_typed(key, _text(value), value)

    def set_float(self, key: str, value: float) -> Configuration:
        """Set a floating-point number."""
        return self._set_typed(key, str(float(value)), float(value))

    def set_bytearray(self, key: str, value: bytes | bytearray) -> Configuration:
        """Bytes are kept as base64 text."""
        return self._set_typed(key, base64.b64encode(value).decode(), bytearray(value))

    def _set_typed(self, key: str, text: str, value: int | float | bool | bytearray) -> Configuration:
        """Settings are texts; `add_all_to_dict` alone gives values back as they were set."""
        self.set_string(key, text)._typed[key] = value
        return self

    def set(self, option: ConfigOption[T], value: T) -> Configuration:
        """Set the value of an option."""
        return self.set_string(option.key, _text(value))

    def add_all(self, other: Configuration, prefix: str | None = None) -> Configuration:
        """Take over all settings of another configuration, with `prefix` before their names if one is given."""
        for key, text in other._data.items():
            self.set_string((prefix or "") + key, text)
        self._typed.update({(prefix or "") + key: value for key, value in other._typed.items()})
        return self

    def remove_config(self, key: str) -> bool:
        """Remove a setting; returns whether it was there."""
        self._typed.pop(key, None)
        return self._data.pop(key, None) is not None

    # -- reading ----------------------------------------------------------------------------------

    def get_string(self, key: str, default_value: str) -> str:
        """The value as text, or the default if the setting is not there."""
        return self._data.get(key, default_value)

    def get_integer(self, key: str, default_value: int) -> int:
        """The value as a whole number; refused if it is not one."""
        return int(self._number(key, default_value, int))

    def get_float(self, key: str, default_value: float) -> float:
        """The value as a floating-point number; refused if it is not one."""
        return float(self._number(key, default_value, float))

    def get_boolean(self, key: str, default_value: bool) -> bool:
        """The value as true or false; refused if it is neither."""
        text = self._data.get(key)
        if text is None:
            return default_value
        if text.lower() not in ("true", "false"):
            raise ConfigurationError(f"Setting {key!r} must be true or false, got {text!r}")
        return text.lower() == "true"

    def get_bytearray(self, key: str, default_value: bytes | bytearray) -> bytearray:
        """The value as bytes; refused if it does not stand for bytes."""
        text = self._data.get(key)
        if text is None:
            return bytearray(default_value)
        try:
            return bytearray(base64.b64decode(text, validate=True))
        except binascii.Error:
            raise ConfigurationError(f"Setting {key!r} does not hold bytes, got {text!r}") from None

    def get_duration_ms(self, key: str, default_ms: int) -> int:
        """Milliseconds of a span of time: "10 s", "1 min", "500"."""
        text = self._data.get(key)
        return default_ms if text is None else parse_duration_ms(text, f"Setting {key!r}")

    def get(self, option: ConfigOption[T], default_value: T | None = None) -> T:
        """An option's value; where it is not set, the default given here, else the option's own."""
        text = self._data.get(option.key)
        if text is None:
            return option.default if default_value is None else default_value
        if option.values is not None:
            return option.read(text)
        if option.kind is bool:
            return self.get_boolean(option.key, False)  # type: ignore[return-value]
        return self._number(option.key, None, option.kind)  # type: ignore[no-any-return]

    def _number(self, key: str, default: object, kind: type) -> Any:
        text = self._data.get(key)
        if text is None:
            return default
        try:
            return kind(text)
        except ValueError:
            raise ConfigurationError(f"Setting {key!r} must be of type {kind.__name__}, got {text!r}") from None

    def contains_key(self, key: str) -> bool:
        """Whether the setting is there."""
        return key in self._data

    def key_set(self) -> builtins.set[str]:
        """The names of all settings."""
        return set(self._data)

    def add_all_to_dict(self, target_dict: dict[str, object]) -> None:
        """Settings as they were set: what `set_integer` was given is an int, `set_bytearray` a bytearray.

        >>> Configuration().set_integer("n", 1).set_string("s", "1").add_all_to_dict(found := {})
        >>> found
        {'n': 1, 's': '1'}
        """
        target_dict.update({**self._data, **self._typed})

    def to_dict(self) -> dict[str, str]:
        """All settings as text."""
        return dict(self._data)

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Configuration) and self._data == other._data

    def __hash__(self) -> int:
        return hash(frozenset(self._data.items()))

    def __str__(self) -> str:
        """As PyFlink shows it: `{key=value, key=value}`."""
        return f"{{{', '.join(f'{key}={value}' for key, value in self._data.items())}}}"

    def __repr__(self) -> str:
        return f"Configuration({self._data})"


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _flow_list(text: str) -> list[object]:
    try:
        return list(ast.literal_eval(text))
    except (ValueError, SyntaxError):
        return [_scalar(item) for item in text[1:-1].split(",") if item.strip()]


def _scalar(text: str) -> str:
    """Without the quotes, if it has any."""
    text = text.strip()
    quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "'\""
    return text[1:-1] if quoted else text
