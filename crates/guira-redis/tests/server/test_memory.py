"""Each allocation of the module fails, alone or with all that follow: the command is refused with an error that says so, nothing has
changed, here or on a replica, the server goes on, and the command is done once there is memory again.

`failing_memory.c` takes the place of the server's allocator. By default some fifty of the cases of each kind are tried, or all where they
are fewer; `GUIRA_ALLOCATIONS=all` tries all of them, and `GUIRA_ALLOCATIONS=N` every N-th. `-s` shows how many they are.
"""

import os

import pytest
import redis

import redisbloom
from servers import MODULE, Server, follow, until

KEY = "00112233445566778899aabbccddeeff"
ALONE, LASTING = 1, 1 << 40
STEP = os.environ.get("GUIRA_ALLOCATIONS", "")

# Milliseconds at which items that expire are written.
TIME = 1_700_000_000_000
# The seconds for which they live.
LONG = 4_000_000_000


def items(count, start=0):
    return [f"item-{item}" for item in range(start, start + count)]


# The scenes in which some of the items may be stored and the others not, and these items.
PARTLY = {
    "INSERT that grows": items(700, start=70),
    "INSERTNX that grows": items(700, start=70),
    "INSERT into an import": items(600),
    "INSERT AT": items(900, start=100),
    "INSERTNX AT": items(900, start=50),
    "INSERT of several to a new key": items(40),
}


def run(*lines):
    return lambda client: [client.execute_command(*line) for line in lines]


def reserve(*options):
    return run(["CF.RESERVE", "key", *options])


def fill(count, *options):
    return run(["CF.RESERVE", "key", *options], ["CF.INSERT", "key", "ITEMS", *items(count)])


def expiring(count, capacity=1000):
    options = ["ERROR", "0.0001", "KEY", KEY, "LIFETIME", LONG, "AT", TIME]
    lines = [["CF.INSERT", "key", "AT", TIME + 5, "ITEMS", *items(count)]] if count else []
    return run(["CF.RESERVE", "key", capacity, *options], *lines)


def dumped(client):
    """The chunks of the filter, with the positions that load them."""
    position, chunks = 0, []
    while True:
        position, chunk = client.execute_command("CF.SCANDUMP", "key", position)
        if position == 0:
            return chunks
        chunks.append((position, chunk))


def all_but_last_chunk(prepare):
    """All chunks of a filter but the last are there, under another key."""

    def prepared(client):
        prepare(client)
        *chunks, client.last = dumped(client)
        for position, chunk in chunks:
            client.execute_command("CF.LOADCHUNK", "copy", position, chunk)

    return prepared


def load_last_chunk(client):
    return [client.execute_command("CF.LOADCHUNK", "copy", *client.last)]


def first_chunk(prepare):
    def prepared(client):
        prepare(client)
        client.first = dumped(client)[0]
    return prepared


def load_first_chunk(client):
    return [client.execute_command("CF.LOADCHUNK", "copy", *client.first)]


def imported(client):
    for position, chunk in redisbloom.example(64, 2, 2, items=600).chunks():
        client.execute_command("CF.LOADCHUNK", "key", position, chunk)


def full_import(client):
    """A filter of RedisBloom with room for no more items in any layer."""
    example = redisbloom.Filter(16, 2, 2)
    for item in items(1000):
        if all(slot for layer in example.layers for slot in layer):
            break
        if example.replace(item.encode(), 0, example.fingerprint(item.encode())):
            example.items += 1
    for position, chunk in example.chunks():
        client.execute_command("CF.LOADCHUNK", "key", position, chunk)


def two(count, *options):
    """Two filters that can be merged."""
    return run(["CF.RESERVE", "key", *options], ["CF.RESERVE", "other", "LIKE", "key"],
               ["CF.INSERT", "key", "ITEMS", *items(count)],
               ["CF.INSERT", "other", "ITEMS", *items(count, start=count)])


def payload(prepare):
    def prepared(client):
        prepare(client)
        client.payload = client.dump("key")
    return prepared


def restore(client):
    return [client.restore("copy", 0, client.payload)]


