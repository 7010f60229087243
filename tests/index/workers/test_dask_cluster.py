"""Embedding on a Dask cluster: a scheduler and two workers on the loopback interface."""

from __future__ import annotations

import socket
import sys
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from corpus.errors import StorageError, UsageError
from index.update.report import Request
from index.update.update import update_index
from index.workers import dask_cluster
from index.workers.workers import WorkerPlan, open_workers
from tests.dask_cluster import Cluster, running_cluster
from tests.encoders import BagEncoder
from tests.index.workers.builds import build, contents, log_of, write
from tests.index.workers.conftest import BATCH, FAULTS, TEXTS, check_fault
from tests.recorded import recorded
from tests.robustness import worker_kills


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with running_cluster() as started:
        yield started


def test_two_nodes_make_the_same_index_as_one_process(cluster: Cluster, folder: Path, expected: list[object]) -> None:
    """Each text is embedded once, by one of the nodes."""
    from distributed import Client

    with Client(cluster.address) as client:
        client.wait_for_workers(len(cluster.workers))
    report = build(folder, WorkerPlan(dask=cluster.address), seconds=0.003)
    assert contents(folder) == expected
    lines = recorded(log_of(folder))
    assert report.embedded == len(lines) == len({text for _, _, text in lines}) == TEXTS
    assert {int(process) for process, _, _ in lines} == {worker.pid for worker in cluster.workers}


@pytest.mark.parametrize("fault", [fault for fault in FAULTS if fault != "crash"])
def test_fault_gives_one_error_and_keeps_the_old_index(cluster: Cluster, folder: Path, fault: str) -> None:
    check_fault(folder, WorkerPlan(dask=cluster.address), fault)


def test_worker_import_failure_gives_one_error(
    cluster: Cluster, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if workers had another version of qa, or none."""
    (tmp_path / "only_here.py").write_text("def load():\n    raise AssertionError\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    import only_here  # type: ignore[import-not-found]

    encoder = BagEncoder()
    with (
        open_workers(WorkerPlan(dask=cluster.address), encoder, partial(only_here.load)) as workers,
        pytest.raises(StorageError) as caught,
    ):
        update_index(Request(folder, encoder, workers=workers))
    assert "Has every worker the same version of qa?" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("victim", ["build on nodes", "node"])
def test_a_kill_costs_only_the_batches_in_progress(cluster: Cluster, tmp_path: Path, victim: str) -> None:
    """The other node takes over; so for the tests below, only one is left."""
    undisturbed = write(tmp_path / "undisturbed", 32)
    build(undisturbed)
    assert worker_kills.kill(victim, write(tmp_path / "corpus", 32), contents(undisturbed), 0.3, cluster).wrong == []


def test_lost_workers_or_scheduler_give_one_error_and_the_next_build_resumes(
    folder: Path, expected: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether they are missing from the start or are lost during the build."""
    monkeypatch.setattr(dask_cluster, "_WORKER_SECONDS", 0.5)
    monkeypatch.setattr(dask_cluster, "_CONNECT_SECONDS", 1)
    with running_cluster(0) as cluster:
        plan = WorkerPlan(dask=cluster.address)
        with pytest.raises(UsageError, match=r"has no workers\. Start some: dask worker tcp://"):
            build(folder, plan)
        monkeypatch.setattr(dask_cluster, "_WORKER_SECONDS", 60)
        cluster.add_worker()
        killer = threading.Thread(target=_kill_scheduler, args=(cluster, folder))
        killer.start()
        with pytest.raises(StorageError) as caught:
            build(folder, plan, seconds=0.01)
        killer.join()
        assert str(caught.value) == (
            f"the Dask cluster at {cluster.address} is gone. What was embedded is kept: run it again."
        )
        with pytest.raises(UsageError, match="there is no Dask scheduler at tcp://127"):
            build(folder, plan)
    embedded = len(recorded(log_of(folder)))
    report = build(folder)
    assert contents(folder) == expected
    assert TEXTS - embedded <= report.embedded <= TEXTS - embedded + 3 * BATCH


def _kill_scheduler(cluster: Cluster, folder: Path) -> None:
    worker_kills.wait_until(lambda: len(recorded(log_of(folder))) >= 2 * BATCH)
    cluster.scheduler.kill()


@pytest.mark.parametrize("address", ["nowhere", "http://localhost:80", "tcp://127.0.0.1:1"])
def test_an_address_without_a_scheduler_is_an_error(
    folder: Path, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_cluster, "_CONNECT_SECONDS", 3)
    with pytest.raises(UsageError) as caught:
        build(folder, WorkerPlan(dask=address))
    assert str(caught.value).startswith(f"there is no Dask scheduler at {address}: ")


def test_a_server_that_never_answers_is_an_error(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_cluster, "_CONNECT_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(UsageError) as caught:
            build(folder, WorkerPlan(dask=address))
    assert str(caught.value) == f"there is no Dask scheduler at {address}: no answer."


def test_without_the_package_the_error_says_how_to_install_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(UsageError, match=r"pip install 'qa-passages\[dask\]'"):
        build(folder, WorkerPlan(dask="tcp://127.0.0.1:1"))
