"""The library, the program, the server and the package give the same answers, on a million keys each, and the same bytes."""

import os
import shutil
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

import guira_filters

COUNT = 500_000
TEXTS = [str(number) for number in range(2 * COUNT)]
NUMBERS = np.arange(2 * COUNT, dtype=np.uint64)


def program(variable):
    path = os.environ.get(variable)
    if path is None:
        pytest.skip(f"{variable} does not name a program; crates/guira-python/test builds it")
    return path


def rust_answers(path, kind, keys):
    lines = "\n".join(str(key) for key in keys)
    answers = subprocess.run([program("GUIRA_ANSWERS"), path, kind], input=lines, capture_output=True, text=True, check=True)
    return [answer == "1" for answer in answers.stdout.strip()]


def program_lines(path, lines):
    """The lines that the program says may be in the set."""
    answers = subprocess.run([program("GUIRA_PROGRAM"), "check", path], input="\n".join(lines), capture_output=True, text=True)
    assert answers.returncode in (0, 1), answers.stderr
    return answers.stdout.splitlines()


@pytest.mark.parametrize("options", [{}, {"max_capacity": 4_000_000}, {"prefer": "space"}], ids=["speed", "growing", "space"])
def test_a_file_of_python_is_answered_alike_by_the_library_and_the_program(tmp_path, options):
    seen = guira_filters.CuckooFilter(2 * COUNT, **options)
    seen.update(TEXTS[:COUNT])
    seen.update(NUMBERS[:COUNT])
    path = tmp_path / "seen"
    seen.save(path)
    texts, numbers = seen.contains_many(TEXTS), seen.contains_many(NUMBERS)
    assert texts[:COUNT].all()
    assert numbers[:COUNT].all()
    assert rust_answers(path, "text", TEXTS) == texts.tolist()
    assert rust_answers(path, "u64", NUMBERS) == numbers.tolist()
    negative = range(-1000, 1000)
    assert rust_answers(path, "i64", negative) == seen.contains_many(negative).tolist()
    assert program_lines(path, TEXTS) == [text for text, present in zip(TEXTS, texts) if present]


def test_the_program_has_the_commands_for_the_files_of_each_class_that_the_readme_says(tmp_path):
    readme = " ".join((Path(__file__).parents[1] / "README.md").read_text().split())
    assert "reads and changes the files of `CuckooFilter` and `ExpiringCuckooFilter`, and looks keys up in those of" in readme
    assert "For the files of `CountingCuckooFilter` and `CuckooMap` it has only `guira info` and `guira verify`." in readme
    keys, path = tmp_path / "keys", tmp_path / "filter"
    keys.write_text("ani\n")
    look, change = ["info", "verify", "check", "count"], ["add", "remove"]
    for filter_, expected in (
        (guira_filters.CuckooFilter(100), look + change),
        (guira_filters.ExpiringCuckooFilter(100, lifetime=1000), look + change),
        (guira_filters.CuckooSet(100), look),
        (guira_filters.CountingCuckooFilter(100), ["info", "verify"]),
        (guira_filters.CuckooMap(100), ["info", "verify"]),
    ):
        filter_.update({"ani": 1} if isinstance(filter_, guira_filters.CuckooMap) else ["ani"])
        filter_.save(path)
        for command in look + change:
            arguments = {"info": [], "verify": [], "count": ["ani"]}.get(command, [keys])
            ran = subprocess.run([program("GUIRA_PROGRAM"), command, path, *arguments], capture_output=True, text=True)
            assert ran.returncode == (0 if command in expected else 2), (filter_, command, ran.stderr)


def test_keys_that_expire_are_answered_alike_by_the_program(tmp_path):
    """Keys of two days, at times of each."""
    path, start = tmp_path / "seen", 1_800_000_000
    seen = guira_filters.ExpiringCuckooFilter(COUNT, lifetime=24 * 3600, now=start)
    for hour in range(48):
        seen.update(TEXTS[hour * 1000 : hour * 1000 + 1000], now=start + hour * 3600)
    seen.save(path)
    info = [program("GUIRA_PROGRAM"), "info", path, "--now", str(start + 47 * 3600)]
    shown = subprocess.run(info, capture_output=True, text=True)
    assert ("of the clock" in shown.stdout, shown.returncode) == (True, 0)
    for hours in (47, 50, 70):
        now = start + hours * 3600
        check = [program("GUIRA_PROGRAM"), "check", path, "--now", str(now)]
        answers = subprocess.run(check, input="\n".join(TEXTS[:60_000]), capture_output=True, text=True)
        alive = seen.contains_many(TEXTS[:60_000], now=now)
        assert answers.stdout.splitlines() == [text for text, is_alive in zip(TEXTS, alive) if is_alive]
        assert alive[(hours - 23) * 1000 : 48_000].all()


