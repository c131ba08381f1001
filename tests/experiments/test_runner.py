from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from diptych.experiments import workers
from diptych.experiments.points import summarise
from diptych.experiments.protocol import CROSS_VALIDATED, PUBLIC, Experiment, Series
from diptych.experiments.readers import DataError
from diptych.experiments.runner import CELLS, CHOICES, run_experiments
from diptych.experiments.store import COLUMNS, Store
from diptych.experiments.trainer import Trainer
from diptych.experiments.workers import WorkerError


class Counter:
    """Counts what is left to do in each stage."""

    def __init__(self) -> None:
        self.totals: dict[str, int] = {}

    def __call__(self, label: str, total: int):
        self.totals[label] = total
        return lambda: None


def sorted_lines(output: Path) -> list[str]:
    return sorted((output / CELLS).read_text().splitlines())


def test_results_do_not_depend_on_the_number_of_workers(folder: Path, tmp_path: Path, tiny: Experiment) -> None:
    for jobs in (1, 2):
        run_experiments([tiny], folder, tmp_path / str(jobs), jobs=jobs)
    assert sorted_lines(tmp_path / "1") == sorted_lines(tmp_path / "2")


def test_every_planned_cell_is_there_with_all_its_repeats(folder: Path, tmp_path: Path, tiny: Experiment) -> None:
    counter = Counter()
    (run,) = run_experiments([tiny], folder, tmp_path, repeats=2, jobs=1, watch=counter)
    assert run.repeats == 2
    cells = {name: list(run.cells(name)) for name in ("ijcnn1", "pima")}
    assert counter.totals["training"] == sum(map(len, cells.values()))
    points = summarise(Store(tmp_path / CELLS).read())
    assert len(points) == counter.totals["training"]
    assert {p.repeats for p in points if p.algorithm != "non-private"} == {2}
    assert not any(p.note for p in points)
    tuned = {p.regularization for p in points if p.rule == CROSS_VALIDATED.name}
    assert tuned <= set(run.tuning.grid)


def test_a_second_run_does_nothing_and_a_change_only_what_it_touches(
    folder: Path, tmp_path: Path, tiny: Experiment
) -> None:
    public = replace(tiny, rules=(PUBLIC,), datasets=("ijcnn1",))
    run_experiments([public], folder, tmp_path, jobs=1)
    before, again = sorted_lines(tmp_path), Counter()
    run_experiments([public], folder, tmp_path, jobs=1, watch=again)
    assert again.totals == {"cross-validating lambda": 0, "training": 0}
    assert sorted_lines(tmp_path) == before
    more, wider = Counter(), replace(public, epsilons=(1.0, 2.0, 4.0))
    run_experiments([wider], folder, tmp_path, jobs=1, watch=more)
    assert more.totals["training"] == 6  # one epsilon: three series, two notions
    assert set(before) <= set(sorted_lines(tmp_path))
    fewer = Counter()
    run_experiments([wider], folder, tmp_path, repeats=2, jobs=1, watch=fewer)
    assert fewer.totals["training"] == len(list(wider.cells("ijcnn1")))
    assert {p.repeats for p in summarise(Store(tmp_path / CELLS).read())} == {1, 2}


