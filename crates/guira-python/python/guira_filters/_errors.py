"""The exceptions of the package. Their texts are those of the library, with its numbers."""

from __future__ import annotations


class GuiraError(Exception):
    """What is wrong with a filter, its file or its parameters.

    An argument that stands for nothing raises ``TypeError``, ``ValueError`` or ``OverflowError``, and what the system refuses
    ``OSError``.
    """


class ParameterError(GuiraError, ValueError):
    """There is no filter with these parameters, or the file needs ``normalized=True``."""


class FilterFullError(GuiraError):
    """A key was not stored: the filter is full.

    ``index`` is where it stands in the batch; the keys before it are stored.
    """

    index: int

    def __init__(self, message: str = "", index: int = 0) -> None:
        super().__init__(message)
        self.index = index

    def __reduce__(self) -> tuple[type[FilterFullError], tuple[str, int], dict[str, object]]:
        return type(self), (str(self), self.index), self.__dict__


class TooManyCopiesError(FilterFullError):
    """A key was not stored: its buckets hold nothing but copies of it. A larger filter would not help."""


class CounterFullError(FilterFullError):
    """A key was not counted: its counter is at its greatest."""


class AdvanceError(GuiraError, ValueError):
    """A filter was not moved to a time so far ahead that all its keys would have expired, since it may be a mistake."""


class MergeError(GuiraError, ValueError):
    """Two filters were not merged, since they were not made alike."""


class WrongKindError(GuiraError, TypeError):
    """The bytes hold another kind of filter than they were loaded as."""


class CorruptFileError(GuiraError, ValueError):
    """The bytes are not a filter, or were damaged."""


class SecretKeyError(GuiraError, ValueError):
    """A secret key is missing, is another one than that of the filter, or was given for a filter without one."""