def test_a_file_of_the_program_whose_keys_expire_is_read(tmp_path):
    path, now = tmp_path / "seen", 1_800_000_000
    built = subprocess.run(
        [program("GUIRA_PROGRAM"), "build", "--lifetime", "24h", "--now", str(now), "--rate", "0.001", "--output", path],
        input="\n".join(TEXTS[:1000]), capture_output=True, text=True,
    )  # fmt: skip
    assert built.returncode == 0, built.stderr
    loaded = guira_filters.ExpiringCuckooFilter.load(path)
    assert (loaded.clock, loaded.time) == (True, now)
    assert loaded.contains_many(TEXTS[:1000], now=now + 3600).all()
    assert not loaded.contains_many(TEXTS[:1000], now=now + 27 * 3600).any()
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == path.read_bytes()


def test_a_file_of_the_library_is_read_and_has_the_bytes_of_python(tmp_path):
    path = tmp_path / "seen"
    subprocess.run([program("GUIRA_ANSWERS"), path, "build"], check=True)
    loaded = guira_filters.CuckooFilter.load(path)
    made = guira_filters.CuckooFilter(2 * COUNT)
    for number in range(COUNT):
        made.add(number)
        made.add(str(number))
    assert made.to_bytes() == path.read_bytes()
    assert made == loaded
    assert rust_answers(path, "text", TEXTS) == guira_filters.open(path).contains_many(TEXTS).tolist()


def test_a_file_of_the_program_is_answered_alike(tmp_path):
    path = tmp_path / "seen"
    command = [program("GUIRA_PROGRAM"), "build", "--rate", "0.001", "--output", path]
    subprocess.run(command, input="\n".join(TEXTS[:COUNT]), text=True, check=True, capture_output=True)
    loaded, view = guira_filters.CuckooFilter.load(path), guira_filters.open(path)
    answers = loaded.contains_many(TEXTS)
    assert answers[:COUNT].all()
    assert (view.contains_many(TEXTS) == answers).all()
    assert program_lines(path, TEXTS) == [text for text, present in zip(TEXTS, answers) if present]


@pytest.fixture
def server(tmp_path):
    """A server with the module, and a client of it."""
    redis = pytest.importorskip("redis")
    if shutil.which("redis-server") is None:
        pytest.skip("there is no redis-server")
    path = tmp_path / "socket"
    command = ["redis-server", "--port", "0", "--unixsocket", path, "--save", "", "--dir", tmp_path]
    process = subprocess.Popen([*command, "--loadmodule", program("GUIRA_MODULE")], stdout=subprocess.DEVNULL)
    try:
        client = redis.Redis(unix_socket_path=str(path))
        for _ in range(100):
            if path.exists():
                break
            time.sleep(0.1)
        client.ping()
        yield client
    finally:
        process.terminate()
        process.wait()


def test_a_growing_filter_goes_to_the_server_and_comes_back(server):
    seen = guira_filters.CuckooFilter(COUNT, max_capacity=4_000_000)
    seen.update(TEXTS[:COUNT])
    whole = seen.to_bytes()
    # A dump has the number of removals, which Python does not count, before the header; position 1 is where the table begins.
    server.execute_command("CF.LOADCHUNK", "seen", 1, bytes(8) + whole[:128])
    end = 128
    while end < len(whole):
        chunk = whole[end : end + (1 << 20)]
        end += len(chunk)
        server.execute_command("CF.LOADCHUNK", "seen", 1 + end - 128, chunk)
    answers = []
    for first in range(0, len(TEXTS), 10_000):
        answers += server.execute_command("CF.MEXISTS", "seen", *TEXTS[first : first + 10_000])
    assert [bool(answer) for answer in answers] == seen.contains_many(TEXTS).tolist()

    server.execute_command("CF.ADD", "seen", "ani")
    seen.add("ani")
    position, dumped = 0, []
    while True:
        position, chunk = server.execute_command("CF.SCANDUMP", "seen", position)
        if position == 0:
            break
        dumped.append(chunk)
    assert guira_filters.CuckooFilter.from_bytes(dumped[0][8:] + b"".join(dumped[1:])) == seen
