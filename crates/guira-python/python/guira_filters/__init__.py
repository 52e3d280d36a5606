"""Cuckoo filters: set membership in a few bits per key, with removal, and no key ever lost."""

from guira_filters import keys
from guira_filters._errors import (
    AdvanceError,
    CorruptFileError,
    CounterFullError,
    FilterFullError,
    GuiraError,
    MergeError,
    ParameterError,
    SecretKeyError,
    TooManyCopiesError,
    WrongKindError,
)
from guira_filters._guira_filters import (
    CountingCuckooFilter,
    CuckooFilter,
    CuckooFilterView,
    CuckooMap,
    CuckooSet,
    ExpiringCuckooFilter,
    Plan,
    __version__,
    open,
    plan,
)

__all__ = [
    "AdvanceError",
    "CorruptFileError",
    "CounterFullError",
    "CountingCuckooFilter",
    "CuckooFilter",
    "CuckooFilterView",
    "CuckooMap",
    "CuckooSet",
    "ExpiringCuckooFilter",
    "FilterFullError",
    "GuiraError",
    "MergeError",
    "ParameterError",
    "Plan",
    "SecretKeyError",
    "TooManyCopiesError",
    "WrongKindError",
    "__version__",
    "keys",
    "open",
    "plan",
]
