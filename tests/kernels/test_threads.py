from __future__ import annotations

import pytest

from diptych.kernels.threads import SERIAL_BELOW, in_chunks, thread_count, together


@pytest.mark.parametrize("n", [10, SERIAL_BELOW])
def test_results_come_in_the_order_of_the_jobs(n, monkeypatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert together([lambda k=k: k for k in range(20)], n) == list(range(20))
    assert sum(in_chunks(lambda part: part.stop - part.start, n)) == n


@pytest.mark.parametrize("n", [10, SERIAL_BELOW])
def test_failures_reach_the_caller(n, monkeypatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "2")

    def fail() -> None:
        raise ArithmeticError("first")

    with pytest.raises(ArithmeticError, match="first"):
        together([fail, lambda: None, lambda: None], n)


def test_thread_count_is_read_from_the_environment(monkeypatch) -> None:
    assert thread_count(10) == 1
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert thread_count(10**6) == 3
    monkeypatch.setenv("OMP_NUM_THREADS", "nonsense")
    assert thread_count(10**6) >= 1
