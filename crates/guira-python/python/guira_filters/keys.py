"""Keys that have several spellings, in one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, overload
from uuid import UUID

from guira_filters._guira_filters import Uuids, uuids

if TYPE_CHECKING:
    from guira_filters._guira_filters import _Keys

__all__ = ["uuid"]


@overload
def uuid(keys: str | UUID) -> UUID: ...  # type: ignore[overload-overlap]
@overload
def uuid(keys: _Keys) -> Uuids: ...
def uuid(keys: str | UUID | _Keys) -> UUID | Uuids:
    """The key that a UUID is, from its text: a ``uuid.UUID`` for a string, and for a column or another iterable of strings
    what ``update``, ``contains_many`` and the like take.

    The text of a UUID is the key of a text otherwise, and not that of the UUID.

    >>> from guira_filters import CuckooFilter, keys
    >>> seen = CuckooFilter(1000)
    >>> seen.update(keys.uuid(["12345678-1234-5678-1234-567812345678"]))
    >>> UUID("12345678-1234-5678-1234-567812345678") in seen
    True
    >>> keys.uuid("12345678-1234-5678-1234-567812345678") in seen
    True
    """
    if isinstance(keys, str):
        return UUID(keys)
    return keys if isinstance(keys, UUID) else uuids(keys)
