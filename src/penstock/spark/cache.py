"""What is made once for a machine and used by every job after: where it is kept and how it is named."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

__all__ = ["cache_folder", "digest"]


def cache_folder() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "penstock"


def digest(*parts: str) -> str:
    """A short name for what something was made of."""
    return hashlib.blake2b("\n".join(parts).encode(), digest_size=8).hexdigest()
