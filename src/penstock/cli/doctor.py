"""`penstock doctor`: whether this machine can run jobs, and what to do if not."""

from __future__ import annotations

import os
import shutil
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import click

from penstock._version import __version__
from penstock.core.config.variables import JVM_TRACE, STATE_DIR
from penstock.core.errors import PenstockError
from penstock.jobs.listing import jobs_folder

__all__ = ["doctor"]

GIB = 1 << 30
_MARKS = {"ok": ("✓", "green"), "warning": ("!", "yellow"), "problem": ("✗", "red")}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at. `level`: ok, warning or problem; `cure`: what to do."""

    what: str
    level: str
    found: str
    cure: str = ""


@click.command()
@click.option("--start-spark", is_flag=True, help="Also start an embedded Spark and run a small job on it.")
def doctor(start_spark: bool) -> None:
    """Check that this machine can run jobs.

    Looks at Python, the packages, Java, memory, disk and ports, and says what to do about what it
    finds. Exits with 1 if a job could not run.

    \b
    Examples:
      penstock doctor
      penstock doctor --start-spark
    """
    checks = [*CHECKS, *([small_job] if start_spark else [])]
    findings = [finding for check in checks for finding in check()]
    for finding in findings:
        _show(finding)
    problems = sum(finding.level == "problem" for finding in findings)
    click.echo(f"\n{problems} problem(s): jobs cannot run here yet." if problems else "\nJobs can run here.")
    sys.exit(1 if problems else 0)


def _show(finding: Finding) -> None:
    mark, colour = _MARKS[finding.level]
    if not (sys.stdout.encoding or "").lower().startswith("utf"):
        mark = finding.level
    click.echo(f"{click.style(mark, fg=colour)} {finding.what:<11} {finding.found}")
    if finding.cure:
        click.echo(f"  {'':<11} {click.style('→', fg=colour)} {finding.cure}")


# -- what is looked at ---------------------------------------------------------------------------------------


def python() -> Iterator[Finding]:
    found = f"{sys.version.split()[0]} at {sys.executable}"
    fine = sys.version_info >= (3, 11)
    yield Finding("Python", "ok" if fine else "problem", found, "" if fine else "Penstock needs Python 3.11 or newer")


def packages() -> Iterator[Finding]:
    yield Finding("Penstock", "ok", __version__)
    for wanted in _requirements():
        yield _package(wanted)


def _requirements() -> list[str]:
    """The packages that the installed metadata of Penstock requires."""
    try:
        wanted = metadata.requires("penstock") or []
    except metadata.PackageNotFoundError:
        return []
    return [text for text in wanted if "extra ==" not in text]


def _package(spec: str) -> Finding:
    name = _name(spec)
    cure = f"{sys.executable} -m pip install '{spec}'"
    try:
        found = metadata.version(name)
    except metadata.PackageNotFoundError:
        return Finding(name, "problem", "not installed", cure)
    return (
        Finding(name, "ok", found) if _fits(found, spec) else Finding(name, "problem", f"{found}, needs {spec}", cure)
    )


def _name(requirement: str) -> str:
    return requirement.partition(";")[0].rstrip("0123456789.*<>=!~, ").strip()


def _fits(version: str, spec: str) -> bool:
    """Whether a version is within `name>=a,<b` or `name==a.*`, compared number by number."""
    bounds = spec.removeprefix(_name(spec)).replace(" ", "")
    return all(_within(version, bound) for bound in bounds.split(",") if bound)


def _within(version: str, bound: str) -> bool:
    if bound.startswith("=="):
        return f"{version}.".startswith(bound[2:].removesuffix("*").rstrip(".") + ".")
    number = _numbers(bound.lstrip("<>="))
    return _numbers(version) >= number if bound.startswith(">=") else _numbers(version) < number


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())


def java() -> Iterator[Finding]:
    from penstock.launch import java_version

    try:
        home, version = java_version()
    except PenstockError as error:
        found, _, cure = str(error).rpartition(". ")
        yield Finding("Java", "problem", found, cure)
        return
    level = "ok" if int(version.partition(".")[0]) in (17, 21) else "warning"
    yield Finding("Java", level, f"{version} at {home}", "" if level == "ok" else "Spark is tested with Java 17 and 21")


def memory() -> Iterator[Finding]:
    free = _free_memory()
    if free is None:
        return
    level = "ok" if free >= 2 * GIB else "warning" if free >= GIB else "problem"
    cure = "" if level == "ok" else "an embedded Spark takes 1 to 2 GiB: end other programs, or take a larger machine"
    yield Finding("Memory", level, f"{free / GIB:.1f} GiB free, {len(os.sched_getaffinity(0))} core(s)", cure)


def _free_memory(meminfo: Path = Path("/proc/meminfo")) -> int | None:
    """Bytes that programs can still have; None where the system does not say."""
    try:
        lines = meminfo.read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:")), None)


def disk() -> Iterator[Finding]:
    for what, folder in (("Scratch", Path(tempfile.gettempdir())), ("This folder", Path.cwd())):
        free = shutil.disk_usage(folder).free
        level = "ok" if free >= 2 * GIB else "warning" if free >= GIB // 4 else "problem"
        cure = "" if level == "ok" else "make room; TMPDIR names another place for scratch files"
        yield Finding(what, level, f"{free / GIB:.1f} GiB free in {folder}", cure)


def listing() -> Iterator[Finding]:
    folder = jobs_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        cure = f"{STATE_DIR.name} names another folder; without one jobs run, but `penstock list` cannot see them"
        yield Finding("Job list", "warning", f"{folder}: {error.strerror}", cure)
        return
    yield Finding("Job list", "ok", str(folder))


def ports() -> Iterator[Finding]:
    """Spark's driver, executors and Python workers speak over sockets of this machine."""
    try:
        with socket.socket() as server:
            server.bind(("127.0.0.1", 0))
            server.listen(1)
            with socket.create_connection(server.getsockname(), timeout=5):
                pass
    except OSError as error:
        cure = "Spark and its workers speak over 127.0.0.1: allow it in the firewall or sandbox"
        yield Finding("Loopback", "problem", f"cannot connect to myself: {error}", cure)
        return
    yield Finding("Loopback", "ok", "sockets on 127.0.0.1 work")
    yield _own_name()


def _own_name() -> Finding:
    name = socket.gethostname()
    try:
        return Finding("Host name", "ok", f"{name} is {socket.gethostbyname(name)}")
    except OSError:
        cure = f"Spark looks itself up: add '127.0.0.1 {name}' to /etc/hosts, or set SPARK_LOCAL_IP=127.0.0.1"
        return Finding("Host name", "warning", f"{name} cannot be resolved", cure)


def small_job() -> Iterator[Finding]:
    from penstock.launch import try_spark

    try:
        yield Finding("Spark", "ok", try_spark())
    except PenstockError as error:
        yield Finding("Spark", "problem", str(error), f"{JVM_TRACE.name}=1 shows what the JVM says")


CHECKS: tuple[Callable[[], Iterator[Finding]], ...] = (python, packages, java, memory, disk, listing, ports)
