"""Looking for damage while Spark clears up behind itself."""

import json
import zlib
from typing import Any

import pytest

from penstock.core.errors import DamagedCheckpointError
from penstock.spark.checkpoint.integrity import check_state

COMMIT = "v2\n" + json.dumps({"stateUniqueIds": {"0": [["abc"]]}})


class Folder:
    """Stands for a checkpoint: one stage and partition with two versions; `gone` are removed once they are listed."""

    location = "file:/checkpoint"

    def __init__(self, gone: set[str]) -> None:
        self.gone = gone
        self.files = {"commits/1": COMMIT.encode()}
        for version in ("1_xyz", "2_abc"):
            content = version.encode()
            self.files[f"state/0/0/{version}.changelog"] = content
            sums = {"algorithm": "CRC32C", "value": self.crc32c(content), "mainFileSize": len(content)}
            sums |= {"timestampMs": 0, "creator": {}}
            self.files[f"state/0/0/{version}.changelog.crc"] = json.dumps(sums).encode()

    def names(self, folder: str) -> list[str]:
        return sorted({n.removeprefix(folder + "/").split("/")[0] for n in self.files if n.startswith(folder + "/")})

    def batches(self, log: str) -> list[int]:
        return [1]

    def read_bytes(self, name: str) -> bytes:
        if name in self.gone:
            raise FileNotFoundError(name)
        return self.files[name]

    def read(self, name: str) -> str:
        return self.read_bytes(name).decode()

    def crc32c(self, data: bytes) -> int:
        return zlib.crc32(data)


@pytest.mark.parametrize("suffix", ["", ".crc"])
def test_an_old_version_that_goes_meanwhile_is_no_damage(suffix: str) -> None:
    """F8: the job restarts; it would else end for good over a file that nobody needs."""
    checkpoint: Any = Folder({f"state/0/0/1_xyz.changelog{suffix}"})
    check_state(checkpoint)


def test_an_altered_file_is_found_all_the_same() -> None:
    """F8"""
    checkpoint: Any = Folder(set())
    checkpoint.files["state/0/0/2_abc.changelog"] = b"2_abd"
    with pytest.raises(DamagedCheckpointError, match=r"2_abc\.changelog: its checksum does not match"):
        check_state(checkpoint)


@pytest.mark.parametrize("bit", range(0, 8 * 40, 3))
def test_an_altered_sum_is_found(bit: int) -> None:
    """F8: Spark fails on it without the name of a file."""
    checkpoint: Any = Folder(set())
    name = "state/0/0/2_abc.changelog.crc"
    changed = bytearray(checkpoint.files[name])
    changed[bit // 8] ^= 1 << (bit % 8)
    checkpoint.files[name] = bytes(changed)
    with pytest.raises(DamagedCheckpointError, match=r"2_abc\.changelog"):
        check_state(checkpoint)


def test_a_version_that_was_committed_must_be_there() -> None:
    """F8"""
    checkpoint: Any = Folder(set())
    del checkpoint.files["state/0/0/2_abc.changelog"]
    with pytest.raises(DamagedCheckpointError, match="is missing although it was committed"):
        check_state(checkpoint)
