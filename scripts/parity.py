"""Compare Penstock's public names with PyFlink's, and write docs/parity.md.

`tests/parity/pyflink-2.3.json` holds PyFlink's (see pyflink_signatures.py), `tests/parity/gaps.toml` what Penstock
lacks on purpose, `tests/parity/differences.toml` what was found by running the same programs under both.
A name is written as its path below `pyflink`: `common.time.Duration.of_days`; `()` after it means its signature.
"""

from __future__ import annotations

import importlib
import inspect
import json
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from fnmatch import fnmatchcase
from pathlib import Path
from types import ModuleType
from typing import Any

from scripts.pyflink_signatures import is_public, parameters

ROOT = Path(__file__).resolve().parents[1]
MISSING = object()
STATUSES = ("not yet", "never")


@dataclass(frozen=True, slots=True)
class Gap:
    """Names that are missing on purpose; `why` is a capability to come or a reason for good."""

    patterns: tuple[str, ...]
    status: str
    why: str

    def covers(self, name: str) -> bool:
        return any(fnmatchcase(name, pattern) for pattern in self.patterns)


@dataclass(frozen=True, slots=True)
class Item:
    """One public name of PyFlink; `problem` says what is wrong with ours, None if nothing is."""

    name: str
    module: str
    problem: str | None

    @property
    def missing(self) -> bool:
        return self.problem == "missing"


def load_reference(root: Path = ROOT) -> dict[str, Any]:
    reference: dict[str, Any] = json.loads((root / "tests/parity/pyflink-2.3.json").read_text(encoding="utf-8"))
    return reference


def load_gaps(root: Path = ROOT) -> list[Gap]:
    tables = tomllib.loads((root / "tests/parity/gaps.toml").read_text(encoding="utf-8"))
    return [Gap(tuple(t["names"]), t["status"], t["why"]) for t in tables["gap"]]


# -- comparing ---------------------------------------------------------------------------------------


def compare(reference: Mapping[str, Any], package: str = "penstock") -> list[Item]:
    """Every public name of PyFlink, with what is wrong with ours."""
    return [item for module in reference for item in _compare_module(module, reference[module], package)]


def _compare_module(module: str, names: Mapping[str, Any], package: str) -> Iterator[Item]:
    ours = _import(f"{package}.{module}")
    for name, theirs in names.items():
        value = getattr(ours, name, MISSING)
        path = f"{module}.{name}"
        if isinstance(theirs, list) and theirs[0] == "export":
            yield Item(path, module, _export_problem(value, f"{package}.{theirs[1]}", name))
        else:
            yield from _compare_value(path, module, theirs, value, package)


def _import(name: str) -> ModuleType | None:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        return None


def _export_problem(value: Any, owner: str, name: str) -> str | None:
    if value is MISSING:
        return "missing"
    defined = getattr(_import(owner), name, MISSING)
    return None if defined is MISSING or defined is value else f"is not the {name} of {owner}"


def _compare_value(path: str, module: str, theirs: Any, value: Any, package: str) -> Iterator[Item]:
    if not isinstance(theirs, dict):
        yield Item(path, module, "missing" if value is MISSING else None)
        if value is not MISSING and (problem := _problem(theirs, value)):
            yield Item(f"{path}()", module, problem)
        return
    yield Item(path, module, "missing" if value is MISSING else _class_problem(theirs, value, package))
    for name, member in theirs["members"].items():
        found = MISSING if value is MISSING else _member(value, name)
        yield from _compare_value(f"{path}.{name}", module, member, found, package)


def _class_problem(theirs: Mapping[str, Any], value: Any, package: str) -> str | None:
    if not inspect.isclass(value):
        return "is not a class"
    if theirs["enum"] and not issubclass(value, Enum):
        return "is not an Enum"
    foreign = [b for b in theirs["bases"] if not _derives(value, _resolve(f"{package}.{b}"))]
    return f"is not derived from {foreign[0]}" if foreign else None


def _derives(value: type, base: Any) -> bool:
    """What Penstock has not cannot be a base."""
    return not inspect.isclass(base) or issubclass(value, base)


def _resolve(path: str) -> Any:
    """The object at a dotted path, of a module or of a class in one."""
    module = _import(path)
    owner, _, name = path.rpartition(".")
    return module if module is not None or not owner else getattr(_resolve(owner), name, None)


def _member(cls: type, name: str) -> Any:
    """As it stands in the class that defines it, so that static methods and properties can be told."""
    if name == "__init__":
        return cls
    return next((vars(c)[name] for c in cls.__mro__ if name in vars(c)), MISSING)


def _problem(theirs: list[str], value: Any) -> str | None:
    kind, *expected = theirs
    if kind in ("value", "member"):
        found = value.value if isinstance(value, Enum) else value
        return None if repr(found) == expected[0] else f"is {found!r}, not {expected[0]}"
    ours = kind_of(value)
    if _normal(kind) != _normal(ours):
        return f"is a {ours}, not a {kind}"
    return None if kind == "property" else _signature_problem(expected, _parameters(value, ours))


