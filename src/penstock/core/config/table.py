"""The one table of settings: finding them by name, and checking a job's configuration against it."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

from penstock.core.config.configuration import Configuration
from penstock.core.config.known_settings import flink_settings, nearest_known, newest_name, with_newest_names
from penstock.core.config.option import ConfigOption
from penstock.core.config.options.accepted import ACCEPTED_OPTIONS
from penstock.core.config.options.checkpoints import CHECKPOINT_OPTIONS
from penstock.core.config.options.job import JOB_OPTIONS
from penstock.core.config.options.restarts import RESTART_OPTIONS
from penstock.core.config.options.spark import SPARK_OPTIONS
from penstock.core.config.options.tuning import TUNING_OPTIONS
from penstock.core.config.options.workers import WORKER_OPTIONS
from penstock.core.config.variables import ALL_VARIABLES
from penstock.core.errors import ConfigurationError

__all__ = [
    "ALL_OPTIONS",
    "OWN_OPTIONS",
    "check_settings",
    "check_source_settings",
    "find_option",
    "nearest_names",
    "older_names",
    "source_of",
]

_PREFIX = "penstock."

ALL_OPTIONS: dict[str, ConfigOption[Any]] = {
    option.key: option
    for option in (
        *JOB_OPTIONS,
        *CHECKPOINT_OPTIONS,
        *RESTART_OPTIONS,
        *WORKER_OPTIONS,
        *TUNING_OPTIONS,
        *SPARK_OPTIONS,
        *ACCEPTED_OPTIONS,
    )
}
"""Every setting that Penstock reads, by its name; Flink's under their newest names."""

OWN_OPTIONS = {key: option for key, option in sorted(ALL_OPTIONS.items()) if key.startswith(_PREFIX)}
"""The settings that Penstock has and Flink and Spark do not."""


def find_option(key: str) -> ConfigOption[Any] | None:
    """The option of a name, which may be an older one or the form for one source; None if there is none.

    >>> find_option("penstock.batch.max-records.orders").key, find_option("state.checkpoints.dir").key
    ('penstock.batch.max-records', 'execution.checkpointing.dir')
    """
    newest = newest_name(key)
    return ALL_OPTIONS.get(newest) or next(
        (option for option in OWN_OPTIONS.values() if source_of(option, newest)), None
    )


def source_of(option: ConfigOption[Any], key: str) -> str:
    """The uid of the source that a name is for; empty if it is not the form of this option for one source."""
    return key.removeprefix(f"{option.key}.") if option.per_uid and key.startswith(f"{option.key}.") else ""


def older_names(option: ConfigOption[Any]) -> tuple[str, ...]:
    """The names that Flink had for a setting and still takes."""
    return flink_settings().get(option.key, ())


def check_settings(conf: Configuration) -> None:
    """Refuse a name that begins with `penstock.` and is not a setting, and a value that its setting does not take.

    Called for every job when it is planned, whichever host runs it: a setting that one host never reads is checked
    there too. Settings without an effect are not checked: no value of theirs can do harm. Spark's are checked by the
    room that starts Spark.

    >>> check_settings(Configuration({"penstock.hots": "local"}))
    Traceback (most recent call last):
    penstock.core.errors.ConfigurationError: There is no setting 'penstock.hots': did you mean 'penstock.host'?
    >>> check_settings(Configuration({"penstock.batch.max-records.orders": "5"}))
    """
    for key, value in sorted(with_newest_names(conf).to_dict().items()):
        option = find_option(key) if newest_name(key) == key else None
        if option is None:
            if key.startswith(_PREFIX):
                raise _unknown(key)
        elif not option.no_effect and not key.startswith("spark."):
            option.read(value, key)


def nearest_names(key: str) -> list[str]:
    """Up to three names of settings that a misspelt name may have meant, the nearest first.

    >>> nearest_names("penstock.posion"), nearest_names("colour")
    (['penstock.poison'], [])
    """
    known = [name for name, option in ALL_OPTIONS.items() if not option.internal]
    near = get_close_matches(key, [*known, *(variable.name for variable in ALL_VARIABLES)], 3, 0.8)
    theirs = nearest_known(key)
    return near or ([theirs] if theirs else [])


def _unknown(key: str) -> ConfigurationError:
    near = get_close_matches(key, OWN_OPTIONS, 1, 0.8)
    hint = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(OWN_OPTIONS)}"
    return ConfigurationError(f"There is no setting {key!r}: {hint}")


def check_source_settings(conf: Configuration, uids: Sequence[str]) -> None:
    """Refuse a setting for a source that the job does not have: it would do nothing."""
    for key in sorted(conf.to_dict()):
        option = find_option(key)
        uid = source_of(option, key) if option else ""
        if uid and uid not in uids:
            raise ConfigurationError(f"{key} names no source of the job: its sources have the uids {', '.join(uids)}")
