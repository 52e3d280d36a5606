"""How long each command stops the server for other clients, with filters of 50 MB and of 500 MB.

    GUIRA_MODULE=… python crates/guira-redis/tests/server/stops.py [NAME [MEGABYTES …]]

The name is the beginning of a server's name, such as "redis" or "valkey-9"; the first server that there is unless given.
Another process sends one PING after the other while a command runs, and the longest that it waits is the command's stop. Of
runs below a second there are three, of which the middle one counts, and of longer ones one. What the machine makes PING wait
while no command runs is in the first row.

A filter is "settled" where its table is not being doubled, "growing" just after that has begun, and "loading" where half of its
chunks have come. What the server does with a string of the same size stands beside what it does with a filter.
"""

import array
import multiprocessing
import os
import re
import socket
import statistics
import sys
import time

import redis

from servers import Server, programs

# What no command is to exceed, in milliseconds.
LIMIT, LIMIT_PER_100_MB = 5, 10
# Another run for a figure that is not the first of its kind must be so short, in seconds.
SHORT = 1.0
RUNS = 3


def ping(port, orders):
    """Sends PING without end; tells how long the longest took since it was asked last, in seconds."""
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        longest = 0.0
        while True:
            before = time.perf_counter()
            connection.sendall(b"PING\r\n")
            answer = connection.recv(64)
            after = time.perf_counter()
            assert answer == b"+PONG\r\n", answer
            longest = max(longest, after - before)
            if orders.poll():
                if orders.recv() == "end":
                    return
                orders.send(longest)
                longest = 0.0
            time.sleep(0.0002)


class Pinger:
    def __init__(self, port):
        self.orders, theirs = multiprocessing.Pipe()
        self.process = multiprocessing.get_context("fork").Process(target=ping, args=(port, theirs), daemon=True)
        self.process.start()

    def longest(self):
        self.orders.send("tell")
        return self.orders.recv()

    def end(self):
        self.orders.send("end")
        self.process.join()


class Raw:
    """Sends what a client in Python would take too long to write."""

    ITEM = b"$8\r\n" + bytes(8) + b"\r\n"
    BATCH = 20_000

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))

    def send(self, words, numbers):
        """A command with an item for each number behind its words."""
        items = bytearray(self.ITEM * len(numbers))
        digits = array.array("Q", numbers).tobytes()
        for place in range(8):
            items[4 + place :: len(self.ITEM)] = digits[place::8]
        parts = [b"*%d\r\n" % (len(words) + len(numbers)), *(b"$%d\r\n%s\r\n" % (len(word), word) for word in words), items]
        self.socket.sendall(b"".join(parts))

    def each(self, words, numbers):
        """The command again and again, until all numbers were sent; another is on its way while the server is busy."""
        starts = range(numbers.start, numbers.stop, self.BATCH)
        expected = 0
        for start in starts:
            batch = range(start, min(numbers.stop, start + self.BATCH))
            self.send(words, batch)
            if expected:
                self.receive(expected)
            expected = len(b"*%d\r\n" % len(batch)) + len(b":1\r\n") * len(batch)
        self.receive(expected)

    def receive(self, size):
        while size > 0:
            got = self.socket.recv(min(size, 1 << 20))
            assert got and b"-" not in got, got[:100]
            size -= len(got)

    def close(self):
        self.socket.close()


def item(number):
    return number.to_bytes(8, "little")


