"""Write the tables of settings into the pages of the guide that have markers for them.

A table stands between `<!-- settings: NAME -->` and `<!-- end of settings -->`; NAME is one of `TABLES`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from penstock.core.config.option import EVERYWHERE, ConfigOption
from penstock.core.config.options.spark import SPARK_OPTIONS
from penstock.core.config.options.tuning import TUNING_OPTIONS
from penstock.core.config.table import ALL_OPTIONS, OWN_OPTIONS, older_names
from penstock.core.config.variables import ALL_VARIABLES

ROOT = Path(__file__).resolve().parents[1]
PAGES = ("docs/guide/settings.md", "docs/guide/spark.md")
_PLACE = re.compile(r"(<!-- settings: (?P<name>[a-z]+) -->\n).*?(<!-- end of settings -->)", re.DOTALL)


def main() -> None:
    for page in PAGES:
        path = ROOT / page
        path.write_text(rendered(path.read_text(encoding="utf-8")), encoding="utf-8")


def rendered(page: str) -> str:
    """A page with its tables made anew."""
    return _PLACE.sub(lambda found: f"{found[1]}\n{TABLES[found['name']]()}\n{found[3]}", page)


def _own() -> str:
    return _table(_shown(OWN_OPTIONS.values()))


def _tuning() -> str:
    return _table(_shown(TUNING_OPTIONS))


def _flink() -> str:
    theirs = (option for key, option in sorted(ALL_OPTIONS.items()) if key not in OWN_OPTIONS)
    return _table(option for option in _shown(theirs) if not option.key.startswith("spark."))


def _spark() -> str:
    return _table(_shown(SPARK_OPTIONS))


def _variables() -> str:
    rows = [f"| `{variable.name}` | {variable.description} |" for variable in ALL_VARIABLES]
    return "\n".join(["| Variable | What it decides |", "|---|---|", *rows, ""])


def _shown(options: Iterable[ConfigOption[Any]]) -> Iterable[ConfigOption[Any]]:
    return (option for option in options if not option.internal and not option.no_effect)


def _table(options: Iterable[ConfigOption[Any]]) -> str:
    rows = [f"| {_name(o)} | {_default(o)} | {_hosts(o)} | {_description(o)} |" for o in options]
    return "\n".join(["| Setting | Default | Hosts | What it decides |", "|---|---|---|---|", *rows, ""])


def _name(option: ConfigOption[Any]) -> str:
    return f"`{option.key}`" + (f", `{option.key}.<uid>` for one source" if option.per_uid else "")


def _default(option: ConfigOption[Any]) -> str:
    """As code where a file may have it so: a size is shown in MiB, and must be given in bytes."""
    assert option.values is not None
    shown = option.shown_default
    as_written = not option.default_text and shown and shown == option.values.written(option.default)
    return f"`{shown}`" if as_written else shown


def _hosts(option: ConfigOption[Any]) -> str:
    return "all" if option.hosts == EVERYWHERE else ", ".join(option.hosts)


def _description(option: ConfigOption[Any]) -> str:
    older = older_names(option)
    return option.description + (f" Older names: {', '.join(f'`{name}`' for name in older)}." if older else "")


TABLES: dict[str, Callable[[], str]] = {
    "own": _own,
    "tuning": _tuning,
    "flink": _flink,
    "spark": _spark,
    "variables": _variables,
}

if __name__ == "__main__":
    main()
