"""`penstock config`: every setting, what it decides, and what it is now."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NoReturn

import click

from penstock.cli.say import WRONG_USE, fail, table
from penstock.core.config.base import command_line_settings, file_settings
from penstock.core.config.compat import why_without_effect
from penstock.core.config.known_settings import flink_settings, newest_name
from penstock.core.config.option import EVERYWHERE, ConfigOption
from penstock.core.config.table import ALL_OPTIONS, OWN_OPTIONS, find_option, nearest_names, older_names, source_of
from penstock.core.config.variables import ALL_VARIABLES, CONF, CONF_FILE, Variable
from penstock.core.errors import PenstockError

__all__ = ["config", "setting_names"]

_HOST = click.Choice(EVERYWHERE)


class _Config(click.Group):
    """`penstock config` and `penstock config TEXT` are the list."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        named = bool(args) and args[0] in (*self.commands, *ctx.help_option_names)
        return super().parse_args(ctx, args if named else ["list", *args])


def setting_names(_: click.Context, __: click.Parameter, typed: str) -> list[str]:
    """Completions: names of settings, and of environment variables."""
    names = [*_listed(True), *(variable.name for variable in ALL_VARIABLES)]
    return [name for name in names if name.startswith(typed)]


@click.group(cls=_Config)
def config() -> None:
    """List the settings, or explain one.

    Without a command the list, which takes a text to look for and options: penstock config list --help.

    \b
    Examples:
      penstock config                              Penstock's own settings
      penstock config --all checkpoint             Flink's and Spark's too, that have checkpoint in them
      penstock config --host streaming
      penstock config explain penstock.batch.target-ms
    """


@config.command("list")
@click.argument("text", required=False)
@click.option("--host", type=_HOST, help="Only settings that concern this host.")
@click.option("--all", "everything", is_flag=True, help="Also settings of Flink and Spark that mean something here.")
def list_settings(text: str | None, host: str | None, everything: bool) -> None:
    """List settings with their defaults.

    With TEXT only settings that have it in their name or description.

    \b
    Examples:
      penstock config
      penstock config --all restart
      penstock config list --host local
    """
    found = {key: option for key, option in _listed(everything).items() if host is None or host in option.hosts}
    rows = [[_name(o), o.shown_default or "-", o.summary] for o in found.values() if _has(text, o.key, o.description)]
    if rows:
        click.echo(table(["SETTING", "DEFAULT", "WHAT IT DECIDES"], rows))
    variables = [[v.name, v.summary] for v in ALL_VARIABLES if host is None and _has(text, v.name, v.description)]
    if variables:
        click.echo(("\n" if rows else "") + table(["VARIABLE", "WHAT IT DECIDES"], variables))
    if not rows and not variables:
        click.echo("nothing" if everything else "nothing; --all looks among the settings of Flink and Spark, too")


@config.command()
@click.argument("key", shell_complete=setting_names)
def explain(key: str) -> None:
    """Explain one setting.

    KEY is the name of a setting, newest or older, or of an environment variable. Says what it decides,
    which values it takes, which hosts it concerns, where it may be set, and what it is now. Exits with 2
    if there is no such setting.

    \b
    Examples:
      penstock config explain penstock.poison
      penstock config explain state.checkpoints.dir
      penstock config explain PENSTOCK_CONF_FILE
    """
    variable = next((variable for variable in ALL_VARIABLES if variable.name == key), None)
    option = find_option(key)
    if variable is not None:
        _show(variable.name, variable.description, _about_variable(variable))
    elif option is not None:
        _show(newest_name(key), option.description, _about(option, newest_name(key)))
    elif newest_name(key) in flink_settings():
        _show(newest_name(key), f"A setting of Flink. It has no effect: {why_without_effect(newest_name(key))}.", ())
    else:
        _refuse(key)


def _listed(everything: bool) -> dict[str, ConfigOption[Any]]:
    """The settings for people: Penstock's own, or all that do something."""
    known = ALL_OPTIONS if everything else OWN_OPTIONS
    return {key: option for key, option in sorted(known.items()) if not option.internal and not option.no_effect}


def _name(option: ConfigOption[Any]) -> str:
    return f"{option.key}[.<uid>]" if option.per_uid else option.key


def _has(text: str | None, *places: str) -> bool:
    return text is None or any(text.lower() in place.lower() for place in places)


def _show(name: str, description: str, lines: Any) -> None:
    click.echo(f"{click.style(name, bold=True)}\n  {description}")
    pairs = list(lines)
    width = max((len(label) for label, _ in pairs), default=0)
    if pairs:
        click.echo()
    for label, text in pairs:
        click.echo(f"  {label:<{width}}  {text}")


def _about(option: ConfigOption[Any], key: str) -> Iterator[tuple[str, str]]:
    """What is known of a setting, line by line; `key` may be its form for one source."""
    assert option.values is not None
    yield "takes", option.values.expected
    yield "default", _default(option) or "-"
    yield "hosts", ", ".join(option.hosts)
    if older := older_names(option):
        yield "older names", ", ".join(older)
    if option.per_uid:
        yield "one source", f"{option.key}.<uid> is for the source with this uid, and stronger"
    yield from _now(option, key)
    if not option.no_effect:
        yield "set it", "in the program, which is stronger than the others:"
        yield "", f'  Configuration().set_string("{key}", "…")'
        yield "", f"on the command line:  penstock run job.py --conf {key}=…"
        yield "", f"in the file that {CONF_FILE.name} names, the weakest:  {key}: …"


def _default(option: ConfigOption[Any]) -> str:
    """As it is written in a file, and as people read it where that is something else."""
    if option.default_text or option.default is None or option.values is None:
        return option.default_text
    plain = _value(option, option.default)
    return plain if option.batch_default is None else f"{plain}; in BATCH mode {_value(option, option.batch_default)}"


def _value(option: ConfigOption[Any], value: object) -> str:
    assert option.values is not None
    written, shown = option.values.written(value), option.values.show(value)
    return written if written == shown else f"{written} ({shown})"


def _now(option: ConfigOption[Any], key: str) -> Iterator[tuple[str, str]]:
    """The value that a program started here finds, and the place that it comes from."""
    names = (key, *older_names(option)) if not source_of(option, key) else (key, option.key)
    line, file = command_line_settings().to_dict(), file_settings().to_dict()
    for name in names:
        for given, place in ((line, f"the command line ({CONF.name})"), (file, f"the file {CONF_FILE.get()}")):
            if name in given:
                under = "" if name == key else f", as {name}"
                yield "now", f"{given[name]}, from {place}{under}{_refusal(option, given[name])}"
                return
    yield "now", "the default"


def _refusal(option: ConfigOption[Any], text: str) -> str:
    """Said of a value that the setting does not take; a job would be refused for it."""
    try:
        option.read(text)
    except PenstockError:
        return ": jobs are refused, it is not a value that the setting takes"
    return ""


def _about_variable(variable: Variable) -> Iterator[tuple[str, str]]:
    yield "now", variable.get() or "not set"


def _refuse(key: str) -> NoReturn:
    """End with the nearest names; the exit code says that the command was wrong."""
    near = nearest_names(key)
    named = f": did you mean {' or '.join(repr(name) for name in near)}?" if near else ""
    fail(f"There is no setting {key!r}{named or '; `penstock config --all` lists them'}", WRONG_USE)