class Scene:
    """Filters of one size in one server, and what commands do with them."""

    def __init__(self, server, megabytes):
        self.server, self.megabytes = server, megabytes
        self.client = server.client()
        self.raw = Raw(server.port)
        self.run = self.client.execute_command
        self.reserve = self.measures()
        self.fill()

    def facts(self, key):
        found = self.run("CF.INFO", key)
        facts = {name.decode(): number for name, number in zip(found[::2], found[1::2])}
        facts["capacity"] = int(re.search(rb"\bcapacity:(\d+)", self.run("CF.DEBUG", key))[1])
        return facts

    def measures(self):
        """What reserves a filter that will have the size once half of its buckets became two."""
        capacity = self.megabytes * 500_000
        for _ in range(4):
            words = [capacity, "ERROR", "0.001", "MAXCAPACITY", 2 * capacity]
            self.run("CF.RESERVE", "try", *words)
            facts = self.facts("try")
            self.run("UNLINK", "try")
            capacity = int(capacity * self.megabytes * 1e6 / (1.5 * facts["Size"]))
        return words

    def fill(self):
        """A filter so full that the next item doubles its table."""
        self.run("CF.RESERVE", "full", *self.reserve)
        self.items = self.facts("full")["capacity"]
        self.raw.each([b"CF.INSERT", b"full", b"ITEMS"], range(self.items))
        self.next = self.items

    def grow(self, key):
        """A filter whose table is being doubled."""
        self.run("UNLINK", key)
        self.run("COPY", "full", key)
        size = self.facts(key)["Size"]
        while self.facts(key)["Size"] == size:
            self.raw.each([b"CF.INSERT", key.encode(), b"ITEMS"], range(self.next, self.next + 100))
            self.next += 100

    def settle(self, key):
        self.grow(key)
        self.run("CF.COMPACT", key)

    def numbers(self, count):
        self.next += count
        return range(self.next - count, self.next)

    def chunks(self, key):
        chunks, iterator = [], 0
        while True:
            iterator, chunk = self.run("CF.SCANDUMP", key, iterator)
            if iterator == 0:
                return chunks
            chunks.append((iterator, chunk))

    def load(self, key, chunks):
        for iterator, chunk in chunks:
            self.run("CF.LOADCHUNK", key, iterator, chunk)


class Table:
    """Measures, and keeps what was measured in the order of the table's rows."""

    def __init__(self):
        self.rows, self.sizes = {}, []

    def measure(self, pinger, size, name, state, command, prepare, runs):
        waits, seconds = [], 0.0
        while len(waits) < (runs if seconds < SHORT else 1):
            prepare()
            time.sleep(0.05)
            pinger.longest()
            begin = time.perf_counter()
            try:
                command()
            except redis.exceptions.ResponseError as error:
                assert state == "loading", error
            seconds = time.perf_counter() - begin
            # The server may be busy still, with what it frees.
            time.sleep(0.02)
            waits.append(pinger.longest())
        row = self.rows.setdefault((name, state), {})
        row[size] = 1000 * statistics.median(waits)
        print(f"{size} MB, {name}, {state}: {row[size]:.2f} ms of {seconds:.2f} s", file=sys.stderr, flush=True)

    def show(self):
        limits = {size: max(LIMIT, LIMIT_PER_100_MB * size / 100) for size in self.sizes}
        head = [f"{size} MB, at most {limits[size]:.0f} ms" for size in self.sizes]
        print("| command | state | " + " | ".join(head) + " | within |")
        print("|---|---|" + "---:|" * len(head) + "---|")
        for (name, state), row in self.rows.items():
            cells = [f"{row[size]:.2f}" if size in row else "" for size in self.sizes]
            within = "yes" if all(row[size] <= limits[size] for size in row) else "no"
            print(f"| {name} | {state} | " + " | ".join(cells) + f" | {within} |")


