"""The house: imports go one way, the package loads at once, everything public is documented."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import diptych

ROOMS = (
    "spec",
    "losses",
    "sets",
    "kernels",
    "risks",
    "noise",
    "accounting",
    "algorithms",
    "preprocessing",
    "selection",
    "audit",
    "estimators",
    "experiments",
    "cli",
)
SOURCE = Path(diptych.__file__).parent


def imported_rooms(path: Path) -> set[str]:
    rooms = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("diptych."):
            rooms.add(node.module.split(".")[1])
        if isinstance(node, ast.Import):
            rooms |= {name.name.split(".")[1] for name in node.names if name.name.startswith("diptych.")}
    return rooms


def test_every_folder_is_a_known_room() -> None:
    folders = {path.name for path in SOURCE.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert folders == set(ROOMS)


@pytest.mark.parametrize("room", ROOMS)
def test_rooms_import_only_from_rooms_above(room: str) -> None:
    allowed = set(ROOMS[: ROOMS.index(room) + 1])
    for path in (SOURCE / room).rglob("*.py"):
        assert imported_rooms(path) <= allowed, path


@pytest.mark.parametrize("room", ROOMS)
def test_tests_mirror_the_source_tree(room: str) -> None:
    assert list((Path(__file__).parent / room).glob("test_*.py"))


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = "import sys, diptych; print([m for m in ('numpy', 'scipy', 'sklearn', 'numba') if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_scipy_stats_is_not_needed_to_fit() -> None:
    code = (
        "import sys, numpy as np\n"
        "from diptych.algorithms import OutputPerturbation\n"
        "from diptych.accounting import plan_noise\n"
        "from diptych import Budget\n"
        "plan_noise(Budget(1.0, 1e-6), 0.1, 3)\n"
        "print('scipy.stats' in sys.modules)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "False"


def test_every_exported_name_loads_and_unknown_ones_are_refused() -> None:
    for name in diptych.__all__:
        assert getattr(diptych, name) is not None
    assert set(diptych.__all__) <= set(dir(diptych))
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        diptych.Nothing  # noqa: B018


def public_objects():
    for module in pkgutil.walk_packages([str(SOURCE)], "diptych."):
        loaded = importlib.import_module(module.name)
        yield module.name, loaded
        for name, value in vars(loaded).items():
            if not name.startswith("_") and getattr(value, "__module__", None) == module.name:
                yield f"{module.name}.{name}", value
                if inspect.isclass(value):
                    yield from (
                        (f"{module.name}.{name}.{key}", item)
                        for key, item in vars(value).items()
                        if inspect.isfunction(item) and not key.startswith("_")
                    )


def test_everything_public_has_a_docstring() -> None:
    missing = [
        name for name, value in public_objects() if (inspect.ismodule(value) or callable(value)) and not value.__doc__
    ]
    assert missing == []


def test_modules_stay_readable() -> None:
    long = {str(path): n for path in SOURCE.rglob("*.py") if (n := len(path.read_text().splitlines())) > 260}
    assert long == {}
