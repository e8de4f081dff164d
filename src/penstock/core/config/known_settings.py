"""The names of Flink's and Spark's settings, and the older names that Flink's settings have.

The names stand in two files beside this one, written by `scripts/flink_settings.py` and `scripts/spark_settings.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from functools import cache
from importlib.resources import files

from penstock.core.config.configuration import Configuration

__all__ = ["flink_settings", "nearest_known", "newest_name", "outdated", "with_newest_names"]

_OF_FLINK = frozenset(
    {"execution", "jobmanager", "parallelism", "pipeline", "python", "restart-strategy", "state", "taskmanager"}
)
"""First parts of names that belong to Flink alone. Programs may use the others, as `client.` or `user.`, themselves."""

_OPEN = (
    "spark.app.",
    "spark.executorEnv.",
    "spark.hadoop.",
    "spark.hive.",
    "spark.kubernetes.",
    "spark.metrics.conf.",
    "spark.mesos.",
    "spark.sql.catalog.",
    "spark.sql.streaming.stateStore.rocksdb.",
    "spark.ssl.",
    "spark.yarn.",
)
"""Prefixes below which Spark takes names that it does not list."""


@cache
def flink_settings() -> Mapping[str, tuple[str, ...]]:
    """Every setting of Flink 2.3 under its newest name, with the older names that Flink takes for it.

    >>> flink_settings()["execution.checkpointing.dir"]
    ('state.checkpoints.dir', 'state.backend.fs.checkpointdir')
    """
    lines = (line.split() for line in _lines("flink_settings.txt"))
    return {newest: tuple(older) for newest, *older in lines}


@cache
def _newest() -> Mapping[str, str]:
    """Older name -> newest name; a name that Flink still uses for a setting of its own is not an older one."""
    known = flink_settings()
    return {old: newest for newest, older in known.items() for old in older if old not in known}


@cache
def _spark_settings() -> frozenset[str]:
    return frozenset(_lines("spark_settings.txt"))


def _lines(name: str) -> list[str]:
    text = files("penstock.core.config").joinpath(name).read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def newest_name(key: str) -> str:
    """The name that Flink 2.3 has for a setting; a name that is not an older one stays.

    >>> newest_name("restart-strategy"), newest_name("my.own")
    ('restart-strategy.type', 'my.own')
    """
    return _newest().get(key, key)


def with_newest_names(conf: Configuration) -> Configuration:
    """A copy in which every setting that was given under an older name has its newest name as well.

    Where both were given the newest name wins, then the older names in Flink's order. The older names stay, so that a
    program that looks for one finds it.

    >>> with_newest_names(Configuration({"state.checkpoints.dir": "/c"})).get_string("execution.checkpointing.dir", "")
    '/c'
    """
    given = conf.to_dict()
    added = {newest_name(key) for key in given} - given.keys()
    found = Configuration(conf)
    for newest in added:
        found.set_string(newest, next(given[old] for old in flink_settings()[newest] if old in given))
    return found


def outdated(conf: Configuration) -> Iterator[tuple[str, str]]:
    """Older names whose value is not the one that holds, each with the name that does."""
    given = conf.to_dict()
    for key, value in sorted(given.items()):
        newest = newest_name(key)
        if newest != key:
            names = (newest, *flink_settings()[newest])
            holds = next(name for name in names if name in given)
            if given[holds] != value:
                yield key, holds


def nearest_known(key: str) -> str | None:
    """For a name that Flink or Spark would be expected to know and does not: the nearest known one, or "".

    None where there is nothing to say: the name is known, or is the program's own.

    >>> nearest_known("execution.checkpointing.dri"), nearest_known("my.own.setting")
    ('execution.checkpointing.dir', None)
    >>> nearest_known("spark.executor.memry")
    'spark.executor.memory'
    """
    if key.startswith("spark."):
        return _nearest_spark(key)
    if key in flink_settings() or key in _newest():
        return None
    first, _, rest = key.partition(".")
    theirs = first in _OF_FLINK and rest != ""
    near = _near(key, [*flink_settings(), *_newest()], 0.7 if theirs else 0.9)
    return near if theirs else near or None


def _nearest_spark(key: str) -> str | None:
    """Libraries have settings below `spark.` of their own, so a name is doubted only if it is nearly one of Spark's."""
    if key in _spark_settings() or key.startswith(_OPEN):
        return None
    return _near(key, _spark_settings(), 0.9) or None


def _near(key: str, known: Iterable[str], cutoff: float) -> str:
    near = get_close_matches(key, known, 1, cutoff)
    return newest_name(near[0]) if near else ""