def of_items(scene, measure, state, key):
    """Commands that look at a few items, and what is told of a filter: a thousand of each, or a few with a thousand items."""
    run = scene.run

    def often(*words):
        def repeat():
            for number in scene.numbers(300):
                run(words[0], key, *words[1:], item(number))

        return repeat

    # What a client does meanwhile takes a processor of its own, and where there are two, the one that sends PING would wait for it.
    def many(*words, count=1000):
        words = [word.encode() for word in (words[0], key, *words[1:])]

        def repeat():
            for _ in range(5):
                scene.raw.each(words, scene.numbers(count))

        return repeat

    def stored():
        for number in range(300):
            run("CF.DEL", key, item(number))

    measure("`CF.ADD`", state, often("CF.ADD"))
    measure("`CF.ADDNX`", state, often("CF.ADDNX"))
    measure("`CF.INSERT` of 1,000", state, many("CF.INSERT", "ITEMS"))
    measure("`CF.INSERTNX` of 1,000", state, many("CF.INSERTNX", "ITEMS"))
    measure("`CF.EXISTS`", state, often("CF.EXISTS"))
    measure("`CF.MEXISTS` of 1,000", state, many("CF.MEXISTS"))
    measure("`CF.COUNT`", state, often("CF.COUNT"))
    measure("`CF.DEL`", state, stored)
    measure("`CF.MDEL` of 1,000", state, lambda: scene.raw.each([b"CF.MDEL", key.encode()], range(1000, 2000)))
    measure("`CF.INFO`", state, lambda: [run("CF.INFO", key) for _ in range(300)])
    measure("`CF.DEBUG`", state, lambda: [run("CF.DEBUG", key) for _ in range(300)])
    measure("`MEMORY USAGE`", state, lambda: [run("MEMORY", "USAGE", key) for _ in range(300)])


def of_server(scene, measure, state, key, prepare):
    """What the server does with any value; `prepare` brings it into its state."""
    run, kept = scene.run, {}
    other = f"{key}:other"

    def dump():
        kept["dump"] = run("DUMP", key)

    def gone():
        run("UNLINK", other)

    measure("`DUMP`", state, dump, prepare)
    measure("`RESTORE`", state, lambda: run("RESTORE", other, 0, kept["dump"]), gone)
    kept.clear()
    gone()
    prepare()
    measure("`COPY`", state, lambda: run("COPY", key, other), gone)
    measure("`UNLINK`", state, lambda: run("UNLINK", other), lambda: run("COPY", key, other))
    measure("`DEL`", state, lambda: run("DEL", other), lambda: run("COPY", key, other))
    measure("`DEBUG DIGEST-VALUE`", state, lambda: run("DEBUG", "DIGEST-VALUE", key), prepare)


