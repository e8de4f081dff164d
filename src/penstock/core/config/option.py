"""Options: a setting's name, type and default in one object, and for settings of Penstock all that is known of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from penstock.core.errors import ConfigurationError

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

__all__ = ["BOUNDED", "EVERYWHERE", "LOCAL", "ON_SPARK", "STREAMING", "ConfigOption", "ConfigOptions", "Values"]

LOCAL, BOUNDED, STREAMING = ("local",), ("bounded",), ("streaming",)
ON_SPARK = BOUNDED + STREAMING
EVERYWHERE = LOCAL + ON_SPARK


@dataclass(frozen=True, slots=True)
class Values(Generic[T_co]):
    """The values that a setting takes: how they are read from text, and how a refusal and a table name them.

    `expected` completes the sentence "KEY must be …". `read` raises ValueError or ConfigurationError for other texts.
    `written` gives a value as a configuration file may have it, `shown` as people read it.
    """

    kind: type
    expected: str
    read: Callable[[str], T_co] = field(repr=False)
    written: Callable[[Any], str] = field(default=str, repr=False)
    shown: Callable[[Any], str] | None = field(default=None, repr=False)

    def show(self, value: object) -> str:
        """A value for a table."""
        return (self.shown or self.written)(value)


@dataclass(frozen=True, slots=True)
class ConfigOption(Generic[T_co]):
    """A setting as `Configuration.get` and `set` take it; programs make theirs with `ConfigOptions`.

    The fields after `default` are filled for the settings that Penstock reads itself:

    - `values`: which values it takes; None means whatever its type can be made from.
    - `description`: what it decides, in one sentence. `hosts`: where it does.
    - `per_uid`: a source's uid may follow the name, after a dot, and the value is then for this source alone.
    - `batch_default`: the default in BATCH mode, where it is another.
    - `default_text`: the default in words, where it is not one value.
    - `no_effect`: why the setting does nothing here; empty for a setting that does something.
    - `asks_nothing`: the value of a setting without effect that asks for what happens anyway.
    - `internal`: Penstock sets it itself; lists for people leave it out.
    """

    key: str
    kind: type
    default: T_co
    values: Values[T_co] | None = field(default=None, repr=False, compare=False)
    description: str = field(default="", repr=False, compare=False)
    hosts: tuple[str, ...] = field(default=(), repr=False, compare=False)
    per_uid: bool = field(default=False, repr=False, compare=False)
    batch_default: T_co | None = field(default=None, repr=False, compare=False)
    default_text: str = field(default="", repr=False, compare=False)
    no_effect: str = field(default="", repr=False, compare=False)
    asks_nothing: str | None = field(default=None, repr=False, compare=False)
    internal: bool = field(default=False, repr=False, compare=False)

    def default_in(self, batch: bool) -> T_co:
        """The default of a job in BATCH mode, or of any other job."""
        return self.batch_default if batch and self.batch_default is not None else self.default

    def read(self, text: str, key: str | None = None) -> T_co:
        """The value that a text stands for; a text that the setting does not take is refused.

        `key` is the name to refuse it under where that is not the option's own: a name with a uid, an older name.
        """
        assert self.values is not None, "settings of Penstock say which values they take"
        try:
            return self.values.read(text)
        except (ValueError, ConfigurationError):
            raise ConfigurationError(f"{key or self.key} must be {self.values.expected}, got {text!r}") from None

    def of(self, uid: str) -> ConfigOption[T_co]:
        """The form of this setting that is for one source."""
        assert self.per_uid, f"{self.key} is not a setting of single sources"
        return ConfigOption(f"{self.key}.{uid}", self.kind, self.default, self.values)

    @property
    def summary(self) -> str:
        """The first sentence of the description."""
        return self.description.partition(". ")[0].removesuffix(".")

    @property
    def shown_default(self) -> str:
        """The default for people, or words where it depends; empty if there is none."""
        if self.default_text or self.default is None or self.values is None:
            return self.default_text
        plain = self.values.show(self.default)
        return plain if self.batch_default is None else f"{plain}; BATCH: {self.values.show(self.batch_default)}"


class ConfigOptions:
    """Where options are made.

    >>> ConfigOptions.key("application.parallelism").int_type().default_value(100)
    ConfigOption(key='application.parallelism', kind=<class 'int'>, default=100)
    """

    @staticmethod
    def key(key: str) -> ConfigOptions.OptionBuilder:
        """Begin an option with this name."""
        return ConfigOptions.OptionBuilder(key)

    class OptionBuilder:
        """Chooses the type."""

        def __init__(self, key: str) -> None:
            self._key = key

        def boolean_type(self) -> ConfigOptions.TypedConfigOptionBuilder[bool]:
            """The option is true or false."""
            return ConfigOptions.TypedConfigOptionBuilder(self._key, bool)

        def int_type(self) -> ConfigOptions.TypedConfigOptionBuilder[int]:
            """The option is a whole number."""
            return ConfigOptions.TypedConfigOptionBuilder(self._key, int)

        def long_type(self) -> ConfigOptions.TypedConfigOptionBuilder[int]:
            """The option is a whole number."""
            return ConfigOptions.TypedConfigOptionBuilder(self._key, int)

        def float_type(self) -> ConfigOptions.TypedConfigOptionBuilder[float]:
            """The option is a floating-point number."""
            return ConfigOptions.TypedConfigOptionBuilder(self._key, float)

        def double_type(self) -> ConfigOptions.TypedConfigOptionBuilder[float]:
            """The option is a floating-point number."""
            return ConfigOptions.TypedConfigOptionBuilder(self._key, float)

        def string_type(self) -> ConfigOptions.TypedConfigOptionBuilder[str]:
            """The option is text."""
            return ConfigOptions.TypedConfigOptionBuilder(self._key, str)

    class TypedConfigOptionBuilder(Generic[T]):
        """Chooses the default."""

        def __init__(self, key: str, kind: type) -> None:
            self._key, self._kind = key, kind

        def default_value(self, value: T) -> ConfigOption[T]:
            """The option, with this default."""
            return ConfigOption(self._key, self._kind, value)

        def no_default_value(self) -> ConfigOption[T | None]:
            """The option, without a default."""
            return ConfigOption(self._key, self._kind, None)
