"""``diptych reproduce``: a paper's figures and tables on the user's copies of its data sets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

Step = Callable[[], None]


def reproduce(
    paper: Annotated[str, typer.Argument(help="Which paper: wang-erm, xue, yang or wang-sgd.")],
    output: Annotated[Path, typer.Option(help="Folder for CSV, figures and the Markdown report; made if missing.")],
    data: Annotated[
        Path | None, typer.Option(help="Folder with the data sets (NumPy archives or LIBSVM text); wang-sgd has none.")
    ] = None,
    repeats: Annotated[int | None, typer.Option(min=1, help="Repeats a cell, in place of the paper's.")] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Worker processes.")] = 2,
    only: Annotated[str, typer.Option(help="Data sets, separated by commas; all by default.")] = "",
    figure: Annotated[str, typer.Option(help="Figures or tables, separated by commas; all by default.")] = "",
) -> None:
    """Rerun a paper's experiments on public data. The noise is seeded: the models are for comparison, not for release.

    An interrupted run goes on where it stopped when the same command is given again.
    """
    from diptych.experiments import experiments_of, run_experiments, write_report

    entries = experiments_of(paper, _names(figure))
    with _progress() as watch:
        done = run_experiments(entries, data, output, repeats=repeats, jobs=jobs, only=_names(only), watch=watch)
    page = write_report(paper, done, output, say=lambda line: typer.echo(line, err=True))
    typer.echo(f"Written: {page}")


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


@contextmanager
def _progress() -> Iterator[Callable[[str, int], Step]]:
    """Show a bar a stage on standard error."""
    from rich.console import Console
    from rich.progress import MofNCompleteColumn, Progress, TimeElapsedColumn, TimeRemainingColumn

    columns = (*Progress.get_default_columns()[:2], MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as bars:

        def watch(label: str, total: int) -> Step:
            bar = bars.add_task(label, total=total)
            return lambda: bars.advance(bar)

        yield watch
