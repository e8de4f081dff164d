"""PyFlink's test sink: gathers what reaches it, from every subtask, through files."""

from __future__ import annotations

import os
import pickle
import tempfile
import uuid
from pathlib import Path
from typing import Any

from penstock.common.watermark_strategy import TimestampAssigner
from penstock.datastream.functions import SinkFunction
from tests.parity.pyflink_suite.stand_in.java_text import java_text


class DataStreamTestSinkFunction(SinkFunction):
    """Its results are in a folder, so that it gathers from other processes too."""

    def __init__(self) -> None:
        self._folder = tempfile.mkdtemp(prefix="pyflink-suite-sink-")
        self._file: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return {"_folder": self._folder, "_file": None}

    def invoke(self, value: Any, context: Any) -> None:
        if self._file is None:
            self._file = open(os.path.join(self._folder, uuid.uuid4().hex), "ab")  # noqa: SIM115 (as long as the sink)
        pickle.dump(value, self._file)
        self._file.flush()

    def get_results(self, is_python_object: bool = False, stringify: bool = True) -> list[Any]:
        """What came, which is then forgotten: Python objects, or their texts, or the texts that Java has for them."""
        values = list(self._read())
        self.clear()
        if not is_python_object:
            return list(map(java_text, values))
        return list(map(str, values)) if stringify else values

    def _read(self) -> Any:
        for path in sorted(Path(self._folder).iterdir(), key=lambda p: p.stat().st_ctime_ns):
            with path.open("rb") as file:
                while file.peek(1):
                    yield pickle.load(file)

    def clear(self) -> None:
        for path in Path(self._folder).iterdir():
            path.unlink()


class SecondColumnTimestampAssigner(TimestampAssigner):
    """Event time from the second field."""

    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return int(value[1])
