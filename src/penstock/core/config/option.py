"""Options: a setting's name, type and default in one object."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

T = TypeVar("T")

__all__ = ["ConfigOption", "ConfigOptions"]


@dataclass(frozen=True, slots=True)
class ConfigOption(Generic[T]):
    """A setting as `Configuration.get` and `set` take it; made by `ConfigOptions`."""

    key: str
    kind: type
    default: T | None = None


class ConfigOptions:
    """Where options are made.

    >>> ConfigOptions.key("application.parallelism").int_type().default_value(100)
    ConfigOption(key='application.parallelism', kind=<class 'int'>, default=100)
    """

    @staticmethod
    def key(key: str) -> ConfigOptions.OptionBuilder:
        return ConfigOptions.OptionBuilder(key)

    class OptionBuilder:
        """Chooses the type."""

        def __init__(self, key: str) -> None:
            self._key = key

        def boolean_type(self) -> ConfigOptions.TypedConfigOptionBuilder[bool]:
            return ConfigOptions.TypedConfigOptionBuilder(self._key, bool)

        def int_type(self) -> ConfigOptions.TypedConfigOptionBuilder[int]:
            return ConfigOptions.TypedConfigOptionBuilder(self._key, int)

        def long_type(self) -> ConfigOptions.TypedConfigOptionBuilder[int]:
            return ConfigOptions.TypedConfigOptionBuilder(self._key, int)

        def float_type(self) -> ConfigOptions.TypedConfigOptionBuilder[float]:
            return ConfigOptions.TypedConfigOptionBuilder(self._key, float)

        def double_type(self) -> ConfigOptions.TypedConfigOptionBuilder[float]:
            return ConfigOptions.TypedConfigOptionBuilder(self._key, float)

        def string_type(self) -> ConfigOptions.TypedConfigOptionBuilder[str]:
            return ConfigOptions.TypedConfigOptionBuilder(self._key, str)

    class TypedConfigOptionBuilder(Generic[T]):
        """Chooses the default."""

        def __init__(self, key: str, kind: type) -> None:
            self._key, self._kind = key, kind

        def default_value(self, value: T) -> ConfigOption[T]:
            return ConfigOption(self._key, self._kind, value)

        def no_default_value(self) -> ConfigOption[Any]:
            return ConfigOption(self._key, self._kind)
