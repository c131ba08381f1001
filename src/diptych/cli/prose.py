"""Guarantees as paragraphs that fit the terminal."""

from __future__ import annotations

import shutil
import textwrap

from diptych.spec import Guarantee

WIDEST = 100


def paragraphs(guarantee: Guarantee) -> str:
    """Return a guarantee with its lines wrapped between words."""
    width = min(WIDEST, shutil.get_terminal_size().columns)
    lines = str(guarantee).splitlines()
    return "\n".join(textwrap.fill(line, width, break_on_hyphens=False, break_long_words=False) for line in lines)
