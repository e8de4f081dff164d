"""Python files, packages and archives reach Spark's workers."""

from pathlib import Path

import pytest

from penstock.common import Configuration
from penstock.datastream import StreamExecutionEnvironment
from tests.api.test_dependencies import make_wheel, make_zip


@pytest.mark.spark
@pytest.mark.parametrize("host", ["bounded", "streaming"])
def test_what_functions_need_is_shipped_to_workers(host: str, tmp_path: Path) -> None:
    """P7: beside the source and in a stage; nothing of it is on the driver's own module search path."""
    name = f"penstock_dep_{host}"
    (tmp_path / f"{name}_file.py").write_text("ONE = 1")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / f"{name}_folder.py").write_text("TWO = 2")
    make_wheel(tmp_path / "cache", f"{name}_package", "THREE = 3")
    (tmp_path / "requirements.txt").write_text(f"{name}_package==1.0\n")
    archive = make_zip(tmp_path / f"{host}.zip", {"four.txt": "4"})

    def call(value: int) -> list[int]:
        from importlib import import_module

        one = import_module(f"{name}_file").ONE
        two, three = import_module(f"{name}_folder").TWO, import_module(f"{name}_package").THREE
        return [value, one, two, three, int(Path(f"data-{host}/four.txt").read_text())]

    env = StreamExecutionEnvironment(Configuration({"penstock.host": host, "restart-strategy.type": "none"}))
    env.add_python_file(str(tmp_path / f"{name}_file.py"))
    env.add_python_file(str(tmp_path / "folder"))
    env.set_python_requirements(str(tmp_path / "requirements.txt"), str(tmp_path / "cache"))
    env.add_python_archive(archive, f"data-{host}")
    stream = env.set_parallelism(2).from_collection([0]).map(call).rebalance().map(lambda found: [call(0), found])
    assert list(stream.execute_and_collect()) == [[[0, 1, 2, 3, 4]] * 2]


@pytest.mark.spark
def test_a_job_without_archives_runs_where_the_program_was_started() -> None:
    """P7: workers serve one job after the other."""
    env = StreamExecutionEnvironment(Configuration({"penstock.host": "bounded"}))
    stream = env.from_collection([0]).map(lambda _: str(Path.cwd()))
    assert list(stream.execute_and_collect()) == [str(Path.cwd())]
