"""Pytest's side of the run: notes how each case ended."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from typing import Any

import pytest

from scripts.parity import load_gaps
from tests.parity.pyflink_suite.stand_in.bridge import Missing, OutOfReach
from tests.parity.pyflink_suite.stand_in.java import give_java_objects

OUTCOMES = "PYFLINK_SUITE_OUTCOMES"
_BRIDGE = re.compile(
    r"has no attribute '(_j_\w+|get_java_\w+|_from_j\w*)'"
    r"|unexpected keyword argument '(j_\w+)'"
    r"|((?:Source|Sink)Function\(\)) takes no arguments"  # the name of a Java class is given
)


def pytest_configure() -> None:
    """Classes are changed in the process of the suite alone: other tests look at them too."""
    give_java_objects()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[Any]:
    Missing.collecting = True
    try:
        return (yield)
    finally:
        Missing.collecting = False


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[Any]:
    report = yield
    outcome = _outcome(call, report)
    if outcome is not None:
        with open(os.environ[OUTCOMES], "a", encoding="utf-8") as file:
            print(json.dumps([_case(item), *outcome]), file=file)
    return report


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """A module that cannot be imported is one case that failed."""
    if report.failed:
        case = os.path.basename(report.nodeid).removesuffix(".py").replace("__", ".")
        with open(os.environ[OUTCOMES], "a", encoding="utf-8") as file:
            print(json.dumps([case, "failed", str(report.longrepr).splitlines()[-1]]), file=file)


def _case(item: pytest.Item) -> str:
    module, *rest = item.nodeid.split("::")
    return ".".join([os.path.basename(module).removesuffix(".py").replace("__", "."), *rest])


def _outcome(call: pytest.CallInfo[None], report: pytest.TestReport) -> tuple[str, str] | None:
    if report.skipped:
        return "skipped", "PyFlink skips it"
    if call.excinfo is None:
        return ("passed", "") if call.when == "call" else None
    crossed = _crossed(call.excinfo.value)
    if crossed is not None:
        return "out of reach", crossed
    return "failed", f"{call.excinfo.typename}: {str(call.excinfo.value).strip().splitlines()[0:1]}"


def _crossed(error: BaseException | None) -> str | None:
    """Why a case is out of reach, if it is: the error or one that led to it is of the bridge to Java."""
    while error is not None:
        if isinstance(error, OutOfReach):
            return str(error)
        found = _BRIDGE.search(str(error))
        if isinstance(error, (AttributeError, TypeError)) and found:
            return f"uses {found[1] or found[2] or found[3]}, a Java object"
        if isinstance(error, AttributeError) and (gap := _gap(error)):
            return f"uses {gap}"
        error = error.__cause__ or error.__context__
    return None


def _gap(error: AttributeError) -> str | None:
    """The method of PyFlink that was looked for, if Penstock says that it has it not; of tables it has SQL alone."""
    listed = [name for gap in load_gaps() for name in gap.patterns]
    for cls in type(error.obj).__mro__:
        path = f"{cls.__name__}.{error.name}"
        if cls.__module__ == "penstock.api.table" or any(name.endswith(f".{path}") for name in listed):
            return path
    return None