def kind_of(value: Any) -> str:
    if inspect.isclass(value):
        return "method"
    if isinstance(value, (staticmethod, classmethod, property)):
        return type(value).__name__
    return "method" if callable(value) else "value"


def _normal(kind: str) -> str:
    """Static and class methods are called alike, and so are functions of a module."""
    return {"classmethod": "staticmethod", "function": "method"}.get(kind, kind)


def _parameters(value: Any, kind: str) -> list[str]:
    if inspect.isclass(value):
        return parameters(value)
    if kind in ("staticmethod", "classmethod"):
        return parameters(value.__func__, kind == "classmethod")
    return parameters(value, "." in value.__qualname__)


def _signature_problem(theirs: list[str], ours: list[str]) -> str | None:
    """Theirs must be the beginning of ours; what they require may be optional here, what ours has beyond must be."""
    shared, extra = ours[: len(theirs)], ours[len(theirs) :]
    same = len(shared) == len(theirs) and all(map(_same_parameter, theirs, shared))
    if same and all("=" in p or p.startswith("*") for p in extra):
        return None
    return f"takes ({', '.join(ours)}), not ({', '.join(theirs)})"


def _same_parameter(theirs: str, ours: str) -> bool:
    return ours == theirs or ("=" not in theirs and ours.partition("=")[0] == theirs)


# -- judging -----------------------------------------------------------------------------------------


def complaints(items: Iterable[Item], gaps: Iterable[Gap]) -> list[str]:
    """What the build fails for: gaps that nobody listed, listed ones that are closed."""
    items, gaps = list(items), list(gaps)
    return [*_unlisted(items, gaps), *_closed(items, gaps), *_malformed(gaps)]


def _unlisted(items: list[Item], gaps: list[Gap]) -> Iterator[str]:
    for item in topmost(items):
        if item.problem and not any(gap.covers(item.name) for gap in gaps):
            yield f"{item.name}: {item.problem}"


def _closed(items: list[Item], gaps: list[Gap]) -> Iterator[str]:
    for gap in gaps:
        for pattern in gap.patterns:
            matching = [i for i in items if fnmatchcase(i.name, pattern)]
            closed = [i.name for i in matching if not i.problem]
            if not matching:
                yield f"{pattern}: listed in gaps.toml, but PyFlink has no such name"
            elif closed:
                yield f"{pattern}: listed in gaps.toml, but there is no gap at {', '.join(closed[:3])}"


def _malformed(gaps: list[Gap]) -> Iterator[str]:
    for gap in gaps:
        if gap.status not in STATUSES or not gap.why:
            yield f"{gap.patterns}: a gap's status is one of {STATUSES}, and it says why"


def topmost(items: Iterable[Item]) -> list[Item]:
    """Without the members of classes that are missing themselves."""
    found: list[Item] = []
    missing: set[str] = set()
    for item in items:
        if item.name.rpartition(".")[0] in missing:
            missing.add(item.name)
            continue
        found.append(item)
        if item.missing:
            missing.add(item.name)
    return found


# -- the page ----------------------------------------------------------------------------------------

_HEAD = """# Parity with PyFlink 2.3

<!-- written by scripts/parity.py: `make parity` -->

A PyFlink DataStream program runs after `pyflink` is replaced by `penstock` in its imports, as far as this page says.
Of {total} public names in `pyflink.common`, `pyflink.datastream`, `pyflink.metrics` and `pyflink.util` (classes,
methods, functions, constants; without those that exist for the bridge to the JVM alone) {there} are there with the
same parameters, order and defaults, {not_yet} are not there yet, {never} never will be.
"""


def render(root: Path = ROOT) -> str:
    """The text docs/parity.md must have."""
    items, gaps = compare(load_reference(root)), load_gaps(root)
    counts = Counter(_status(item, gaps) for item in items if not item.name.endswith("()"))
    head = _HEAD.format(
        total=sum(counts.values()), there=counts["there"], not_yet=counts["not yet"], never=counts["never"]
    )
    sections = (
        _modules(items, gaps),
        _listed("Not yet", "not yet", "Comes with", items, gaps),
        _listed("Never", "never", "Why", items, gaps),
        _honoured(),
        _no_effect(),
        _differences(root),
        _beyond(load_reference(root)),
    )
    return "\n".join((head, *sections))


def _status(item: Item, gaps: list[Gap]) -> str:
    if not item.problem:
        return "there"
    return next((gap.status for gap in gaps if gap.covers(item.name)), "not yet")


