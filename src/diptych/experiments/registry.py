"""The papers that can be reproduced: one tuple of entries each, and what turns values into findings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from diptych.experiments.points import Point
from diptych.experiments.protocol import Experiment
from diptych.experiments.protocols import wang_erm_protocol, wang_sgd_protocol, xue_protocol, yang_protocol
from diptych.experiments.simulation import Simulation
from diptych.experiments.slopes import Means
from diptych.experiments.wang_erm import REFERENCE as WANG_ERM_REFERENCE
from diptych.experiments.wang_erm import WANG_ERM
from diptych.experiments.wang_erm_findings import findings as wang_erm_findings
from diptych.experiments.wang_sgd import REFERENCE as WANG_SGD_REFERENCE
from diptych.experiments.wang_sgd import WANG_SGD
from diptych.experiments.wang_sgd_findings import findings as wang_sgd_findings
from diptych.experiments.xue import REFERENCE as XUE_REFERENCE
from diptych.experiments.xue import XUE
from diptych.experiments.xue_findings import findings as xue_findings
from diptych.experiments.yang import REFERENCE as YANG_REFERENCE
from diptych.experiments.yang import YANG
from diptych.experiments.yang_findings import findings as yang_findings
from diptych.experiments.yang_findings import simulated_findings as yang_simulated

Entry = Experiment | Simulation
Simulated = Sequence[tuple[Simulation, Means]]

PAPERS: dict[str, tuple[Entry, ...]] = {"wang-erm": WANG_ERM, "xue": XUE, "yang": YANG, "wang-sgd": WANG_SGD}
TITLES = {
    "wang-erm": WANG_ERM_REFERENCE,
    "xue": XUE_REFERENCE,
    "yang": YANG_REFERENCE,
    "wang-sgd": WANG_SGD_REFERENCE,
}
FINDINGS: dict[str, Callable[[Sequence[Point]], list[str]]] = {
    "wang-erm": wang_erm_findings,
    "xue": xue_findings,
    "yang": yang_findings,
    "wang-sgd": lambda _: [],
}
SIMULATED: dict[str, Callable[[Simulated], list[str]]] = {"yang": yang_simulated, "wang-sgd": wang_sgd_findings}
PROTOCOLS: dict[str, Callable[[Sequence[Experiment], Sequence[Point]], list[str]]] = {
    "wang-erm": wang_erm_protocol,
    "xue": xue_protocol,
    "yang": yang_protocol,
    "wang-sgd": wang_sgd_protocol,
}


def experiments_of(paper: str, figures: Iterable[str] = ()) -> tuple[Entry, ...]:
    """Return a paper's entries, all or those of these names; say which there are if one is unknown."""
    if paper not in PAPERS:
        raise ValueError(f"paper must be one of {', '.join(PAPERS)}; got {paper!r}.")
    wanted, entries = set(figures), PAPERS[paper]
    unknown = wanted - {entry.name for entry in entries}
    if unknown:
        names = ", ".join(entry.name for entry in entries)
        raise ValueError(f"figure must be one of {names}; got {', '.join(sorted(unknown))}.")
    return tuple(entry for entry in entries if not wanted or entry.name in wanted)


def needs_data(entries: Iterable[Entry]) -> bool:
    """Whether any of these entries runs on data sets: simulations do not."""
    return any(isinstance(entry, Experiment) for entry in entries)