SCENES = {
    "RESERVE": (run(), reserve(1000, "KEY", KEY)),
    "RESERVE of a key that is replicated": (run(), reserve(100, "ERROR", "0.003", "MAXCAPACITY", 5000, "HASH", "xxh3")),
    "RESERVE, fixed": (run(), reserve(1000, "EXPANSION", 0, "KEY", KEY)),
    "RESERVE, large": (run(), reserve(2_000_000, "KEY", KEY)),
    "RESERVE LIKE": (fill(500, 100), run(["CF.RESERVE", "other", "LIKE", "key"])),
    "RESERVE LIFETIME": (run(), expiring(0)),
    "RESERVE LIKE, LIFETIME": (expiring(100), run(["CF.RESERVE", "other", "LIKE", "key"])),
    "ADD to a new key": (run(), run(["CF.ADD", "key", "item"])),
    "ADDNX to a new key": (run(), run(["CF.ADDNX", "key", "item"])),
    "INSERT of one to a new key": (run(), run(["CF.INSERT", "key", "CAPACITY", 300, "HASH", "xxh3", "ITEMS", "item"])),
    "INSERT of several to a new key": (run(), run(["CF.INSERT", "key", "ITEMS", *items(40)])),
    "INSERT that grows": (fill(70, 64, "KEY", KEY), run(["CF.INSERT", "key", "ITEMS", *items(700, start=70)])),
    "INSERTNX that grows": (fill(70, 64, "KEY", KEY), run(["CF.INSERTNX", "key", "ITEMS", *items(700, start=70)])),
    "INSERT into a full filter": (fill(10, 100, "EXPANSION", 0, "KEY", KEY), run(["CF.INSERT", "key", "ITEMS", *items(300)])),
    "MEXISTS, EXISTS, COUNT": (fill(300, 100), run(["CF.EXISTS", "key", "item-1"], ["CF.COUNT", "key", "item-1"],
                                                   ["CF.MEXISTS", "key", *items(600)])),
    "INFO and DEBUG": (fill(300, 100), run(["CF.INFO", "key"], ["CF.DEBUG", "key"])),
    "INFO and DEBUG, LIFETIME": (expiring(10), run(["CF.INFO", "key"], ["CF.DEBUG", "key"])),
    "DEL": (fill(300, 100), run(["CF.DEL", "key", "item-1"])),
    "MDEL": (fill(300, 100), run(["CF.MDEL", "key", *items(200)])),
    "COMPACT": (lambda client: (fill(5000, 100, "KEY", KEY)(client), run(["CF.MDEL", "key", *items(4900)])(client)),
                run(["CF.COMPACT", "key"])),
    "SCANDUMP": (fill(3000, 100), lambda client: dumped(client)),
    "SCANDUMP, LIFETIME": (expiring(300), lambda client: dumped(client)),
    "LOADCHUNK, the first": (first_chunk(fill(3000, 100)), load_first_chunk),
    "LOADCHUNK, the last": (all_but_last_chunk(fill(3000, 100)), load_last_chunk),
    "LOADCHUNK, the last of several": (all_but_last_chunk(fill(3000, 1_000_000)), load_last_chunk),
    "LOADCHUNK, the last, LIFETIME": (all_but_last_chunk(expiring(300)), load_last_chunk),
    "LOADCHUNK, the first of RedisBloom": (first_chunk(imported), load_first_chunk),
    "LOADCHUNK, the last of RedisBloom": (all_but_last_chunk(imported), load_last_chunk),
    "MERGE": (two(500, 1000), run(["CF.MERGE", "key", "other"])),
    "MERGE into a new key": (two(500, 1000), run(["CF.MERGE", "new", "key", "other"])),
    "MERGE that grows": (two(900, 100), run(["CF.MERGE", "key", "other"])),
    "MERGE of large ones": (two(900, 2_000_000, "EXPANSION", 0), run(["CF.MERGE", "key", "other"])),
    "MERGE, LIFETIME": (lambda client: (expiring(100)(client), run(
        ["CF.RESERVE", "other", "LIKE", "key"], ["CF.INSERT", "other", "AT", TIME + 9, "ITEMS", *items(200, start=100)])(client)),
        run(["CF.MERGE", "key", "other"])),
    "COPY": (fill(3000, 100), run(["COPY", "key", "copy"])),
    "COPY, LIFETIME": (expiring(100), run(["COPY", "key", "copy"])),
    "COPY of an import": (imported, run(["COPY", "key", "copy"])),
    "COPY of a part": (lambda client: (first_chunk(fill(300, 100))(client), run(["DEL", "key"])(client),
                                       client.execute_command("CF.LOADCHUNK", "key", *client.first)),
                       run(["COPY", "key", "copy"])),
    "DUMP": (fill(3000, 100), lambda client: [client.dump("key")]),
    "DUMP, LIFETIME": (expiring(100), lambda client: [client.dump("key")]),
    "DUMP of an import": (imported, lambda client: [client.dump("key")]),
    "RESTORE": (payload(fill(3000, 100)), restore),
    "RESTORE, LIFETIME": (payload(expiring(100)), restore),
    "RESTORE of an import": (payload(imported), restore),
    "ADD to an import": (full_import, run(["CF.ADD", "key", "another"])),
    "INSERT into an import": (imported, run(["CF.INSERT", "key", "ITEMS", *items(600)])),
    "MDEL and COMPACT of an import": (imported, run(["CF.MDEL", "key", *items(500)], ["CF.COMPACT", "key"])),
    "INSERT AT": (expiring(100), run(["CF.INSERT", "key", "AT", TIME + 5, "ITEMS", *items(900, start=100)])),
    "INSERTNX AT": (expiring(100), run(["CF.INSERTNX", "key", "AT", TIME + 5, "ITEMS", *items(900, start=50)])),
    "DEL AT": (expiring(100), run(["CF.DEL", "key", "item-1", "AT", TIME + 5])),
    "a command that is refused": (run(), run(["CF.INSERT", "key", "NOCREATE", "ITEMS", "item"])),
    "a command that is none": (run(), run(["CF.RESERVE", "key", "x"])),
    "a full filter": (fill(300, 100, "EXPANSION", 0, "KEY", KEY), run(["CF.ADD", "key", "item-1"])),
}