def measure_size(server, table, megabytes):
    table.sizes.append(megabytes)
    scene = Scene(server, megabytes)
    run = scene.run
    pinger = Pinger(server.port)

    def measure(name, state, command, prepare=lambda: None, runs=RUNS):
        table.measure(pinger, megabytes, name, state, command, prepare, runs)

    def gone(*keys):
        return lambda: run("UNLINK", *keys)

    measure("nothing", "", lambda: time.sleep(1.0))

    # A filter that is being doubled, for commands that leave it so.
    scene.grow("growing")
    of_items(scene, measure, "growing", "growing")
    grown = lambda: scene.grow("growing")
    measure("`CF.RESERVE … LIKE`", "growing", lambda: run("CF.RESERVE", "new", "LIKE", "growing"), gone("new"))
    measure("`CF.SCANDUMP` 0", "growing", lambda: run("CF.SCANDUMP", "growing", 0), grown)
    measure("`CF.SCANDUMP`, next chunk", "growing", lambda: run("CF.SCANDUMP", "growing", 1), grown)
    of_server(scene, measure, "growing", "growing", grown)
    measure("`CF.COMPACT`", "growing", lambda: run("CF.COMPACT", "growing"), grown)

    def two():
        run("UNLINK", "new")
        run("CF.RESERVE", "new", "LIKE", "full")
        run("CF.INSERT", "new", "ITEMS", *map(item, scene.numbers(1000)))

    def two_growing():
        two()
        scene.grow("growing")

    measure("`CF.MERGE` with 1,000", "growing", lambda: run("CF.MERGE", "growing", "new"), two_growing)

    # The same, settled: its table was doubled.
    scene.settle("settled")
    run("UNLINK", "growing", "new")
    measure("`CF.RESERVE`", "", lambda: run("CF.RESERVE", "new", 2 * scene.reserve[0], "ERROR", "0.001", "EXPANSION", 0), gone("new"))
    measure("`CF.RESERVE … LIKE`", "settled", lambda: run("CF.RESERVE", "new", "LIKE", "settled"), gone("new"))
    of_items(scene, measure, "settled", "settled")
    measure("`CF.SCANDUMP` 0", "settled", lambda: run("CF.SCANDUMP", "settled", 0))
    measure("`CF.SCANDUMP`, each chunk", "settled", lambda: scene.chunks("settled"))
    of_server(scene, measure, "settled", "settled", lambda: None)
    measure("`CF.COMPACT`, nothing to give back", "settled", lambda: run("CF.COMPACT", "settled"))
    measure("`CF.MERGE` with 1,000", "settled", lambda: run("CF.MERGE", "settled", "new"), two)

    def again():
        run("UNLINK", "again")
        run("COPY", "settled", "again")

    # It takes a minute with more.
    if megabytes <= 100:
        measure("`CF.MERGE` with as many items", "settled", lambda: run("CF.MERGE", "again", "full"), again)
    scene.raw.each([b"CF.MDEL", b"settled"], range(2000, scene.items // 5))
    measure("`CF.COMPACT`, half to give back", "settled", lambda: run("CF.COMPACT", "again"), again)
    run("UNLINK", "again", "new")

    # Chunk by chunk.
    chunks = scene.chunks("settled")
    middle = len(chunks) // 2
    measure("`CF.LOADCHUNK`, first", "loading", lambda: scene.load("loading", chunks[:1]), gone("loading"))
    measure("`CF.LOADCHUNK`, each but the last", "loading", lambda: scene.load("loading", chunks[:-1]), gone("loading"))
    measure("`CF.LOADCHUNK`, last", "loading", lambda: scene.load("loading", chunks[-1:]), lambda: (run("UNLINK", "loading"), scene.load("loading", chunks[:-1])))
    run("UNLINK", "loading")
    scene.load("loading", chunks[:middle])
    for words in (["CF.ADD", "a"], ["CF.EXISTS", "a"], ["CF.INFO"], ["CF.DEBUG"], ["CF.COMPACT"], ["CF.SCANDUMP", 0]):
        name, rest = words[0], words[1:]
        measure(f"`{name}`, which is refused", "loading", lambda: run(name, "loading", *rest))
    of_server(scene, measure, "loading", "loading", lambda: None)
    del chunks

    # Alone, since SAVE saves all keys.
    run("UNLINK", "loading", "settled")
    scene.grow("growing")
    run("UNLINK", "full")
    size = scene.facts("growing")["Size"]
    measure("`SAVE`", "growing", lambda: run("SAVE"))
    run("CF.COMPACT", "growing")
    measure("`SAVE`", "settled", lambda: run("SAVE"))
    run("UNLINK", "growing")

    # A string of the same size.
    text = os.urandom(size)
    measure("`SET`", "string", lambda: run("SET", "string", text))
    del text
    measure("`GETRANGE` of 1 MiB", "string", lambda: run("GETRANGE", "string", 0, (1 << 20) - 1))
    of_server(scene, measure, "string", "string", lambda: None)
    measure("`SAVE`", "string", lambda: run("SAVE"))
    run("FLUSHALL")
    pinger.end()
    scene.raw.close()


def main():
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    sizes = [int(size) for size in sys.argv[2:]] or [50, 500]
    server_name, program = next((known, path) for known, path in programs().items() if known.startswith(name))
    server = Server(program, "--proto-max-bulk-len", "1gb", "--guira.memory-limit", "2gb")
    table = Table()
    begin = time.perf_counter()
    try:
        for size in sizes:
            measure_size(server, table, size)
    finally:
        server.close()
    print(f"{server_name}, {time.perf_counter() - begin:.0f} s\n")
    table.show()


if __name__ == "__main__":
    main()
