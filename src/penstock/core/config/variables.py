"""Environment variables that Penstock reads, beside those of Python, Java and Spark."""

from __future__ import annotations

import os
from dataclasses import dataclass

__all__ = ["ALL_VARIABLES", "CONF", "CONF_FILE", "JVM_TRACE", "NO_ARCHIVE", "STATE_DIR", "Variable"]


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of the environment: its name, and what it decides."""

    name: str
    description: str

    @property
    def summary(self) -> str:
        """The first sentence of the description."""
        return self.description.partition(". ")[0].removesuffix(".")

    def get(self) -> str:
        """Its value now; empty if it is not set."""
        return os.environ.get(self.name, "")


CONF_FILE = Variable(
    "PENSTOCK_CONF_FILE", "The configuration file: `key: value` lines or a flat JSON object. The weakest settings."
)
CONF = Variable(
    "PENSTOCK_CONF",
    "Settings as a JSON object; `penstock run` hands those of the command line to the program so. "
    "Stronger than the file, weaker than the program.",
)
JVM_TRACE = Variable("PENSTOCK_JVM_TRACE", "If not empty, errors show the JVM's own trace, too.")
NO_ARCHIVE = Variable(
    "PENSTOCK_NO_ARCHIVE", "If not empty, no archive of classes is made that halves the start of an embedded JVM."
)
STATE_DIR = Variable(
    "PENSTOCK_STATE_DIR", "Where running jobs are listed; otherwise `penstock` below the user's state folder."
)

ALL_VARIABLES = (CONF_FILE, CONF, JVM_TRACE, NO_ARCHIVE, STATE_DIR)