@pytest.fixture(scope="module")
def failing(compiled):
    """A module that loads the module, and has its memory fail."""
    return compiled("failing_memory", "-ldl")


class Pair:
    """A server whose module has memory that fails, and its replica, whose memory does not."""

    def __init__(self, program, failing):
        # Items of one name have one digest in every filter.
        options = ["--guira.hash", "xxh3", "--repl-diskless-sync-delay", "0", "--crash-log-enabled", "no"]
        self.primary = Server(program, *options, module=failing, arguments=[MODULE])
        self.replica = Server(program, *options)
        self.client = self.primary.client()
        follow(self.replica, self.primary)
        self.copy = self.replica.client()
        self.tried = 0

    def values(self):
        """All keys and values, which the replica has too."""
        here = {key: self.client.dump(key) for key in self.client.keys()}
        assert self.client.wait(1, 60_000) == 1, "the replica is in step"
        assert {key: self.copy.dump(key) for key in self.copy.keys()} == here, "the replica has other values"
        return here

    def close(self):
        self.primary.close()
        self.replica.close()


@pytest.fixture(scope="module")
def pair(program, failing):
    pair = Pair(program, failing)
    yield pair
    pair.close()
    print(f"{len(SCENES)} scenes, {pair.tried} cases")


def outcome(scene, client):
    try:
        return scene(client)
    except redis.exceptions.ResponseError as error:
        return str(error)


# What the server itself says where a function of the module returned nothing.
REFUSALS = ["no memory", "failed to copy", "Bad data format"]


