"""When two tables count as neighbours, in a name and in words."""

from __future__ import annotations

from enum import StrEnum


class Adjacency(StrEnum):
    """Which two tables a guarantee makes indistinguishable.

    ``REPLACE``
        One record, label included, is replaced by any other. The number of records is public,
        labels and class counts are private.
    ``REPLACE_WITHIN_CLASS``
        The features of one record are replaced; labels, hence class counts, are public.
    ``ADD_REMOVE``
        One record is added or removed. The number of records is private; a declared public number stands in for it.
        For losses of single records only: a record is in as many pairs as there are others.
    """

    REPLACE = "replace"
    REPLACE_WITHIN_CLASS = "replace-within-class"
    ADD_REMOVE = "add-remove"

    @classmethod
    def parse(cls, value: str | Adjacency) -> Adjacency:
        """Return the adjacency of that name, or say which names there are."""
        names = [member.value for member in cls]
        if isinstance(value, cls):
            return value
        if value not in names:
            raise ValueError(f"adjacency must be one of {', '.join(map(repr, names))}; got {value!r}.")
        return cls(value)

    @property
    def words(self) -> str:
        """What one neighbour may differ in, as the middle of a sentence."""
        if self is Adjacency.REPLACE:
            return (
                "one record is replaced by any other, its label included; "
                "the number of records is public, labels are private"
            )
        if self is Adjacency.ADD_REMOVE:
            return "one record is added or removed; the number of records is private"
        return "the features of one record are replaced by any others; labels and class counts are public"


OF_PAIRS = (Adjacency.REPLACE, Adjacency.REPLACE_WITHIN_CLASS)  # those under which pairs can be protected
