"""Shared by all tests: hypothesis settings and small tables."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import settings

settings.register_profile("diptych", deadline=None, max_examples=60, derandomize=True)
settings.load_profile("diptych")


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20260101)