def test_changed_data_and_changed_code_are_run_again(
    folder: Path, tmp_path: Path, tiny: Experiment, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = replace(tiny, rules=(PUBLIC,), datasets=("ijcnn1",), series=tiny.series[1:2], epsilons=(1.0,))
    run_experiments([one], folder, tmp_path, jobs=1)
    path = folder / "ijcnn1_train.npz"
    path.write_bytes(path.read_bytes() + b" ")
    for change in ("data", "code"):
        counter = Counter()
        run_experiments([one], folder, tmp_path, jobs=1, watch=counter)
        assert counter.totals["training"] == 3, change
        monkeypatch.setattr(workers, "code_digest", lambda: "other code")


def test_an_interrupted_run_goes_on_where_it_stopped(
    folder: Path, tmp_path: Path, tiny: Experiment, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, part = tmp_path / "whole", tmp_path / "part"
    run_experiments([tiny], folder, whole, jobs=1, only=["pima"])
    calls, train = [], Trainer.run

    def failing(self, cell, regularization=None):
        calls.append(cell)
        if len(calls) > 5:
            raise KeyboardInterrupt
        return train(self, cell, regularization)

    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "run", failing)
        with pytest.raises(KeyboardInterrupt):
            run_experiments([tiny], folder, part, jobs=1, only=["pima"])
    with (part / CELLS).open("a") as file:
        file.write("tiny,pima,public,replace-wi")  # a line that a power cut left
    with (part / CHOICES).open("a") as file:
        file.write("0123")
    counter = Counter()
    run_experiments([tiny], folder, part, jobs=1, only=["pima"], watch=counter)
    assert counter.totals == {"cross-validating lambda": 0, "training": len(list(tiny.cells("pima"))) - 5}
    assert sorted_lines(part) == sorted_lines(whole)


def test_cells_that_figures_share_are_computed_once(folder: Path, tmp_path: Path, tiny: Experiment) -> None:
    first = replace(tiny, rules=(PUBLIC,), datasets=("ijcnn1",))
    second, counter = replace(first, name="second", epsilons=(1.0,)), Counter()
    run_experiments([first, second], folder, tmp_path, jobs=1, watch=counter)
    assert counter.totals["training"] == len(list(first.cells("ijcnn1")))
    values = {name: {} for name in ("tiny", "second")}
    for point in summarise(Store(tmp_path / CELLS).read()):
        values[point.figure][point.key("figure")] = point.mean
    assert values["second"].items() <= values["tiny"].items()


def test_what_cannot_be_run_is_noted(folder: Path, tmp_path: Path, tiny: Experiment) -> None:
    odd = replace(tiny, rules=(PUBLIC,), series=(Series("objective-perturbation", "squared", "paper"),))
    run_experiments([odd], folder, tmp_path, jobs=1, only=["ijcnn1"])
    notes = [p for p in summarise(Store(tmp_path / CELLS).read()) if p.note]
    assert len(notes) == 4
    assert notes[0].text == "not covered"


def test_a_dead_worker_is_reported_in_a_sentence() -> None:
    with pytest.raises(WorkerError, match="run the same command again"):
        list(workers.results(os._exit, [3, 3], jobs=2))  # type: ignore[list-item]


def test_a_worker_that_refuses_a_file_is_quoted(folder: Path, tmp_path: Path, tiny: Experiment) -> None:
    (folder / "ijcnn1_train.npz").write_bytes(b"rubbish")
    for jobs in (1, 2):
        with pytest.raises(DataError, match="ijcnn1_train.npz is not an archive"):
            run_experiments([tiny], folder, tmp_path / "out", jobs=jobs, only=["ijcnn1"])


def test_threads_are_single_inside_and_restored_after(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    with workers.single_threaded():
        assert {os.environ[name] for name in workers.THREADS} == {"1"}
    assert os.environ["OMP_NUM_THREADS"] == "7"
    assert "MKL_NUM_THREADS" not in os.environ
    with pytest.raises(ValueError, match="jobs must be at least 1"):
        list(workers.results(len, [], jobs=0))  # type: ignore[arg-type]


def test_the_csv_is_long_and_names_every_setting(folder: Path, tmp_path: Path, tiny: Experiment) -> None:
    run_experiments([replace(tiny, rules=(PUBLIC,))], folder, tmp_path, jobs=1, only=["pima"])
    header, *rows = (tmp_path / CELLS).read_text().splitlines()
    assert header == ",".join(COLUMNS)
    assert len(rows) == 3 + 3 * 2 * 2 * 3  # splits of the optimum; series, notions, epsilons, repeats
