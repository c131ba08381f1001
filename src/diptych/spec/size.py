"""The sizes of a table that an adjacency makes public."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class TableSize:
    """The public sizes from which constants may be derived.

    ``n`` records, or the declared number of them where theirs is private; ``positives`` of them in the positive class
    where labels are public, else None: a constant that is derived from a size without ``positives`` cannot depend on
    private labels.
    """

    n: int
    positives: int | None = None

    def __post_init__(self) -> None:
        if self.n < 2:
            raise ValueError(f"n must be at least 2 to form a pair; got {self.n}.")
        if self.positives is not None and not 0 < self.positives < self.n:
            raise ValueError(
                "with public labels (adjacency='replace-within-class') both classes must occur; "
                "add records of the missing class, or keep labels private (adjacency='replace')."
            )

    @property
    def negatives(self) -> int | None:
        """How many records are in the negative class, where that is public."""
        return None if self.positives is None else self.n - self.positives
