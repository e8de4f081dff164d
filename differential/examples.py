"""PyFlink's own examples, read from the installed package, run with nothing but the import changed.

What they print is compared as a multiset of lines. Which subtask printed a line (``2> …``) depends on the hash of keys,
which differs, and how a tuple is written (``(a,1)`` or ``('a', 1)``) on whether PyFlink's JVM or Python wrote it.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from differential.compare import Outcome, Outcomes
from differential.sides import Side

TIMEOUT_S = 300
SERVICE, ENDLESS = "needs an external service", "random rows of a table without end"

LEFT_OUT = {
    "asyncio/remote_model_inference.py": ENDLESS,
    "streaming_word_count.py": ENDLESS,
    "connectors/elasticsearch.py": SERVICE,
    "connectors/kafka_avro_format.py": SERVICE,
    "connectors/kafka_bytearray_format.py": SERVICE,
    "connectors/kafka_csv_format.py": SERVICE,
    "connectors/kafka_json_format.py": SERVICE,
    "connectors/kafka_row_field_extractor_example.py": SERVICE,
    "connectors/pulsar.py": SERVICE,
}
"""Every other file under ``pyflink/examples/datastream`` is run."""

_LOGGED = re.compile(
    r"Using Any for unsupported type|No module named google|PYFLINK_CYTHON|Closing down clientserver"
    r"|== Guarantees: |.+ -> .+: (exactly|at-least|at-most)-once \("
)
"""What libraries log, PyFlink and Penstock too; some examples send the log to standard output."""

_SUBTASK, _WRITTEN = re.compile(r"^\d+> "), re.compile(r"""['"\s]""")


def found(python: str) -> dict[str, str]:
    """Name and text of every example that is run."""
    folder = _package(python) / "examples" / "datastream"
    names = {str(path.relative_to(folder)): path for path in sorted(folder.rglob("*.py"))}
    missing = sorted(set(LEFT_OUT) - set(names))
    if missing:
        raise SystemExit(f"differential: PyFlink no longer ships {', '.join(missing)}: take them off LEFT_OUT")
    return {name: path.read_text(encoding="utf-8") for name, path in names.items() if name not in LEFT_OUT}


def _package(python: str) -> Path:
    command = [python, "-c", "import pyflink; print(pyflink.__path__[0])"]
    return Path(subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip())


def run(side: Side, examples: dict[str, str]) -> Outcomes:
    """Each in a process of its own, as a user would start it."""
    return {(case_name(name), 0): _run(side, name, text) for name, text in examples.items()}


def case_name(example: str) -> str:
    return f"examples/{example}"


def _run(side: Side, name: str, text: str) -> Outcome:
    script = side.folder / "examples" / name
    script.parent.mkdir(parents=True, exist_ok=True)
    script.write_text(side.text(text), encoding="utf-8")
    try:
        ended = side.run([str(script)], TIMEOUT_S)
    except subprocess.TimeoutExpired:
        return Outcome((), "multiset", f"did not end within {TIMEOUT_S} s")
    error = ended.stderr if ended.returncode else None
    return Outcome(tuple(("", line) for line in printed(ended.stdout)), "multiset", error)


def printed(output: str) -> tuple[str, ...]:
    """The lines, without what is not compared.

    >>> printed("2> ('a', 1)\\n(b,2)\\n")
    ('(a,1)', '(b,2)')
    """
    lines = [line for line in output.splitlines() if line.strip() and not _LOGGED.match(line)]
    return tuple(_WRITTEN.sub("", _SUBTASK.sub("", line)) for line in lines)
