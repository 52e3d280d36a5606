"""Instructions per command, those of the module and those of all, by valgrind's callgrind: they don't scatter.

    GUIRA_MODULE=… python crates/guira-redis/tests/server/instructions.py [NAME]

The name is the beginning of a server's name; the first server that there is unless given. Items of 17 bytes, half of which are
there where they are looked up, in filters for a million of them that hash with xxh3 or, where it says so, with a secret key.
PING shows what the server itself takes. The C library, for which the module copies bytes and takes memory, is in "all" only.
"""

import glob
import os
import re
import subprocess
import sys

# Counting begins where a case does.
os.environ["GUIRA_WRAPPER"] = "valgrind --tool=callgrind --instr-atstart=no --callgrind-out-file=callgrind"

from servers import MODULE, Server, programs

COMMANDS = 2000
ITEMS = 1_000_000
OBJECT = re.compile(r"c?ob=\((\d+)\)(?: (.*))?")


def item(number):
    return f"item:{number:012}"


def items(number, count):
    return [item(number * count + index) for index in range(count)]


CASES = {
    "PING": lambda number: ["PING"],
    "CF.ADD": lambda number: ["CF.ADD", "added", item(number)],
    "CF.ADD, secret key": lambda number: ["CF.ADD", "secret", item(number)],
    "CF.EXISTS": lambda number: ["CF.EXISTS", "half", item(number)],
    "CF.EXISTS, secret key": lambda number: ["CF.EXISTS", "secret", item(2 * number)],
    "CF.INSERT of one": lambda number: ["CF.INSERT", "added", "ITEMS", item(ITEMS + number)],
    "CF.INSERTNX of one": lambda number: ["CF.INSERTNX", "added", "ITEMS", item(2 * ITEMS + number)],
    "CF.INSERT of ten": lambda number: ["CF.INSERT", "added", "ITEMS", *items(number, 10)],
    "CF.MEXISTS of one": lambda number: ["CF.MEXISTS", "half", item(number)],
    "CF.MEXISTS of ten": lambda number: ["CF.MEXISTS", "half", *items(number, 10)],
    "CF.COUNT": lambda number: ["CF.COUNT", "half", item(number)],
    "CF.DEL": lambda number: ["CF.DEL", "added", item(number)],
    "CF.ADD to a new key": lambda number: ["CF.ADD", f"new:{number}", "item"],
}


def counted(path):
    """Instructions by the file whose code they are."""
    totals, names, current, is_call = {}, {}, None, False
    with open(path) as lines:
        for line in lines:
            if match := OBJECT.match(line):
                number, name = match.groups()
                names.setdefault(number, name)
                if line.startswith("ob="):
                    current = names[number]
            elif line.startswith("calls="):
                is_call = True
            elif re.match(r"[+*\-\d]", line):
                # The line behind a call has what the callee took, which is counted there.
                if not is_call:
                    totals[current] = totals.get(current, 0) + int(line.split()[1])
                is_call = False
    return totals


def control(server, *words):
    subprocess.run(["callgrind_control", *words, str(server.process.pid)], check=True, capture_output=True)


def main():
    found = programs()
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    name = next(known for known in found if known.startswith(wanted))
    module = os.path.realpath(MODULE)
    server = Server(found[name])
    try:
        client = server.client()
        for key, hashing in [("added", ["HASH", "xxh3"]), ("half", ["HASH", "xxh3"]), ("secret", [])]:
            client.execute_command("CF.RESERVE", key, ITEMS, "EXPANSION", 0, *hashing)
        client.execute_command("CF.INSERT", "half", "ITEMS", *map(item, range(COMMANDS // 2)))
        print(f"| {name}, instructions per command | of the module | of all |\n|---|---:|---:|")
        for case, words in CASES.items():
            pipeline = client.pipeline(transaction=False)
            for number in range(COMMANDS):
                pipeline.execute_command(*words(number))
            control(server, "-i", "on")
            pipeline.execute()
            control(server, "-i", "off")
            control(server, "-d")
            newest = max(glob.glob(os.path.join(server.folder, "callgrind.*")), key=os.path.getmtime)
            totals = counted(newest)
            of_module = sum(count for path, count in totals.items() if path and os.path.realpath(path) == module)
            print(f"| {case} | {of_module / COMMANDS:,.0f} | {sum(totals.values()) / COMMANDS:,.0f} |", flush=True)
    finally:
        server.close()


if __name__ == "__main__":
    main()
