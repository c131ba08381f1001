"""Every Python block of the documentation runs, page by page, each page in one namespace and an empty folder."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def blocks(page: Path) -> list[tuple[int, str]]:
    text = page.read_text()
    return [(text[: match.start(1)].count("\n"), match.group(1)) for match in BLOCK.finditer(text)]


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=lambda page: page.name)
def test_page_runs(page, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {}
    for line, code in blocks(page):
        exec(compile("\n" * line + code, str(page), "exec"), namespace)
    assert namespace


def test_the_readme_and_tutorial_have_code() -> None:
    assert {page.name for page in PAGES if blocks(page)} >= {"README.md", "tutorial.md", "api.md"}


def test_links_between_pages_lead_somewhere() -> None:
    broken = []
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text()):
            if not target.startswith(("http://", "https://")) and not (page.parent / target).exists():
                broken.append(f"{page.name}: {target}")
    assert broken == []


def test_tests_named_in_the_documentation_exist() -> None:
    missing = []
    pages = [*PAGES, ROOT / "CONTRIBUTING.md"]
    for page in pages:
        text = page.read_text()
        for path in re.findall(r"`(tests/[\w/]+\.py)", text):
            if not (ROOT / path).exists():
                missing.append(f"{page.name}: {path}")
        for path, name in re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", text):
            if f"def {name}(" not in (ROOT / path).read_text():
                missing.append(f"{page.name}: {path}::{name}")
    assert missing == []
