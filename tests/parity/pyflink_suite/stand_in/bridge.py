"""The edge where PyFlink's JVM begins. A test that crosses it is out of reach: it asks Java, not Python."""

from __future__ import annotations

import importlib
from typing import Any

from penstock.common import Configuration as _Configuration
from penstock.common import WatermarkStrategy
from penstock.datastream import DataStream, StreamExecutionEnvironment
from tests.parity.pyflink_suite.stand_in.java import Gateway
from tests.parity.pyflink_suite.stand_in.parquet_files import create_hadoop_configuration, to_java_data_type
from tests.parity.pyflink_suite.stand_in.reach import OutOfReach

__all__ = ["Missing", "OutOfReach", "get_gateway", "get_j_env_configuration", "take"]


class Missing:
    """Stands for a name that is not there; a test that uses it is out of reach."""

    collecting = False
    """While pytest looks at every name of a module in search of tests."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or Missing.collecting:
            raise AttributeError(name)
        raise OutOfReach(f"uses {self._path}")

    def __call__(self, *args: Any, **named: Any) -> Any:
        raise OutOfReach(f"uses {self._path}")

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        path = self._path

        class Base:
            def __init__(self, *args: Any, **named: Any) -> None:
                raise OutOfReach(f"uses {path}")

        return (Base,)


def get_gateway() -> Gateway:
    return Gateway()


class JavaEnvironment:
    """The Java object of an environment: a way to its configuration and to a source of values, and to nothing else."""

    def __init__(self, env: StreamExecutionEnvironment) -> None:
        self.env = env

    def fromCollection(self, values: Any, type_info: Any) -> DataStream[Any]:
        return self.env.from_collection(values, type_info)

    def __getattr__(self, name: str) -> Any:
        raise OutOfReach(f"calls {name}() of a Java environment")


class JavaConfiguration:
    """An environment's configuration under the Java names that PyFlink's tests use to change it."""

    def __init__(self, environment: JavaEnvironment) -> None:
        self.conf = environment.env.get_configuration()

    def setString(self, key: str, value: str) -> None:
        self.conf.set_string(key, value)

    def setInteger(self, key: str, value: int) -> None:
        self.conf.set_integer(key, value)

    def getString(self, key: str, default: str) -> str:
        return self.conf.get_string(key, default)

    def __getattr__(self, name: str) -> Any:
        raise OutOfReach(f"calls {name}() of a Java configuration")


def get_j_env_configuration(environment: JavaEnvironment) -> JavaConfiguration:
    return JavaConfiguration(environment)


class Configuration(_Configuration):
    """Also made of an environment's configuration, as PyFlink's tests make it."""

    def __init__(self, other: Any = None, j_configuration: JavaConfiguration | None = None) -> None:
        super().__init__(other)
        if j_configuration is not None:
            self._data, self._typed = j_configuration.conf._data, j_configuration.conf._typed


class Environment(StreamExecutionEnvironment):
    """With a Java object, for tests that reach for it."""

    @property
    def _j_stream_execution_environment(self) -> JavaEnvironment:
        return JavaEnvironment(self)

    @staticmethod
    def get_execution_environment(configuration: _Configuration | None = None) -> Environment:
        return Environment(configuration)


class _OfJavaObjects(type):
    def __call__(cls, stand_in: Any) -> Any:
        return stand_in

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, cls.__mro__[1])


class StreamOfJava(DataStream[Any], metaclass=_OfJavaObjects):
    """`DataStream`, made of a Java stream: of one of Penstock's, which stands for it."""


class StrategyOfJava(WatermarkStrategy, metaclass=_OfJavaObjects):
    """`WatermarkStrategy`, made of a Java strategy: of one of Penstock's, which stands for it."""


_OURS = {
    "Configuration": Configuration,
    "DataStream": StreamOfJava,
    "StreamExecutionEnvironment": Environment,
    "WatermarkStrategy": StrategyOfJava,
    "_to_java_data_type": to_java_data_type,
    "create_hadoop_configuration": create_hadoop_configuration,
}
"""Names by which tests reach through into Java in ways that have a meaning here."""

_HERE = "tests.parity.pyflink_suite.stand_in"
_STAND_INS = {
    "avro.datafile": f"{_HERE}.avro_files",
    "avro.io": f"{_HERE}.avro_files",
    "py4j.java_gateway": f"{_HERE}.java",
    "pyflink.testing.test_case_utils": f"{_HERE}.cases",
    "pyflink.datastream.tests.test_util": f"{_HERE}.sink",
    "pyflink.java_gateway": f"{_HERE}.bridge",
    "pyflink.util.java_utils": f"{_HERE}.bridge",
    "pyflink.pyflink_gateway_server": f"{_HERE}.cases",
}


def take(module: str, name: str) -> Any:
    """What `from module import name` gives a test: a stand-in, Penstock's, or a `Missing`."""
    if name in _OURS:
        return _OURS[name]
    ours = _STAND_INS.get(module) or _rewritten(module) or "penstock" + module.removeprefix("pyflink")
    try:
        return getattr(importlib.import_module(ours), name)
    except (ImportError, AttributeError):
        return Missing(f"{module}.{name}")


def _rewritten(module: str) -> str | None:
    """The copy of another test file, which the run has beside the test: `datastream__formats__test_avro`."""
    package, tests, name = module.removeprefix("pyflink.").rpartition(".tests.")
    return f"{package}.{name}".replace(".", "__") if tests else None
