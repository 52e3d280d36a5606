"""Which Python values are keys, and which bytes they stand for: README's table."""

import ipaddress
import uuid

import numpy as np
import pytest

from guira_filters import CountingCuckooFilter, CuckooFilter, CuckooMap, CuckooSet

UUID = uuid.UUID("12345678-1234-5678-1234-567812345678")


def integer(value: int, size: int) -> bytes:
    return value.to_bytes(size, "little", signed=value < 0) + (b"\xff" if value < 0 else b"")


KEYS = [
    (b"ani", b"ani"),
    (b"", b""),
    (bytearray(b"ani"), b"ani"),
    (memoryview(b"xanix")[1:4], b"ani"),
    (memoryview(b"a.n.i")[::2], b"ani"),
    ("ani", b"ani"),
    ("żółw 🐢", "żółw 🐢".encode()),
    ("a\0b", b"a\0b"),
    (0, bytes(8)),
    (5, integer(5, 8)),
    (-1, b"\xff" * 9),
    (2**63, integer(2**63, 8)),
    (2**64 - 1, b"\xff" * 8),
    (-(2**63), integer(-(2**63), 8)),
    (2**64, integer(2**64, 16)),
    (-(2**63) - 1, integer(-(2**63) - 1, 16)),
    (2**127, integer(2**127, 16)),
    (2**128 - 1, b"\xff" * 16),
    (-(2**127), integer(-(2**127), 16)),
    (True, integer(1, 8)),
    (np.int8(-5), integer(-5, 8)),
    (np.True_, integer(1, 8)),
    (np.False_, bytes(8)),
    (np.uint64(2**64 - 1), b"\xff" * 8),
    (np.str_("ani"), b"ani"),
    (np.bytes_(b"ani"), b"ani"),
    (UUID, UUID.bytes),
    (ipaddress.ip_address("192.0.2.1"), bytes([192, 0, 2, 1])),
    (ipaddress.ip_address("2001:db8::1"), ipaddress.ip_address("2001:db8::1").packed),
    (ipaddress.ip_address("fe80::1%eth0"), ipaddress.ip_address("fe80::1").packed),
    (ipaddress.ip_interface("192.0.2.1/24"), bytes([192, 0, 2, 1])),
]


def name(key: object) -> str:
    """The name of a key's test, which is one in all processes."""
    return f"memoryview of {key.obj!r}" if isinstance(key, memoryview) else repr(key)


@pytest.mark.parametrize(("key", "meant"), KEYS, ids=[name(key) for key, _ in KEYS])
def test_a_value_is_the_key_that_its_bytes_are(key, meant):
    for class_ in (CuckooFilter, CuckooSet, CountingCuckooFilter):
        seen = class_(1000, 1e-6)
        seen.add(key)
        expected = class_(1000, 1e-6)
        expected.add(meant)
        assert seen == expected
        assert key in seen
        assert meant in seen
        assert seen.contains_many([key, meant, b"absent"]).tolist() == [True, True, False]
    seen = CuckooMap(1000, 1e-6)
    seen.add(key, 3)
    assert seen.get(meant) == (3,)


@pytest.mark.parametrize("key", [3.5, None, [1], (1,), {1}, object(), 1j, np.float64(1), np.datetime64("2026-01-01")])
def test_other_types_are_refused_with_what_to_do(key):
    seen = CuckooFilter(1000)
    for use in (seen.add, seen.remove, seen.discard, seen.count, seen.add_unique, seen.__contains__):
        with pytest.raises(TypeError, match=r"turn it into bytes or str first"):
            use(key)
    assert len(seen) == 0


@pytest.mark.parametrize("key", [2**128, -(2**127) - 1])
def test_larger_integers_are_refused(key):
    with pytest.raises(OverflowError, match=r"int\.to_bytes"):
        CuckooFilter(1000).add(key)


def test_text_that_has_no_utf_8_is_refused():
    with pytest.raises(UnicodeEncodeError):
        CuckooFilter(1000).add("\ud800")


def test_memory_that_does_not_hold_bytes_is_refused():
    with pytest.raises(TypeError, match=r"cast\('B'\)"):
        CuckooFilter(1000).add(memoryview(np.arange(3)))
    view = memoryview(b"ani")
    view.release()
    with pytest.raises((TypeError, ValueError)):
        CuckooFilter(1000).add(view)


@pytest.mark.parametrize("array", [np.arange(3), np.array([5]), np.array(["ani"]), np.array(1.5), np.array("ani")])
def test_an_array_is_not_one_key(array):
    with pytest.raises(TypeError, match="not ndarray.*many keys at once are for"):
        array in CuckooFilter(1000)


def test_the_error_of_an_object_that_fails_is_handed_on():
    class Failing:
        def __index__(self):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        CuckooFilter(1000).add(Failing())
