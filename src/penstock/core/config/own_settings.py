"""Penstock's own settings: their names and the values they take. All are checked when a job is planned (P9, P12)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches

from penstock.core.config.configuration import Configuration
from penstock.core.errors import ConfigurationError
from penstock.core.time import parse_duration_ms

__all__ = ["HOSTS", "OWN_SETTINGS", "OwnSetting", "check_own_settings", "check_source_settings"]

HOSTS = ("auto", "local", "bounded", "streaming")
_PREFIX = "penstock."


@dataclass(frozen=True, slots=True)
class OwnSetting:
    """What a setting decides and which values it takes; `per_source`: a source's uid may follow its name."""

    meaning: str
    expected: str
    takes: Callable[[str], bool]
    per_source: bool = False


def _whole(least: int, meaning: str, per_source: bool = False) -> OwnSetting:
    def takes(text: str) -> bool:
        try:
            return int(text) >= least
        except ValueError:
            return False

    return OwnSetting(meaning, f"a whole number of at least {least}", takes, per_source)


def _duration(meaning: str) -> OwnSetting:
    def takes(text: str) -> bool:
        try:
            return parse_duration_ms(text) >= 0
        except ConfigurationError:
            return False

    return OwnSetting(meaning, "a duration like '10 s', '1 min' or '500 ms'", takes)


def _choice(names: tuple[str, ...], meaning: str) -> OwnSetting:
    return OwnSetting(meaning, f"one of {', '.join(names)}", names.__contains__)


def _flag(meaning: str) -> OwnSetting:
    return OwnSetting(meaning, "true or false", lambda text: text.lower() in ("true", "false"))


def _folder(meaning: str) -> OwnSetting:
    return OwnSetting(meaning, "a folder", lambda text: "\0" not in text)


OWN_SETTINGS = {
    "penstock.batch.max-bytes": _whole(1, "how much a micro-batch may read", per_source=True),
    "penstock.batch.max-records": _whole(1, "how many records a micro-batch may read", per_source=True),
    "penstock.batch.target-ms": _duration("how long a micro-batch should take"),
    "penstock.cache.dir": _folder("where cached streams are kept"),
    "penstock.chunk.records": _whole(1, "records that travel together between stages"),
    "penstock.host": _choice(HOSTS, "what runs the job"),
    "penstock.jvm.compiler": _choice(
        ("quick", "full"), "how an embedded JVM compiles; full is for jobs that let Spark's SQL do much"
    ),
    "penstock.metrics.heavy-keys": _whole(0, "how many of the heaviest keys are shown; 0: none are looked for"),
    "penstock.metrics.late-records": _flag("whether late records are counted"),
    "penstock.plan-only": _flag("the program is left at its first execute()"),
    "penstock.poison": _choice(("fail", "skip", "side-output"), "what happens to a record on which a function raises"),
    "penstock.sort.budget-bytes": _whole(1, "memory for sorting what a stage is sent"),
    "penstock.source.buffer-records": _whole(1, "records that a source without offsets may be ahead"),
    "penstock.source.cancel-timeout-ms": _whole(0, "how long a source function may take to end"),
    "penstock.state.accept-changed-program": _flag("state under generated uids is kept though the program has changed"),
    "penstock.state.budget-bytes": _whole(1, "memory for state that is in use"),
    "penstock.state.page-bytes": _whole(1, "how large a page of state becomes before it is split"),
    "penstock.tmp-dir": _folder("where stages put what does not fit into memory"),
    "penstock.watermark.per-record": _flag("a watermark after every record"),
    "penstock.watermark.records": _whole(1, "records between two watermarks"),
}


def check_own_settings(conf: Configuration) -> None:
    """Refuse a name that begins with `penstock.` and is not a setting, and a value that its setting does not take.

    Called for every job, whichever host runs it: a setting that one host never reads is checked there too.

    >>> check_own_settings(Configuration({"penstock.hots": "local"}))
    Traceback (most recent call last):
    penstock.core.errors.ConfigurationError: There is no setting 'penstock.hots': did you mean 'penstock.host'?
    >>> check_own_settings(Configuration({"penstock.batch.max-records.orders": "5"}))
    """
    for key, value in sorted(conf.to_dict().items()):
        if key.startswith(_PREFIX):
            setting = OWN_SETTINGS.get(key) or OWN_SETTINGS.get(_without_uid(key))
            if setting is None:
                raise _unknown(key)
            if not setting.takes(value):
                raise ConfigurationError(f"{key} must be {setting.expected}, got {value!r}")


def _without_uid(key: str) -> str:
    """The setting of which `key` is the form for one source; empty if there is none."""
    return next((name for name in _per_source() if key.startswith(f"{name}.") and key != f"{name}."), "")


def _per_source() -> Iterator[str]:
    return (name for name, setting in OWN_SETTINGS.items() if setting.per_source)


def _unknown(key: str) -> ConfigurationError:
    near = get_close_matches(key, OWN_SETTINGS, 1, 0.8)
    hint = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(OWN_SETTINGS)}"
    return ConfigurationError(f"There is no setting {key!r}: {hint}")


def check_source_settings(conf: Configuration, uids: list[str]) -> None:
    """Refuse a setting for a source that the job does not have: it would do nothing (P12)."""
    for key in sorted(conf.to_dict()):
        name = _without_uid(key)
        if name and key.removeprefix(f"{name}.") not in uids:
            raise ConfigurationError(f"{key} names no source of the job: its sources have the uids {', '.join(uids)}")