def _modules(items: list[Item], gaps: list[Gap]) -> str:
    rows = []
    for module in dict.fromkeys(i.module for i in items):
        mine = [i for i in items if i.module == module and not i.name.endswith("()")]
        counts = Counter(_status(i, gaps) for i in mine)
        numbers = " | ".join(str(counts[s]) for s in ("there", *STATUSES))
        rows.append(f"| `pyflink.{module}` | {len(mine)} | {numbers} | {_names_there(mine, module)} |")
    head = "| Module | Names | There | Not yet | Never | What is there |\n|---|---|---|---|---|---|"
    return "\n".join(("## What is there", "", head, *rows, ""))


def _names_there(items: list[Item], module: str) -> str:
    """Classes and functions of a module; of a class that is there in part, how much of it."""
    total, there = Counter[str](), Counter[str]()
    for item in items:
        top = item.name.removeprefix(f"{module}.").partition(".")[0]
        total[top] += 1
        there[top] += not item.problem
    return ", ".join(
        f"`{n}`" if there[n] == total[n] else f"`{n}` ({there[n]} of {total[n]})" for n in total if there[n]
    )


def _listed(title: str, status: str, column: str, items: list[Item], gaps: list[Gap]) -> str:
    names: dict[str, list[str]] = defaultdict(list)
    for item in topmost(items):
        gap = next((g for g in gaps if g.covers(item.name)), None)
        if item.problem and gap is not None and gap.status == status:
            names[gap.why].append(item.name)
    rows = [f"| {why} | {', '.join(_grouped(found))} |" for why, found in names.items()]
    return "\n".join((f"## {title}", "", f"| {column} | Names |\n|---|---|", *rows, ""))


def _grouped(names: list[str]) -> Iterator[str]:
    """`module: a, b` for names of one module or class."""
    by_owner: dict[str, list[str]] = defaultdict(list)
    for name in names:
        owner, _, last = name.rpartition(".")
        by_owner[owner].append(last)
    for owner, found in by_owner.items():
        yield f"`{owner}`: {' '.join(found)}"


def _no_effect() -> str:
    from penstock.core.config.compat import NO_EFFECT

    rows = [f"| {_names_of(setting)} | {reason} |" for setting, reason in sorted(NO_EFFECT.items())]
    intro = "Accepted so that programs run unchanged; each warns once."
    return "\n".join(
        ("## Settings without effect", "", intro, "", "| Setting | Why it has none |\n|---|---|", *rows, "")
    )


def _names_of(setting: str) -> str:
    return f"`{setting}`"


def _honoured() -> str:
    """Flink's settings that mean here what they mean there, with the older names they are taken under."""
    from penstock.core.config.compat import HONOURED
    from penstock.core.config.known_settings import flink_settings

    rows = [f"| `{n}` | {', '.join(f'`{old}`' for old in flink_settings()[n])} |" for n in sorted(HONOURED)]
    intro = (
        "Where a setting is given under several names the newest wins, with a warning. Any other setting of Flink "
        "warns that it has no effect, and a name that neither Flink nor Spark knows warns with the nearest known one."
    )
    return "\n".join(("## Settings of Flink", "", intro, "", "| Setting | Older names |\n|---|---|", *rows, ""))


def _differences(root: Path) -> str:
    tables = tomllib.loads((root / "tests/parity/differences.toml").read_text(encoding="utf-8"))
    found = tables.get("difference", [])
    rows = [f"| {d['program']} | {d['pyflink']} | {d['penstock']} | {d['reason']} | {d['seen']} |" for d in found]
    head = "| Program | PyFlink | Penstock | Why ours is right | Seen by |\n|---|---|---|---|---|"
    body = (head, *rows) if rows else ("None is known.",)
    return "\n".join(("## Known differences", "", *body, ""))


def _beyond(reference: Mapping[str, Any]) -> str:
    rows = [f"| `penstock.{m}` | {names} |" for m in _our_modules() if (names := _extra(m, reference.get(m, {})))]
    intro = "Names that PyFlink has no Python word for: the Java API's in snake_case, older names, and Penstock's own."
    return "\n".join(("## Beyond PyFlink", "", intro, "", "| Module | Names |\n|---|---|", *rows, ""))


def _our_modules() -> list[str]:
    source = ROOT / "src" / "penstock"
    paths = [p for facade in ("common", "datastream", "metrics", "util") for p in (source / facade).rglob("*.py")]
    names = (".".join(p.relative_to(source).with_suffix("").parts) for p in paths)
    return sorted(name.removesuffix(".__init__") for name in names)


def _extra(module: str, theirs: Mapping[str, Any]) -> str:
    ours = importlib.import_module(f"penstock.{module}")
    return ", ".join(f"`{n}`" for n in sorted(ours.__all__) if is_public(n) and n not in theirs)


def main() -> None:
    (ROOT / "docs" / "parity.md").write_text(render(), encoding="utf-8")


if __name__ == "__main__":
    main()
