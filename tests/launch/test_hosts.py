"""The table of hosts: a host is one class and one line; what it says of itself decides what it is given to run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from penstock.cli.command import main
from penstock.common import Configuration, WatermarkStrategy
from penstock.common.errors import ConfigurationError
from penstock.core.program.job import JobPlan
from penstock.datastream import StreamExecutionEnvironment
from penstock.jobs.client import JobClient, JobExecutionResult, JobStatus
from penstock.jobs.host import Host, HostCapabilities, JobNeeds
from penstock.jobs.listing import RunningJob, running_jobs
from penstock.jobs.registration import unregister
from penstock.launch import choose_host
from penstock.launch.hosts import HOSTS
from penstock.local.local_job import LocalJob
from penstock.testing import ScriptedSource


class ToyClient(JobClient):
    """Runs its job when it is waited for."""

    def __init__(self, plan: JobPlan, job_id: str) -> None:
        self._job, self._id, self._status = LocalJob(plan), job_id, JobStatus.RUNNING

    job_id = property(lambda self: self._id)  # type: ignore[assignment]
    status = property(lambda self: self._status)  # type: ignore[assignment]

    def stop(self) -> None:
        self._job.stop()

    def wait(self) -> JobExecutionResult:
        self._job.run()
        self._status = JobStatus.FINISHED
        unregister(self)
        return JobExecutionResult(self._job.plan.name, self._id, 0)

    def results(self, name: str) -> Iterator[Any]:
        self.wait()
        yield from self._job.results[name]

    def accumulators(self) -> dict[str, Any]:
        return {}


class ToyHost:
    """A fourth host, of which nothing in the package knows."""

    name = "toy"

    def __init__(self, capabilities: HostCapabilities) -> None:
        self.capabilities = capabilities
        self.listed: list[RunningJob] = []

    def start(self, plan: JobPlan, conf: Configuration, job_id: str) -> JobClient:
        self.listed = running_jobs()
        return ToyClient(plan, job_id)


DURABLE = HostCapabilities(unbounded=True, durable=True, listed=True)


@pytest.fixture(autouse=True)
def _own_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_STATE_DIR", str(tmp_path / "state"))


def add(monkeypatch: pytest.MonkeyPatch, capabilities: HostCapabilities = DURABLE) -> ToyHost:
    """The one line in the table."""
    host = ToyHost(capabilities)
    monkeypatch.setitem(HOSTS, host.name, host)
    return host


def program(**settings: str) -> StreamExecutionEnvironment:
    return StreamExecutionEnvironment(Configuration(settings)).set_parallelism(1)


def test_every_host_in_the_table_is_under_its_own_name() -> None:
    hosts: dict[str, Host] = HOSTS
    assert {name: host.name for name, host in hosts.items()} == {name: name for name in hosts}
    assert list(hosts) == ["local", "bounded", "streaming"]


def test_a_fourth_host_runs_a_program_and_lists_its_job(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """P10: the job is listed from its start on, beside its checkpoint too since the host is durable, until its end."""
    host = add(monkeypatch)
    env = program(**{"penstock.host": "toy", "execution.checkpointing.dir": str(tmp_path / "ckpt")})
    env.from_collection([1, 2, 3]).map(lambda v: v * v).print()
    client = env.execute_async("squares")
    assert [(job.name, job.engine, job.job_id) for job in host.listed] == [("squares", "toy", client.job_id)]
    assert [job.checkpoint for job in running_jobs()] == [str(tmp_path / "ckpt")]
    client.wait()
    assert running_jobs() == []


def test_the_command_line_knows_a_fourth_host(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """P10"""
    job = tmp_path / "job.py"
    job.write_text(
        "from penstock.datastream import StreamExecutionEnvironment\n"
        "env = StreamExecutionEnvironment.get_execution_environment()\n"
        "env.from_collection([1, 2]).print()\nenv.execute()\n"
    )
    before = CliRunner().invoke(main, ["run", str(job), "--host", "toy"])
    assert "'toy' is not one of 'local', 'bounded', 'streaming'" in before.output
    add(monkeypatch)
    assert CliRunner().invoke(main, ["run", str(job), "--host", "toy", "-p", "1"]).output == "1\n2\n"
    assert "[local|bounded|streaming|toy]" in CliRunner().invoke(main, ["run", "--help"]).output


def test_an_unknown_host_is_refused_with_the_hosts_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """P9, P10"""
    add(monkeypatch)
    env = program(**{"penstock.host": "moon"})
    env.from_collection([1]).print()
    with pytest.raises(
        ConfigurationError, match=r"penstock\.host must be one of auto, local, bounded, streaming, toy, got 'moon'"
    ):
        env.execute()


def test_a_host_is_refused_what_it_says_it_cannot_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """P5, P10, F4"""
    add(monkeypatch)
    env = program(**{"penstock.host": "toy", "execution.runtime-mode": "BATCH"})
    env.from_collection([1]).print()
    with pytest.raises(ConfigurationError, match=r"BATCH runs on the bounded host: do not set penstock\.host to toy"):
        env.execute()
    env = program(**{"penstock.host": "toy", "execution.state-recovery.path": "/saved"})
    env.from_collection([1]).print()
    with pytest.raises(ConfigurationError, match=r"which the toy host cannot: it keeps no state. Do not set penstock"):
        env.execute()


@pytest.mark.parametrize(("automatic", "expected"), [(True, "toy"), (False, "bounded")])
def test_an_automatic_host_is_chosen_by_its_place_in_the_table(
    monkeypatch: pytest.MonkeyPatch, automatic: bool, expected: str
) -> None:
    """P10: a host that must be asked for by name is never chosen."""
    toy = ToyHost(HostCapabilities(automatic=automatic))
    monkeypatch.setattr("penstock.launch.hosts.HOSTS", {"toy": toy, **HOSTS})
    env = program()
    env.from_collection([1]).print()
    assert choose_host(env.get_stream_graph(), env.get_configuration()) == expected
    endless = program()
    endless.from_source(ScriptedSource([[]], False), WatermarkStrategy.no_watermarks(), "endless").print()
    assert choose_host(endless.get_stream_graph(), endless.get_configuration()) == "streaming"


@pytest.mark.parametrize(
    ("needs", "hosts"),
    [
        (JobNeeds(), {"local", "bounded", "streaming"}),
        (JobNeeds(batch=True), {"local", "bounded"}),
        (JobNeeds(unbounded=True), {"local", "streaming"}),
        (JobNeeds(durable=True), {"streaming"}),
        (JobNeeds(batch=True, unbounded=True), {"local"}),
    ],
)
def test_which_hosts_meet_the_needs_of_a_job(needs: JobNeeds, hosts: set[str]) -> None:
    """P10"""
    assert {name for name, host in HOSTS.items() if needs.met_by(host)} == hosts
