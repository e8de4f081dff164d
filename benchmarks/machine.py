"""Where and with what it was measured. No names and no paths of the machine."""

from __future__ import annotations

import os
import platform
import re
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any


def describe() -> dict[str, Any]:
    """Goes into every record."""
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "cores": cores(),
        "memory_gb": _memory_gb(),
        "processor": _processor(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "load_before": round(os.getloadavg()[0], 2),
    }


def cores() -> int:
    """How many the harness, and so each peer, may use."""
    return len(os.sched_getaffinity(0))


def session_mb(session: int) -> float:
    """Memory of all processes of a session, in MB; what they share is counted once (Pss)."""
    found = 0
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with suppress(OSError, ValueError, IndexError):
                if int((folder / "stat").read_text().rpartition(")")[2].split()[3]) == session:
                    rollup = (folder / "smaps_rollup").read_text()
                    found += int(re.search(r"^Pss:\s+(\d+)", rollup, re.MULTILINE)[1])  # type: ignore[index]
    return found / 1024


def _memory_gb() -> int:
    return round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 1e9)


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    found = re.search(r"model name\s*:\s*(.+)", info.read_text()) if info.exists() else None
    return found[1] if found else platform.processor()
