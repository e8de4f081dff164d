"""Python files, packages and archives that functions need, in the local host."""

import io
import os
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from penstock.common import Configuration
from penstock.core.errors import ConfigurationError
from penstock.core.program.dependencies import Archive, PythonDependencies
from penstock.datastream import StreamExecutionEnvironment


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    path, modules, folder = list(sys.path), set(sys.modules), os.getcwd()
    yield
    assert (sys.path, os.getcwd()) == (path, folder)
    for name in set(sys.modules) - modules:
        if name.startswith("penstock_dep_"):
            del sys.modules[name]


def environment() -> StreamExecutionEnvironment:
    return StreamExecutionEnvironment(Configuration({"penstock.host": "local"}))


def results(env: StreamExecutionEnvironment, function: Any) -> list[Any]:
    return list(env.from_collection([1, 2]).map(function).execute_and_collect())


def make_wheel(folder: Path, name: str, body: str) -> None:
    """The smallest thing pip installs."""
    folder.mkdir(exist_ok=True)
    info = f"{name}-1.0.dist-info"
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{name}.py", body)
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        wheel.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{info}/RECORD", "")


def make_source_package(folder: Path, name: str, body: str) -> None:
    """A package that pip has to build."""
    folder.mkdir(exist_ok=True)
    files = {"setup.py": f"import setuptools\nsetuptools.setup(name='{name}', version='1.0', py_modules=['{name}'])"}
    files |= {f"{name}.py": body, "PKG-INFO": f"Metadata-Version: 1.0\nName: {name}\nVersion: 1.0\n"}
    with tarfile.open(folder / f"{name}-1.0.tar.gz", "w:gz") as package:
        for path, text in files.items():
            entry = tarfile.TarInfo(f"{name}-1.0/{path}")
            entry.size = len(text)
            package.addfile(entry, io.BytesIO(text.encode()))


def make_zip(path: Path, files: dict[str, str]) -> str:
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return str(path)


def test_a_python_file_is_importable_where_functions_run(tmp_path: Path) -> None:
    """P7: a module, a folder and a zip of modules."""
    (tmp_path / "penstock_dep_file.py").write_text("def f(x): return x + 1")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "penstock_dep_folder.py").write_text("def g(x): return x * 10")

    def call(value: int) -> int:
        import penstock_dep_file
        import penstock_dep_folder
        import penstock_dep_zip

        return int(penstock_dep_zip.h(penstock_dep_folder.g(penstock_dep_file.f(value))))

    env = environment()
    env.add_python_file(str(tmp_path / "penstock_dep_file.py"))
    env.add_python_file(f"file://{tmp_path}/folder")
    env.add_python_file(make_zip(tmp_path / "m.zip", {"penstock_dep_zip.py": "def h(x): return -x"}))
    assert results(env, call) == [-20, -30]


@pytest.mark.process
def test_requirements_are_installed(tmp_path: Path) -> None:
    """P7: from a folder of packages, without a network."""
    make_wheel(tmp_path / "cache", "penstock_dep_package", "NAME = 'installed'")
    (tmp_path / "requirements.txt").write_text("penstock_dep_package==1.0\n")

    def call(value: int) -> str:
        import penstock_dep_package

        return f"{penstock_dep_package.NAME} {value}"

    env = environment()
    env.set_python_requirements(str(tmp_path / "requirements.txt"), str(tmp_path / "cache"))
    assert results(env, call) == ["installed 1", "installed 2"]


@pytest.mark.process
def test_a_source_package_is_built_without_a_network(tmp_path: Path) -> None:
    """P7: with the build tools at hand, as the folder of packages has none."""
    make_source_package(tmp_path / "cache", "penstock_dep_source", "NAME = 'built'")
    (tmp_path / "requirements.txt").write_text("penstock_dep_source==1.0\n")

    def call(value: int) -> str:
        import penstock_dep_source

        return f"{penstock_dep_source.NAME} {value}"

    env = environment()
    env.set_python_requirements(str(tmp_path / "requirements.txt"), str(tmp_path / "cache"))
    assert results(env, call) == ["built 1", "built 2"]


def test_archives_are_unpacked_in_the_working_folder(tmp_path: Path) -> None:
    """P7: under the name given, else under their own."""
    named = make_zip(tmp_path / "named.zip", {"data/number.txt": "5"})
    plain = make_zip(tmp_path / "plain.zip", {"number.txt": "7"})

    def call(value: int) -> int:
        return value + int(Path("models/data/number.txt").read_text()) + int(Path("plain.zip/number.txt").read_text())

    env = environment()
    env.add_python_archive(named, "models")
    env.add_python_archive(plain)
    assert results(env, call) == [13, 14]


def test_settings_may_say_the_same(tmp_path: Path) -> None:
    """P3"""
    archive = make_zip(tmp_path / "a.zip", {"x": ""})
    conf = Configuration(
        {
            "python.files": f"{tmp_path}, {archive}",
            "python.archives": f"{archive}#t",
            "python.requirements": f"{archive}#{tmp_path}",
            "python.executable": "/usr/bin/python3",
        }
    )
    found = PythonDependencies.of(conf)
    assert found == PythonDependencies(
        (str(tmp_path), archive), (Archive(archive, "t"),), archive, str(tmp_path), "/usr/bin/python3"
    )
    assert found.folders == (str(tmp_path),)
    assert found.shipped_paths[2:] == ("a.zip",)
    assert len(set(found.shipped_paths)) == 3


@pytest.mark.process
def test_what_cannot_be_found_or_installed_is_refused(tmp_path: Path) -> None:
    """P9"""
    env = environment()
    env.add_python_file("/no/such/file.py")
    with pytest.raises(ConfigurationError, match=r"python\.files: there is no file /no/such/file\.py"):
        results(env, str)
    env = environment()
    (tmp_path / "notes.txt").write_text("")
    env.add_python_archive(str(tmp_path / "notes.txt"))
    with pytest.raises(ConfigurationError, match=r"python\.archives: .*notes\.txt is none of \.zip, \.tar"):
        results(env, str)
    env = environment()
    archive = make_zip(tmp_path / "a.zip", {"x": ""})
    env.add_python_archive(archive, "same")
    env.add_python_archive(archive, "same")
    with pytest.raises(ConfigurationError, match="several archives would be unpacked in 'same': name target_dir"):
        results(env, str)
    env = environment()
    (tmp_path / "requirements.txt").write_text("penstock_dep_nowhere==1.0\n")
    (tmp_path / "empty").mkdir()
    env.set_python_requirements(str(tmp_path / "requirements.txt"), str(tmp_path / "empty"))
    with pytest.raises(ConfigurationError, match=r"(?s)requirements\.txt cannot be installed:.*penstock_dep_nowhere"):
        results(env, str)