def cases(made):
    """Which allocations fail, of so many."""
    step = {"": max(1, made // 50), "all": 1}.get(STEP) or int(STEP)
    return range(0, made, step)


def begin(pair, prepare):
    """The values before the command, which are the same each time."""
    client = pair.client
    client.flushall()
    # What was planned for earlier filters is forgotten.
    for capacity in range(7000, 7008):
        client.execute_command("CF.RESERVE", f"plan-{capacity}", capacity)
        client.delete(f"plan-{capacity}")
    prepare(client)
    return pair.values()


def stored_items(pair):
    return int(pair.copy.cf().info("key")["insertedNum"]) if pair.copy.exists("key") else 0


def is_partly_done(pair, some_items, answers, before):
    """Whether some items were stored, each of them is found, and no others are counted."""
    stored = [item for item, answer in zip(some_items, answers) if answer >= 0]
    added = sum(answer > 0 for answer in answers)
    are_found = all(pair.client.execute_command("CF.MEXISTS", "key", *stored))
    return -1 in answers and added > 0 and are_found and stored_items(pair) == before + added


@pytest.mark.parametrize("name", SCENES)
def test_without_memory_a_command_is_refused_and_nothing_has_changed(pair, name):
    prepare, scene = SCENES[name]
    client = pair.client
    before = begin(pair, prepare)
    client.execute_command("FAIL.FROM", 0, 0)
    done = outcome(scene, client)
    made, _ = client.execute_command("FAIL.END")
    after = pair.values()
    refused = partly = anyway = 0
    is_begun = False
    for times in [ALONE, LASTING]:
        for first in cases(made):
            if not is_begun:
                assert begin(pair, prepare) == before
                is_begun = True
            count = stored_items(pair) if name in PARTLY else 0
            case = f"{name}: allocation {first} of {made}{' and all that follow' if times == LASTING else ''}"
            client.execute_command("FAIL.FROM", first, times)
            answer = outcome(scene, client)
            _, failed = client.execute_command("FAIL.END")
            values = pair.values()
            if failed == 0:
                # libc gives a piece that is a little larger now and then, so it made fewer.
                assert (answer, values) == (done, after), case
            elif isinstance(answer, str) and answer != done:
                refused += 1
                assert any(text in answer for text in REFUSALS), f"{case}: {answer}"
                assert values == before, f"{case}: {answer}: something has changed"
                assert outcome(scene, client) == done, case
                assert pair.values() == after, case
            elif answer == done:
                # It was done with less.
                anyway += 1
                assert values == after, case
            else:
                partly += 1
                assert name in PARTLY and is_partly_done(pair, PARTLY[name], answer[0], count), f"{case}: {answer}"
            is_begun = False
    assert refused > 0 or made == 0
    tried = refused + partly + anyway
    pair.tried += tried
    print(f"{name}: {made} allocations, {tried} cases: {refused} refused, {partly} done in part, {anyway} done")


@pytest.mark.parametrize("line", ["CF.ADD key", "CF.ADDNX key", "CF.INSERT key ITEMS", "CF.INSERTNX key ITEMS", "CF.INSERT key ITEMS a b"])
def test_where_the_time_had_moved_on_before_memory_was_missing_replicas_are_told_of_the_time_alone(pair, line):
    client = pair.client
    client.flushall()
    expiring(20_000, 20_000)(client)
    times, found = [], items(20_000)
    time = lambda: client.execute_command("CF.INFO", "key")[-1]
    # It is full when it holds a fourteenth more.
    for item in items(1400, start=20_000):
        # The list of what is told is there, and then no more.
        client.execute_command("FAIL.FROM", 1, LASTING)
        answer = outcome(run([*line.split(), item]), client)
        client.execute_command("FAIL.END")
        pair.values()
        if isinstance(answer, str):
            assert "no memory" in answer
            times.append(time())
        elif answer[0] in [1, [1]]:
            found.append(item)
        if len(times) == 5:
            break
    assert len(times) == 5 and TIME + 5 < times[0] < times[-1]
    assert all(client.execute_command("CF.MEXISTS", "key", *found))


def test_a_replica_without_memory_goes_on_and_logs_what_it_lacks(program, failing):
    primary = Server(program, "--repl-diskless-sync-delay", "0")
    replica = Server(program, "--crash-log-enabled", "no", module=failing, arguments=[MODULE])
    try:
        client, copy = primary.client(), replica.client()
        fill(70, 64, "KEY", KEY)(client)
        follow(replica, primary)
        # Of the last one, lists of its items are there, and the table can't grow.
        for line, first in [(["CF.ADD", "new", "item"], 0), (["CF.MERGE", "merged", "key"], 2),
                            (["CF.INSERT", "key", "ITEMS", *items(700, start=70)], 3)]:
            before = replica.log().count("CRITICAL")
            copy.execute_command("FAIL.FROM", first, LASTING)
            client.execute_command(*line)
            until(lambda: replica.log().count("CRITICAL") > before, "it is logged")
            assert copy.execute_command("FAIL.END")[1] > 0
        copy.execute_command("REPLICAOF", "NO", "ONE")
        copy.flushall()
        follow(replica, primary)
        assert {key: copy.dump(key) for key in copy.keys()} == {key: client.dump(key) for key in client.keys()}
    finally:
        primary.close()
        replica.close()


def restarted(server, environment):
    """Whether a server that was stopped starts again, where the environment is added to."""
    os.environ.update(environment)
    try:
        server.start()
        return True
    except AssertionError:
        # What checks a snapshot that can't be loaded, and finds it sound, ends with 0.
        assert server.process.wait() >= 0, f"it was ended by a signal:\n{server.log()}"
        return False
    finally:
        for name in environment:
            del os.environ[name]


def test_a_server_without_memory_for_its_files_does_not_start_and_the_files_stay(program, failing):
    """A snapshot, and an append-only file of commands: the first is loaded by the type, the second by CF.LOADCHUNK and CF.INSERT."""
    fill_all = run(["CF.RESERVE", "grown", 100], ["CF.INSERT", "grown", "ITEMS", *items(3000)],
                   ["CF.RESERVE", "expiring", 1000, "LIFETIME", LONG, "AT", TIME],
                   ["CF.INSERT", "expiring", "AT", TIME, "ITEMS", *items(20)], ["CF.ADD", "one", "item"])
    later = run(["CF.INSERT", "grown", "ITEMS", *items(3000, start=3000)], ["CF.INSERTNX", "new", "ITEMS", *items(100)])
    # Single items that come one after the other, for which others have to move.
    fill_one = expiring(960)
    one_by_one = lambda client: [outcome(run(["CF.ADD", "key", item]), client) for item in items(60, start=960)]
    of_commands = ["--appendonly", "yes", "--aof-use-rdb-preamble", "no"]
    tried = refused = 0
    for options, fill_all, later in [([], fill_all, later), (of_commands, fill_all, later), (of_commands, fill_one, one_by_one)]:
        server = Server(program, *options, "--crash-log-enabled", "no", module=failing, arguments=[MODULE])
        try:
            client = server.client()
            fill_all(client)
            if options:
                client.bgrewriteaof()
                until(lambda: client.info("persistence")["aof_rewrite_in_progress"] == 0, "it is rewritten")
            later(client)
            expected = {key: client.dump(key) for key in client.keys()}
            if not options:
                client.save()
            server.stop()
            assert restarted(server, {"GUIRA_FAIL_FROM": "0 0"})
            made, _ = server.client().execute_command("FAIL.END")
            server.stop()
            for times in [ALONE, LASTING]:
                # Each is a server that is started twice.
                for first in range(0, made, 1 if STEP == "all" else max(1, made // 8)):
                    case = f"{options}: allocation {first} of {made}"
                    tried += 1
                    if not restarted(server, {"GUIRA_FAIL_FROM": f"{first} {times}"}):
                        refused += 1
                        assert "no memory for" in server.log(), case
                    else:
                        client = server.client()
                        client.execute_command("FAIL.END")
                        assert {key: client.dump(key) for key in client.keys()} == expected, case
                        server.stop()
            assert restarted(server, {})
            client = server.client()
            assert {key: client.dump(key) for key in client.keys()} == expected
        finally:
            server.close()
    assert refused > 0
    print(f"files: {tried} cases, {refused} starts refused")


def test_saving_takes_no_memory_of_the_module(program, failing):
    """Neither the server nor a process that it forks could say that there is none."""
    options = ["--appendonly", "yes", "--aof-use-rdb-preamble", "no", "--crash-log-enabled", "no"]
    server = Server(program, *options, module=failing, arguments=[MODULE])
    try:
        client = server.client()
        run(["CF.RESERVE", "grown", 100], ["CF.INSERT", "grown", "ITEMS", *items(3000)],
            ["CF.RESERVE", "expiring", 1000, "LIFETIME", LONG, "AT", TIME],
            ["CF.INSERT", "expiring", "AT", TIME, "ITEMS", *items(20)])(client)
        imported(client)
        expected = {key: client.dump(key) for key in client.keys()}
        client.execute_command("FAIL.FROM", 0, LASTING)
        client.save()
        assert client.bgsave()
        until(lambda: client.info("persistence")["rdb_bgsave_in_progress"] == 0, "it is saved")
        client.bgrewriteaof()
        until(lambda: client.info("persistence")["aof_rewrite_in_progress"] == 0, "it is rewritten")
        about = client.info("persistence")
        assert (about["rdb_last_bgsave_status"], about["aof_last_bgrewrite_status"]) == ("ok", "ok")
        assert client.execute_command("DEBUG", "DIGEST") and client.memory_usage("grown") > 0
        assert client.config_get("guira.error-rate") and client.info("guira")["guira_filters"] == 3
        assert client.execute_command("FAIL.END") == [0, 0]
        server.restart()
        client = server.client()
        assert {key: client.dump(key) for key in client.keys()} == expected
    finally:
        server.close()


@pytest.mark.parametrize("arguments, warning", [
    (["prefix", "GF.", "cf_bucket_size", "8", "CF-MAX-EXPANSIONS", "32"], "cf-max-expansions has no effect here"),
    (["prefix", "GF"], "prefix GF: give at most 16 letters"),
    (["cf-bucket-size", "x" * 600], "cf-bucket-size"),
])
def test_loading_needs_no_memory_of_the_module(program, failing, arguments, warning):
    """It could not undo what it has registered. Only the text of an error that is too long for the stack is cut short."""
    server = Server(program, "--crash-log-enabled", "no", module=failing, arguments=[MODULE])
    try:
        server.stop()
        server.arguments = [MODULE, *arguments]
        is_loaded = restarted(server, {"GUIRA_FAIL_LOADING": f"0 {LASTING}"})
        assert is_loaded == ("GF." in arguments) and warning in server.log()
        if is_loaded:
            client = server.client()
            # How the server aligns memory is looked at, if there is any.
            assert client.execute_command("FAIL.END") == [1, 1]
            assert client.execute_command("GF.ADD", "key", "item") == 1 and client.type("key") == b"guira-flt"
    finally:
        server.close()
