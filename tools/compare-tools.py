#!/usr/bin/env python3
"""Times guira's command-line tool beside others that make filters from lines, and prints tables of docs/comparison.md.

    tools/compare-tools.py PROGRAM [--keys N]

PROGRAM is guira, as `cargo build --release -p guira-cli` makes it. The others are Debian's: bloom (DCSO's, package
golang-github-dcso-bloom-cli) and pwqfilter (package passwdqc); if one is not installed, it says so and ends. Each is
called as its manual shows. Seconds are the least and the most of three runs, memory is the peak.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RUNS = 3
RATE = "0.001"


class Tool:
    """The commands of a tool, which a shell runs; {keys} and {filter} are files, {count} is the number of keys."""

    def __init__(self, name, package, build, check, version):
        self.name, self.package, self.build, self.check, self.version = name, package, build, check, version


def tools(guira):
    return [
        Tool(
            "guira, rate 0.001",
            None,
            f"{guira} build --quiet --force --rate {RATE} --output {{filter}} {{keys}}",
            f"{guira} check {{filter}} {{asked}}",
            f"{guira} --version | head -n 1",
        ),
        Tool(
            "bloom, rate 0.001",
            "golang-github-dcso-bloom-cli",
            f"rm -f {{filter}} && bloom create -p {RATE} -n {{count}} {{filter}} && bloom insert {{filter}} < {{keys}}",
            "bloom check {filter} < {asked}",
            "bloom --version",
        ),
        Tool(
            "guira, rate 1e-9",
            None,
            f"{guira} build --quiet --force --rate 1e-9 --output {{filter}} {{keys}}",
            f"{guira} check {{filter}} {{asked}}",
            None,
        ),
        Tool(
            "pwqfilter, its own rate",
            "passwdqc",
            # The least more is 2.04 % by its manual, and with that it gives up at some sizes.
            "pwqfilter --create={more} --optimize-fp-rate -o {filter} < {keys}",
            "pwqfilter -f {filter} < {asked}",
            "pwqfilter --version",
        ),
    ]


def write_lines(path, numbers):
    """Lines that look like mail addresses."""
    with open(path, "w") as file:
        for number in numbers:
            mixed = number * 0x9E3779B97F4A7C15 % (1 << 64)
            file.write(f"user{mixed:016x}@example.org\n")


def run(command):
    """Seconds, and the peak of memory in KiB, of a command of the shell."""
    start = time.perf_counter()
    child = subprocess.Popen(["sh", "-c", command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    seconds = time.perf_counter() - start
    return seconds, usage.ru_maxrss, os.waitstatus_to_exitcode(status)


def spread(numbers, form):
    least, most = (format(end(numbers), form) for end in (min, max))
    return least if least == most else f"{least} to {most}"


def output(command, **more):
    return subprocess.run(["sh", "-c", command], capture_output=True, **more)


def times(tool, folder, count):
    names = {"filter": folder / "filter", "keys": folder / "keys", "count": count, "more": count + count * 3 // 100}
    built = [run(tool.build.format(**names)) for _ in range(RUNS)]
    assert all(status == 0 for *_, status in built), tool.name
    asked = [run(tool.check.format(asked=folder / "half", **names)) for _ in range(RUNS)]
    # Counted by another process: what this one holds would be in the peak of the next child.
    absent, present = (
        int(output(tool.check.format(asked=folder / asked, **names) + " | wc -l").stdout) for asked in ("absent", "keys")
    )
    assert present == count, f"{tool.name}: {count - present} keys are lost"
    cells = [
        spread([seconds for seconds, *_ in built], ".2f"),
        spread([seconds for seconds, *_ in asked], ".2f"),
        str(max(memory for _, memory, _ in built) // 1024),
        str(max(memory for _, memory, _ in asked) // 1024),
        f"{8 * (folder / 'filter').stat().st_size / count:.2f}",
        f"{1000 * absent / count:.4f}",
    ]
    return f"| {tool.name} | " + " | ".join(cells) + " |"


def facts(tool, folder):
    """What happens with input and files that are other than they should be."""
    names = {"filter": folder / "small", "keys": folder / "small-keys", "count": 10_000, "more": 10_300}
    command = tool.build.replace(" build ", " build --capacity {count} ")

    def build(lines):
        (folder / "small-keys").write_bytes(b"".join(line + b"\n" for line in lines))
        return output(command.format(**names)).returncode

    def check(lines):
        (folder / "asked").write_bytes(b"".join(line + b"\n" for line in lines))
        return output(tool.check.format(asked=folder / "asked", **names))

    def number(number):
        return f"line{number}".encode()

    status = build([b"first", b"x" * 70_000, b"last"])
    found = check([b"last"]).stdout.startswith(b"last")
    long = f"status {status}, the line after it is {'found' if found else 'not found'}"
    build(map(number, range(10_000)))
    none = f"status {check([b'an absent line']).returncode}"
    with open(folder / "small", "r+b") as file:
        file.seek(-6000, os.SEEK_END)
        byte = file.read(1)[0]
        file.seek(-6000, os.SEEK_END)
        file.write(bytes([byte ^ 0xFF]))
    damaged = f"status {check([number(1)]).returncode}"
    # The file that is there was made for a tenth of them.
    status = build(map(number, range(100_000)))
    many = f"status {status}"
    if status == 0:
        answer = check(f"absent{n}".encode() for n in range(10_000)).stdout.count(b"\n")
        many += f", {answer / 100:.1f} % of absent lines found"
    return f"| {tool.name} | {long} | {none} | {damaged} | {many} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path)
    parser.add_argument("--keys", type=int, default=5_000_000)
    options = parser.parse_args()
    present = []
    for tool in tools(options.program.resolve()):
        if tool.package and not shutil.which(tool.build.split("&& ")[-1].split()[0]):
            sys.exit(f"{tool.name} is not installed; it is in Debian's package {tool.package}")
        present.append(tool)
    for tool in present:
        if tool.version:
            version = output(tool.version)
            print((version.stdout + version.stderr).decode().strip().splitlines()[0])
    with tempfile.TemporaryDirectory() as folder:
        folder, count = Path(folder), options.keys
        write_lines(folder / "keys", range(count))
        write_lines(folder / "half", range(count // 2, count // 2 + count))
        write_lines(folder / "absent", range(2 * count, 2 * count + count // 10))
        print(f"\n| {count:,} lines | build, s | check, s | build, MiB | check, MiB | bits per key | rate, % |")
        print("|---|---|---|---:|---:|---:|---:|")
        for tool in present:
            print(times(tool, folder, count), flush=True)
        print("\n| tool | a line of 70,000 bytes | no line is found | a byte of the file is another one | made for 10,000 lines, given 100,000 |")
        print("|---|---|---|---|---|")
        for tool in present:
            print(facts(tool, folder), flush=True)


if __name__ == "__main__":
    main()
