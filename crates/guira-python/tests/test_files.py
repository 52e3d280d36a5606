"""Files: those of the library are read and written again, damage is noticed, and processes share what is mapped."""

import copy
import ctypes
import errno
import multiprocessing
import multiprocessing.shared_memory
import os
import pickle
import signal
import subprocess
import sys
import threading
from datetime import timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import xxhash

import guira_filters
from guira_filters import CountingCuckooFilter, CuckooFilter, CuckooMap, CuckooSet, ExpiringCuckooFilter

SECRET = bytes(range(16))
READER = Path(__file__).parents[3] / "docs" / "reader.py"

# Each stored file with the number of "absent 0" to "absent 1999" that it answers with "probably": those of
# crates/guira/tests/golden.rs.
FILTERS = {
    "packed-1-regional-f20": 0,
    "packed-2-regional-f9": 7,
    "packed-3-regional-f14": 0,
    "packed-4-regional-f12": 2,
    "packed-4-regional-f12-siphash": 2,
    "packed-4-regional-f13-odd": 0,
    "packed-4-regional-f41": 0,
    "packed-8-regional-f32": 0,
    "packed-4-power-of-two-f7": 50,
    "packed-1-ternary-f11": 4,
    "packed-2-quaternary-f10": 2,
    "packed-4-doubling-f9": 18,
    "semi-sorted-regional-f13": 0,
    "semi-sorted-power-of-two-f5": 250,
    "semi-sorted-regional-f32": 0,
    "growing-4-f13-doubled-3": 2,
    "growing-4-f8-doubled-5": 11,
    "growing-4-f33-doubled-1": 0,
    "growing-4-f12-half-doubled-3": 3,
    "growing-4-f9-half-doubled-1": 48,
    "growing-8-f35-half-doubled-1": 0,
    "growing-4-f14-half-doubled-1-waiting": 1,
    "growing-8-f12-doubled-1-waiting": 2,
}
OTHERS = {
    "set-packed-4-f12": (CuckooSet, 1),
    "set-growing-4-f12-doubled-2": (CuckooSet, 2),
    "set-growing-4-f13-half-doubled-3": (CuckooSet, 1),
    "counting-2-f9-v3": (CountingCuckooFilter, 6),
    "counting-4-f12-v8": (CountingCuckooFilter, 1),
    "map-4-f6-v5": (CuckooMap, 135),
    "counting-growing-4-f13-v3-doubled-2": (CountingCuckooFilter, 1),
    "counting-growing-4-f12-v3-half-doubled-1": (CountingCuckooFilter, 7),
    "map-8-f13-v19": (CuckooMap, 0),
    "map-4-f24-v32": (CuckooMap, 0),
    "map-growing-4-f10-v7-doubled-2": (CuckooMap, 8),
    "map-growing-4-f10-v7-half-doubled-3": (CuckooMap, 27),
}
# Filters whose keys expire, "key n" of which came at 1,000,000 + 10 n: the lifetime and the time that was reached, all in
# milliseconds, the last keys that are alive, and the absent ones that are answered with "probably".
EXPIRING = {
    "expiring-4-f11-v4": (140, 1_000_598, 14, 3),
    "expiring-growing-4-f15-v5-doubled-1": (300, 1_000_594, 30, 0),
    "expiring-growing-4-f14-v4-half-doubled-3": (308, 1_000_594, 31, 1),
}
STORED = {name: (CuckooFilter, absent) for name, absent in FILTERS.items()} | OTHERS
PRESENT = [f"key {number}" for number in range(60)]
ABSENT = [f"absent {number}" for number in range(2000)]


def key_of(name):
    return SECRET if name.endswith("siphash") else None


