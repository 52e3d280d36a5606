#!/usr/bin/env python3
"""Times `guira unique` beside awk and sort, and holds it to an exact program.

    tools/compare-unique.py PROGRAM [--lines N] [--day N]

PROGRAM is guira, as `cargo build --release -p guira-cli` makes it. First N lines of 25 bytes, of which half came before. What
guira prints is compared with what awk prints: lines may be missing at the rate, and no others. Then a made log of a day with N
lines, of which each is to be printed that has not come within an hour; they are read beside a map from line to time. Seconds are the
least and the most of three runs, memory is the peak. It takes 90 bytes of memory for each new line, most of it awk's, and six minutes
with the usual numbers, ten million lines and twenty.
"""

import argparse
import math
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RUNS = 3
# What `guira unique` has unless another is given.
RATE = 1e-6
HOUR = 3600
# Unless given, a twelfth of an hour: docs/tool.md.
RESOLUTION = 300


def write_lines(path, count):
    """Lines of which every second one, as they are counted, is one of those before."""
    chosen = random.Random(1)
    with open(path, "w") as file:
        new = 0
        for number in range(count):
            if number % 2 == 0:
                line, new = new, new + 1
            else:
                line = int(chosen.random() * new)
            file.write(f"{line * 0x9E3779B97F4A7C15F39CC0605CEDC835 % (1 << 96):024x}\n")


def write_day(path, count):
    """A second of the day, a tab and a number that came lately, long ago, or never."""
    chosen = random.Random(2)
    with open(path, "w") as file:
        for number in range(count):
            kind = chosen.random()
            if kind < 0.5:
                line = number
            elif kind < 0.75:
                line = max(0, number - int(chosen.random() * 100_000))
            else:
                line = int(chosen.random() * (number + 1))
            file.write(f"{1_795_600_800 + number * 86_400 // count}\t{line}\n")


def run(command):
    """Seconds, and the peak of memory in KiB, of a command of the shell."""
    start = time.perf_counter()
    child = subprocess.Popen(["sh", "-c", command], stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    seconds = time.perf_counter() - start
    assert os.waitstatus_to_exitcode(status) == 0, command
    return seconds, usage.ru_maxrss


def spread(numbers):
    least, most = (format(end(numbers), ".2f") for end in (min, max))
    return least if least == most else f"{least} to {most}"


def row(name, runs, wrong):
    print(f"| {name} | {spread([seconds for seconds, _ in runs])} | {max(memory for _, memory in runs) / 1024:.0f} | {wrong} |", flush=True)


def most_wrong(new, rate):
    """Six standard deviations above the mean."""
    return new * rate + 6 * math.sqrt(new * rate) + 6


def missing(printed, exact):
    """How many lines of one file another one, in which nothing else is to be, lacks."""
    count = 0
    with open(printed, "rb") as printed, open(exact, "rb") as exact:
        line = printed.readline()
        for wanted in exact:
            if line == wanted:
                line = printed.readline()
            else:
                count += 1
        assert not line, f"{line} was printed twice, or out of order"
    return count


def compare_lines(guira, folder, count):
    write_lines(folder / "lines", count)
    commands = {
        "guira unique": f"exec {guira} unique {folder}/lines > {folder}/of-guira",
        "awk '!seen[$0]++'": f"exec awk '!seen[$0]++' {folder}/lines > {folder}/of-awk",
        "sort -u": f"LC_ALL=C exec sort -u {folder}/lines > {folder}/of-sort",
    }
    runs = {name: [] for name in commands}
    for _ in range(RUNS):
        for name, command in commands.items():
            runs[name].append(run(command))
    left_out = missing(folder / "of-guira", folder / "of-awk")
    assert left_out <= most_wrong(count / 2, RATE), left_out
    print(f"| {count:,} lines of 25 bytes, half of them repeated | s | memory, MiB | left out wrongly |")
    print("|---|---|---:|---:|")
    for name in commands:
        row(name, runs[name], left_out if name == "guira unique" else 0)
    for name in ["of-guira", "of-awk", "of-sort", "lines"]:
        (folder / name).unlink()


def compare_day(guira, folder, count):
    write_day(folder / "day", count)
    command = f"exec {guira} unique --for 1h --time-field 1 {folder}/day > {folder}/of-guira"
    runs = [run(command) for _ in range(RUNS)]
    came, new, left_out = {}, 0, 0
    with open(folder / "day", "rb") as day, open(folder / "of-guira", "rb") as printed:
        next_printed = printed.readline()
        for line in day:
            second, text = line.split(b"\t")
            second = int(second)
            is_printed = line == next_printed
            if is_printed:
                next_printed = printed.readline()
            seen = came.get(text)
            is_new = seen is None or second - seen >= HOUR + RESOLUTION
            assert not is_printed or seen is None or second - seen >= HOUR, f"{line} was printed again after {second - seen} s"
            new += is_new
            left_out += is_new and not is_printed
            if is_printed or is_new:
                came[text] = second
        assert not next_printed, f"{next_printed} is no line of the log, or out of order"
    assert left_out <= most_wrong(new, RATE), left_out
    print(f"\n| a day's log of {count:,} lines | s | memory, MiB | left out wrongly |")
    print("|---|---|---:|---:|")
    row("guira unique --for 1h --time-field 1", runs, f"{left_out} of {new:,}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path)
    parser.add_argument("--lines", type=int, default=10_000_000)
    parser.add_argument("--day", type=int, default=20_000_000)
    options = parser.parse_args()
    if not options.program.exists():
        sys.exit(f"{options.program} is not there: cargo build --release -p guira-cli")
    with tempfile.TemporaryDirectory() as folder:
        compare_lines(options.program.resolve(), Path(folder), options.lines)
        compare_day(options.program.resolve(), Path(folder), options.day)


if __name__ == "__main__":
    main()
