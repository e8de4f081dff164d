"""Where start-up finds PySpark, and where it caches what is made once for a machine and used by every job after."""

from __future__ import annotations

import hashlib
import os
from importlib.util import find_spec
from pathlib import Path

__all__ = ["cache_folder", "digest", "pyspark_folder"]


def pyspark_folder() -> str:
    """The folder in which PySpark is installed; PySpark itself is not imported, which would take half a second."""
    found = find_spec("pyspark")
    assert found is not None, "PySpark is a dependency"
    assert found.origin is not None
    return os.path.dirname(found.origin)


def cache_folder() -> Path:
    """The user's folder for the JVM's class-data archives and the workers' start script; it may not exist yet."""
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "penstock"


def digest(*parts: str) -> str:
    """A short name for a cached file, which changes when anything that the file was made of changes."""
    return hashlib.blake2b("\n".join(parts).encode(), digest_size=8).hexdigest()