def made():
    """One of each class, with keys."""
    seen = CuckooFilter(1000, seed=5)
    growing = CuckooFilter(100, max_capacity=10_000)
    small = CuckooFilter(1000, prefer="space")
    unique = CuckooSet(1000)
    counting = CountingCuckooFilter(1000)
    for filter_ in (seen, growing, small, unique, counting):
        filter_.update(PRESENT)
    map_ = CuckooMap(1000)
    map_.update({key: number for number, key in enumerate(PRESENT)})
    expiring = ExpiringCuckooFilter(1000, lifetime=60, clock=False)
    expiring.update(PRESENT, now=1000)
    return [seen, growing, small, unique, counting, map_, expiring]


# Stored files with a journal, and those that they are without it.
JOURNALS = {
    "journal-packed-4-regional-f12": "packed-4-regional-f12",
    "journal-growing-4-f13-doubled-3": "growing-4-f13-doubled-3",
    "journal-growing-4-f12-half-doubled-3": "growing-4-f12-half-doubled-3",
}


def test_every_stored_file_is_one_of_these(golden):
    assert {file.stem for file in golden.iterdir()} == set(STORED) | set(JOURNALS) | set(EXPIRING)


@pytest.mark.parametrize("name", EXPIRING)
def test_stored_keys_that_expire_are_answered_as_the_library_does_and_written_again(golden, name, tmp_path):
    path = golden / f"{name}.guira"
    lifetime, reached, living, absent = EXPIRING[name]
    loaded = ExpiringCuckooFilter.load(path)
    assert (loaded.lifetime, loaded.time, loaded.clock) == (timedelta(milliseconds=lifetime), reached / 1000, False)
    assert all(key in loaded for key in PRESENT[-living:])
    assert loaded.contains_many(PRESENT[-living:]).all()
    assert sum(key in loaded for key in ABSENT) == loaded.contains_many(ABSENT).sum() == absent
    assert loaded.to_bytes() == path.read_bytes()
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == path.read_bytes()
    later = loaded.contains_many(PRESENT, now=(reached + lifetime // 2) / 1000)
    assert later[-living // 2 + 1 :].all()
    for class_ in (CuckooFilter, CuckooSet, CountingCuckooFilter, CuckooMap):
        with pytest.raises(guira_filters.WrongKindError, match="keys that expire.*ExpiringCuckooFilter.load"):
            class_.load(path)


@pytest.mark.parametrize("name", JOURNALS)
def test_a_journal_is_part_of_the_filter(golden, name):
    path = golden / f"{name}.guira"
    expected = CuckooFilter.load(golden / f"{JOURNALS[name]}.guira")
    assert expected.remove_many([f"key {number}" for number in range(5)]).all()
    for key in ["key 0", "key 1", "key 1", *(f"absent {number}" for number in range(8))]:
        expected.add(key)
    loaded = CuckooFilter.load(path)
    assert loaded == expected and loaded.to_bytes() == expected.to_bytes()
    assert CuckooFilter.from_bytes(path.read_bytes()) == expected
    view = guira_filters.open(os.fsencode(path))
    view.verify()
    assert len(view) == len(expected) == 66
    keys = PRESENT[:60] + ABSENT
    assert view.count_many(keys).tolist() == expected.count_many(keys).tolist()
    assert view.contains_many(keys).tolist() == [key in expected for key in keys]


@pytest.mark.parametrize("name", STORED)
def test_stored_files_are_answered_as_the_library_does_and_written_again(golden, name, tmp_path):
    class_, absent = STORED[name]
    path = golden / f"{name}.guira"
    loaded = class_.load(path, key_of(name))
    present = PRESENT[: 40 if name == "packed-1-regional-f20" else 60]
    assert all(key in loaded for key in present)
    assert loaded.contains_many(present).all()
    assert sum(key in loaded for key in ABSENT) == absent
    assert loaded.contains_many(ABSENT).sum() == absent
    assert loaded.to_bytes() == path.read_bytes()
    assert class_.from_bytes(memoryview(path.read_bytes()), key=key_of(name)) == loaded
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == path.read_bytes()
    if class_ in (CuckooFilter, CuckooSet):
        view = guira_filters.open(path, key_of(name))
        view.verify()
        assert len(view) == len(loaded)
        assert view.contains_many(present).all()
        assert view.contains_many(ABSENT).sum() == absent
        assert [view.count(key) for key in present] == view.count_many(present).tolist()


def test_stored_counts_and_values_are_those_of_the_library(golden):
    for name in ("counting-2-f9-v3", "counting-4-f12-v8"):
        counting = CountingCuckooFilter.load(golden / f"{name}.guira")
        assert all(counting.count(key) >= number % 7 + 1 for number, key in enumerate(PRESENT))
        assert counting.total() == sum(number % 7 + 1 for number in range(60))
    for name, bits in (("map-4-f6-v5", 5), ("map-8-f13-v19", 19), ("map-growing-4-f10-v7-doubled-2", 7)):
        map_ = CuckooMap.load(golden / f"{name}.guira")
        assert map_.value_bits == bits
        for number, key in enumerate(PRESENT):
            assert ((number + 1) * 0x9E3779B9 % 2**32) >> (32 - bits) in map_.get(key)


@pytest.mark.parametrize("one", made(), ids=lambda one: type(one).__name__)
def test_bytes_files_pickles_and_copies_give_the_same(one, tmp_path):
    class_ = type(one)
    path = tmp_path / "one.guira"
    one.save(os.fsencode(path))
    shared = multiprocessing.shared_memory.SharedMemory(create=True, size=len(one.to_bytes()))
    try:
        shared.buf[:] = one.to_bytes()
        again = [
            class_.load(path),
            class_.load(str(path)),
            class_.load(os.fsencode(path)),
            class_.from_bytes(one.to_bytes()),
            class_.from_bytes(bytearray(one.to_bytes())),
            class_.from_bytes(shared.buf),
            class_.from_bytes(pa.py_buffer(one.to_bytes())),
            class_.from_bytes((ctypes.c_ubyte * path.stat().st_size).from_buffer_copy(one.to_bytes())),
            class_.from_bytes(np.frombuffer(one.to_bytes(), np.int8)),
            copy.deepcopy(one),
            *(pickle.loads(pickle.dumps(one, protocol)) for protocol in range(2, 6)),
        ]
    finally:
        shared.close()
        shared.unlink()
    for other in again:
        assert type(other) is class_
        assert other == one
        assert other.to_bytes() == one.to_bytes()


@pytest.mark.parametrize("one", made(), ids=lambda one: type(one).__name__)
def test_every_damaged_byte_is_noticed(one):
    class_, whole = type(one), one.to_bytes()
    for place in range(0, len(whole), max(1, len(whole) // 500)):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << place % 8
        with pytest.raises(guira_filters.GuiraError):
            class_.from_bytes(damaged)
    for wrong in (b"", whole[:-1], whole + b"\0", bytes(len(whole))):
        with pytest.raises(guira_filters.CorruptFileError):
            class_.from_bytes(wrong)


def sealed(header):
    """The header of a file with its checksum."""
    return header[:120] + xxhash.xxh3_64_intdigest(header[:120]).to_bytes(8, "little")


def with_chunk(file, tag, flags, data):
    """The file with a chunk behind all others, as docs/format.md describes it."""
    start = tag + flags.to_bytes(4, "little") + len(data).to_bytes(8, "little")
    chunk = start + xxhash.xxh3_64_intdigest(start + data).to_bytes(8, "little") + data
    size = int.from_bytes(file[80:88], "little") + len(chunk)
    return sealed(file[:80] + size.to_bytes(8, "little") + file[88:120]) + file[128:] + chunk


def changed(one):
    if isinstance(one, CuckooMap):
        one.add("more", 1)
    else:
        one.add("more")
    return one


@pytest.mark.parametrize("one", made(), ids=lambda one: type(one).__name__)
def test_what_is_not_known_is_kept_when_a_file_is_changed_or_refused_if_it_must_be_known(one, tmp_path):
    class_, plain = type(one), one.to_bytes()
    # A flag and a chunk that a reader may ignore.
    flagged = sealed(plain[:70] + b"\x00\x80" + plain[72:120]) + plain[128:]
    file = with_chunk(flagged, b"XTRA", 0xFFFFFFFC, b"of another program")
    chunk = file[len(plain):]
    assert class_.from_bytes(file).to_bytes() == file
    assert pickle.loads(pickle.dumps(class_.from_bytes(file))).to_bytes() == file
    (tmp_path / "file").write_bytes(file)
    changed(class_.load(tmp_path / "file")).save(tmp_path / "file")
    saved = (tmp_path / "file").read_bytes()
    assert saved.endswith(chunk) and saved[70:72] == b"\x00\x80" and saved[80:88] == file[80:88]
    assert changed(class_.from_bytes(plain)) == class_.load(tmp_path / "file")
    for refused in [with_chunk(file, b"XTRA", 1, b""), sealed(plain[:68] + b"\x01\x00" + plain[70:120]) + plain[128:]]:
        with pytest.raises(guira_filters.CorruptFileError, match="needs a later release"):
            class_.from_bytes(refused)


def test_a_file_of_treated_keys_is_taken_where_keys_are_treated_alike(tmp_path):
    # As of guira build --lowercase.
    file = with_chunk(CuckooFilter(100).to_bytes(), b"NORM", 1, b"\x01")
    (tmp_path / "file").write_bytes(file)
    for load in [
        lambda **options: CuckooFilter.from_bytes(file, **options),
        lambda **options: CuckooFilter.load(tmp_path / "file", **options),
        lambda **options: guira_filters.open(tmp_path / "file", **options),
        lambda **options: guira_filters.CuckooFilterView.from_bytes(file, **options),
    ]:
        # The file is as it should be, and needs another argument, by its name in Python.
        with pytest.raises(guira_filters.ParameterError, match="lower case.*pass normalized=True") as raised:
            load()
        assert "::" not in str(raised.value)
        assert "ani" not in load(normalized=True)
    one = CuckooFilter.load(tmp_path / "file", normalized=True)
    one.add("ani")
    assert "ani" in pickle.loads(pickle.dumps(one)) and "ani" in copy.deepcopy(one)
    one.save(tmp_path / "file")
    assert (tmp_path / "file").read_bytes().endswith(file[-25:])
    # Merged with a filter of keys that were hashed as they are, it would not find them.
    with pytest.raises(guira_filters.GuiraError, match="what was done to keys"):
        one |= CuckooFilter(100)
    with pytest.raises(guira_filters.GuiraError, match="treatment of keys"):
        CuckooFilter.from_bytes(with_chunk(CuckooFilter(100).to_bytes(), b"NORM", 1, b"\x04"), normalized=True)


@pytest.mark.parametrize(("done", "words"), [(1, "lower case in its keys before"), (2, "left out before"), (3, "lower case.*left out, before")])
def test_a_file_of_treated_keys_says_what_was_done_to_them(done, words):
    for one in made():
        file = with_chunk(one.to_bytes(), b"NORM", 1, bytes([done]))
        with pytest.raises(guira_filters.ParameterError, match=words):
            type(one).from_bytes(file)
        assert type(one).from_bytes(file, normalized=True).to_bytes() == file


def test_another_kind_is_refused_by_its_name(tmp_path):
    for one in made():
        for class_ in {CuckooFilter, CuckooSet, CountingCuckooFilter, CuckooMap} - {type(one)}:
            with pytest.raises(guira_filters.WrongKindError):
                class_.from_bytes(one.to_bytes())
    CountingCuckooFilter(10).save(tmp_path / "counting")
    with pytest.raises(guira_filters.WrongKindError):
        guira_filters.open(tmp_path / "counting")


def test_a_secret_key_is_needed_and_never_stored(tmp_path):
    secret = CuckooFilter(1000, hash="siphash", key=SECRET)
    secret.add("ani")
    secret.save(tmp_path / "secret")
    whole = secret.to_bytes()
    assert SECRET not in whole
    for load in (
        lambda key: CuckooFilter.from_bytes(whole, key),
        lambda key: CuckooFilter.load(tmp_path / "secret", key),
        lambda key: guira_filters.open(tmp_path / "secret", key),
    ):
        assert "ani" in load(SECRET)
        for wrong in (None, bytes(16)):
            with pytest.raises(guira_filters.SecretKeyError):
                load(wrong)
        with pytest.raises(guira_filters.ParameterError, match="16 bytes, not 3"):
            load(b"abc")
    with pytest.raises(guira_filters.SecretKeyError):
        CuckooFilter.from_bytes(CuckooFilter(10).to_bytes(), SECRET)
    with pytest.raises(guira_filters.SecretKeyError, match="pickled"):
        pickle.dumps(secret)
    assert "00010203" not in repr(secret)


def test_errors_of_the_system_are_those_that_python_raises(tmp_path):
    for use in (CuckooFilter.load, CuckooSet.load, guira_filters.open, CuckooFilter(10).save):
        with pytest.raises(FileNotFoundError) as raised:
            use(tmp_path / "nowhere" / "file")
        assert raised.value.errno == 2
    with pytest.raises(FileNotFoundError) as raised:
        CuckooFilter.load(tmp_path / "nothing")
    assert raised.value.filename == str(tmp_path / "nothing")
    with pytest.raises(IsADirectoryError):
        CuckooFilter.load(tmp_path)
    with pytest.raises(IsADirectoryError) as raised:
        CuckooFilter(10).save(tmp_path)
    assert (raised.value.errno, raised.value.filename) == (errno.EISDIR, str(tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_a_path_that_no_file_can_have_is_no_error_of_the_system():
    for path in ("seen\0", b"seen\0", Path("seen\0")):
        for use in (CuckooFilter.load, guira_filters.open, CuckooFilter(10).save):
            with pytest.raises(ValueError, match="null character"):
                use(path)


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="a folder as Linux has it, in which nobody can make a file")
def test_a_folder_that_takes_no_file_is_an_error_with_number_and_name():
    with pytest.raises(FileNotFoundError) as raised:
        CuckooFilter(10).save("/proc/file")
    assert (raised.value.errno, raised.value.filename) == (errno.ENOENT, "/proc/file")
    assert str(raised.value) == "[Errno 2] No such file or directory: '/proc/file'"


@pytest.mark.skipif(os.name == "nt", reason="there are no such files")
def test_what_is_no_regular_file_is_named_when_it_is_not_replaced(tmp_path):
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "nothing")
    os.mkfifo(tmp_path / "pipe")
    for path, words in ((os.devnull, "not a regular file"), (tmp_path / "pipe", "not a regular file"), (link, "symbolic link")):
        with pytest.raises(OSError, match=f"^{path}: .*{words}"):
            CuckooFilter(10).save(path)


def test_saving_replaces_a_file_whole_and_keeps_its_permissions(tmp_path):
    path = tmp_path / "seen"
    CuckooFilter(10).save(path)
    umask = os.umask(0)
    os.umask(umask)
    assert path.stat().st_mode & 0o777 == 0o666 & ~umask
    path.chmod(0o640)
    view = guira_filters.open(path)
    larger = CuckooFilter(10_000)
    larger.add("ani")
    larger.save(path)
    assert path.stat().st_mode & 0o777 == 0o640
    assert "ani" in guira_filters.open(path)
    # The view has the old file.
    assert view.capacity == 10
    assert "ani" not in view
    assert [file.name for file in tmp_path.iterdir()] == ["seen"]


class Interrupt(Exception):
    pass


@pytest.mark.skipif(os.name == "nt", reason="no file is locked there")
@pytest.mark.parametrize("is_interrupted", [True, False])
def test_saving_waits_for_the_lock_of_the_file_until_it_is_interrupted(tmp_path, is_interrupted):
    import fcntl

    path = tmp_path / "seen"
    CuckooFilter(10).save(path)
    old, seen = path.read_bytes(), CuckooFilter(1000)
    locked = path.open("rb")
    fcntl.flock(locked, fcntl.LOCK_EX)
    # What would wait for ever without it.
    release = threading.Timer(0.3 if not is_interrupted else 20, locked.close)

    def interrupt(*_):
        raise Interrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    release.start()
    try:
        if is_interrupted:
            signal.setitimer(signal.ITIMER_REAL, 0.2)
            with pytest.raises(Interrupt):
                seen.save(path)
            assert not locked.closed
            assert path.read_bytes() == old
        else:
            seen.save(path)
            assert locked.closed
            assert path.read_bytes() == seen.to_bytes()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        release.cancel()
        release.join()
        locked.close()
    assert [file.name for file in tmp_path.iterdir()] == ["seen"]
    seen.save(path)
    assert path.read_bytes() == seen.to_bytes()


@pytest.mark.skipif(os.name == "nt", reason="there are no such files")
@pytest.mark.parametrize("class_", [CuckooFilter, CuckooSet, CountingCuckooFilter, CuckooMap, ExpiringCuckooFilter])
@pytest.mark.parametrize("has_writer", [False, True])
def test_loading_a_pipe_waits_until_it_is_interrupted(tmp_path, class_, has_writer):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    signals = []

    def interrupt(*_):
        signals.append(None)
        # The first does not end the wait.
        if len(signals) == 2:
            raise Interrupt

    # Also a writer that writes nothing.
    opened = [os.open(path, os.O_RDWR)] if has_writer else []
    # What would wait for ever without it, for a writer or for its end.
    release = threading.Timer(20, lambda: os.close(opened.pop() if opened else os.open(path, os.O_RDWR)))
    before = signal.signal(signal.SIGALRM, interrupt)
    release.start()
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1, 0.1)
        with pytest.raises(Interrupt):
            class_.load(path)
        assert len(signals) == 2
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        release.cancel()
        release.join()
        for descriptor in opened:
            os.close(descriptor)


@pytest.mark.skipif(os.name == "nt", reason="there are no such files")
def test_a_filter_comes_through_a_pipe_beside_signals(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    seen = CuckooFilter(1_000_000)
    seen.update(range(1_000_000))
    writer = threading.Thread(target=lambda: path.write_bytes(seen.to_bytes()))
    before = signal.signal(signal.SIGALRM, lambda *_: None)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
        writer.start()
        assert CuckooFilter.load(path) == seen
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    writer.join()


@pytest.mark.skipif(os.name == "nt", reason="there are no such files")
def test_what_can_not_be_mapped_is_an_error_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", os.devnull):
        with pytest.raises(OSError, match=f"^{path}: not a regular file.*load it"):
            guira_filters.open(path)


def test_readers_find_a_whole_file_while_it_is_replaced(tmp_path):
    path = tmp_path / "seen"
    CuckooFilter(1000).save(path)
    ended = threading.Event()

    def write():
        for number in range(200):
            seen = CuckooFilter(1000 + number)
            seen.update(range(number))
            seen.save(path)
        ended.set()

    writer = threading.Thread(target=write)
    writer.start()
    while not ended.is_set():
        loaded = CuckooFilter.load(path)
        assert len(loaded) in (loaded.capacity - 1000, 0)
    writer.join()


def test_a_view_answers_what_the_filter_answers(tmp_path):
    seen = CuckooFilter(10_000)
    seen.update(range(10_000))
    seen.save(tmp_path / "seen")
    view = guira_filters.open(tmp_path / "seen")
    for name in ("capacity", "rate", "expected_rate", "load_factor", "nbytes", "bits_per_key"):
        assert getattr(view, name) == getattr(seen, name)
    keys = list(range(20_000))
    assert (view.contains_many(keys) == seen.contains_many(keys)).all()
    assert (view.count_many(keys) == seen.count_many(keys)).all()
    assert [key in view for key in keys] == [key in seen for key in keys]
    assert not hasattr(view, "add")
    assert len(view) == 10_000


def test_a_view_of_bytes_answers_what_the_filter_answers():
    seen = CuckooFilter(1000)
    seen.update(PRESENT)
    data = seen.to_bytes()
    shared = bytearray(data)
    for given in (data, memoryview(data), np.frombuffer(data, np.uint8), memoryview(shared).toreadonly()):
        view = guira_filters.CuckooFilterView.from_bytes(given)
        assert view.contains_many(PRESENT + ABSENT).tolist() == seen.contains_many(PRESENT + ABSENT).tolist()
        assert len(view) == len(PRESENT)
        view.verify()
    del view, given
    # They are not copied: what is written there is noticed.
    view = guira_filters.CuckooFilterView.from_bytes(memoryview(shared).toreadonly())
    shared[-1] ^= 1
    with pytest.raises(guira_filters.CorruptFileError):
        view.verify()
    # While there is a view, they stay.
    with pytest.raises(BufferError):
        shared.clear()
    del view
    shared.clear()


def test_a_view_is_refused_of_memory_that_may_change_or_is_no_file():
    data = CuckooFilter(1000).to_bytes()
    with pytest.raises(ValueError, match="toreadonly"):
        guira_filters.CuckooFilterView.from_bytes(bytearray(data))
    with pytest.raises(ValueError, match="side by side"):
        guira_filters.CuckooFilterView.from_bytes(memoryview(data)[::2])
    for file in (b"", data[:-1], data + b"x", b"x" + data[1:]):
        with pytest.raises(guira_filters.CorruptFileError):
            guira_filters.CuckooFilterView.from_bytes(file)
    with pytest.raises(guira_filters.WrongKindError):
        guira_filters.CuckooFilterView.from_bytes(guira_filters.CuckooMap(10).to_bytes())
    with pytest.raises(guira_filters.SecretKeyError):
        guira_filters.CuckooFilterView.from_bytes(CuckooFilter(10, hash="siphash", key=SECRET).to_bytes())
    assert len(guira_filters.CuckooFilterView.from_bytes(CuckooFilter(10, hash="siphash", key=SECRET).to_bytes(), SECRET)) == 0


def test_a_damaged_table_is_found_by_verify(tmp_path):
    path = tmp_path / "seen"
    seen = CuckooFilter(1000)
    seen.update(range(1000))
    whole = bytearray(seen.to_bytes())
    whole[-10] ^= 1
    path.write_bytes(whole)
    view = guira_filters.open(path)
    with pytest.raises(guira_filters.CorruptFileError):
        view.verify()
    with pytest.raises(guira_filters.CorruptFileError):
        CuckooFilter.load(path)


@pytest.mark.parametrize(
    ("file", "error"),
    [
        (b"", guira_filters.CorruptFileError),
        (CuckooFilter(1000).to_bytes()[:-1], guira_filters.CorruptFileError),
        (with_chunk(CuckooFilter(1000).to_bytes(), b"NORM", 1, b"\x01"), guira_filters.ParameterError),
        (CuckooFilter(1000, hash="siphash", key=SECRET).to_bytes(), guira_filters.SecretKeyError),
        (CuckooMap(1000).to_bytes(), guira_filters.WrongKindError),
        (with_chunk(ExpiringCuckooFilter(1000, lifetime=60).to_bytes(), b"NOTE", 0, b"["), guira_filters.GuiraError),
    ],
)
def test_the_error_for_a_file_names_it_and_otherwise_is_that_for_its_bytes(tmp_path, file, error):
    path = tmp_path / "seen.guira"
    path.write_bytes(file)
    classes = {CuckooFilter, CuckooSet, CountingCuckooFilter, CuckooMap, ExpiringCuckooFilter}
    uses = [(class_.load, class_.from_bytes) for class_ in classes] + [(guira_filters.open, guira_filters.CuckooFilterView.from_bytes)]
    for load, from_bytes in uses:
        try:
            from_bytes(file)
        except guira_filters.GuiraError as raised:
            text = str(raised)
        else:
            continue
        with pytest.raises(guira_filters.GuiraError) as raised:
            load(path)
        assert str(raised.value) == f"{path}: {text}"
    with pytest.raises(error, match="^/.*seen.guira: "):
        CuckooFilter.load(path)


def test_the_error_for_damage_that_verify_finds_names_the_file(tmp_path):
    path = tmp_path / "seen.guira"
    damaged = bytearray(CuckooFilter(1000).to_bytes())
    damaged[-10] ^= 1
    path.write_bytes(damaged)
    with pytest.raises(guira_filters.CorruptFileError, match=f"^{path}: damaged"):
        guira_filters.open(path).verify()
    with pytest.raises(guira_filters.CorruptFileError, match="^damaged"):
        guira_filters.CuckooFilterView.from_bytes(bytes(damaged)).verify()


def test_a_reader_that_shares_no_code_gives_the_same_answers(tmp_path):
    lines = PRESENT + ABSENT
    for one in made():
        path = tmp_path / "one"
        one.save(path)
        answer = subprocess.run(
            [sys.executable, READER, path], input="\n".join(lines), capture_output=True, text=True, check=True
        )
        found = [line.split("\t")[0] for line in answer.stdout.splitlines()]
        assert found == [line for line in lines if line in one]


SCRIPT = """
import sys, guira_filters
view, loaded = guira_filters.open(sys.argv[1]), guira_filters.CuckooFilter.load(sys.argv[1])
keys = [f"key {number}" for number in range(2000)] + list(range(2000))
assert view.contains_many(keys).tolist() == loaded.contains_many(keys).tolist() == [key in loaded for key in keys]
print(sum(key in view for key in keys), hash("key") % 1000)
"""


def test_other_processes_give_the_same_answers_whatever_their_hash_seed(tmp_path):
    seen = CuckooFilter(4000)
    seen.update([f"key {number}" for number in range(1000)])
    seen.update(range(1000))
    seen.save(tmp_path / "seen")
    hashes = set()
    for seed in ("0", "1", "42", "random"):
        environment = os.environ | {"PYTHONHASHSEED": seed}
        command = [sys.executable, "-c", SCRIPT, tmp_path / "seen"]
        answer = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.split()
        keys = [f"key {number}" for number in range(2000)] + list(range(2000))
        assert int(answer[0]) == sum(key in seen for key in keys)
        hashes.add(answer[1])
    assert len(hashes) > 1, "the hash of Python itself was to differ"


def count_present(arguments):
    pickled, path = arguments
    keys = [f"key {number}" for number in range(2000)]
    return sum(key in pickled for key in keys), sum(key in guira_filters.open(path) for key in keys)


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_workers_get_filters_by_pickle_and_by_path(tmp_path, method):
    seen = CuckooFilter(1000)
    seen.update([f"key {number}" for number in range(1000)])
    seen.save(tmp_path / "seen")
    expected = sum(f"key {number}" in seen for number in range(2000))
    with multiprocessing.get_context(method).Pool(2) as pool:
        answers = pool.map(count_present, [(seen, tmp_path / "seen")] * 4)
    assert answers == [(expected, expected)] * 4
