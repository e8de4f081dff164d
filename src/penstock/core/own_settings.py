"""Penstock's own settings. A name that is none of them is refused: a slip of the pen would do nothing (P12)."""

from __future__ import annotations

from difflib import get_close_matches

from penstock.core.config import Configuration
from penstock.core.errors import ConfigurationError

__all__ = ["OWN_SETTINGS", "refuse_unknown"]

OWN_SETTINGS = {
    "penstock.batch.max-bytes": "how much a micro-batch may read",
    "penstock.batch.max-records": "how many records a micro-batch may read",
    "penstock.batch.target-ms": "how long a micro-batch should take",
    "penstock.cache.dir": "where cached streams are kept",
    "penstock.chunk.records": "records that travel together between stages",
    "penstock.host": "what runs the job: auto, local, bounded or streaming",
    "penstock.jvm.compiler": "how an embedded JVM compiles: quick, or full for jobs that let Spark's SQL do much",
    "penstock.metrics.heavy-keys": "how many of the heaviest keys are shown; 0: none are looked for",
    "penstock.metrics.late-records": "whether late records are counted",
    "penstock.plan-only": "the program is left at its first execute()",
    "penstock.poison": "what happens to a record on which a function raises: fail, skip or side-output",
    "penstock.sort.budget-bytes": "memory for sorting what a stage is sent",
    "penstock.source.buffer-records": "records that a source without offsets may be ahead",
    "penstock.source.cancel-timeout-ms": "how long a source function may take to end",
    "penstock.state.budget-bytes": "memory for state that is in use",
    "penstock.state.page-bytes": "how large a page of state becomes before it is split",
    "penstock.tmp-dir": "where stages put what does not fit into memory",
    "penstock.watermark.per-record": "a watermark after every record",
    "penstock.watermark.records": "records between two watermarks",
}


def refuse_unknown(conf: Configuration) -> None:
    """Refuse a setting that begins with `penstock.` and is none.

    >>> refuse_unknown(Configuration({"penstock.hots": "local"}))
    Traceback (most recent call last):
    penstock.core.errors.ConfigurationError: There is no setting 'penstock.hots': did you mean 'penstock.host'?
    """
    for key in sorted(conf.to_dict()):
        if key.startswith("penstock.") and key not in OWN_SETTINGS:
            near = get_close_matches(key, OWN_SETTINGS, 1, 0.8)
            hint = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(OWN_SETTINGS)}"
            raise ConfigurationError(f"There is no setting {key!r}: {hint}")
