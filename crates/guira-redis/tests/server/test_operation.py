"""What operators rely on: memory, permissions, events, settings, transactions."""

import resource
import time

import pytest
import redis

import redisbloom
from servers import MODULE, WORKSPACE_MODULE, WRAPPER, Server, digest, follow, in_step, programs, until


def refusal(client, *words):
    with pytest.raises(redis.exceptions.RedisError) as error:
        client.execute_command(*words)
    return str(error.value)


def test_memory_is_counted_refused_and_given_back(start):
    server = start()
    client = server.client()
    used = lambda: client.info("memory")["used_memory"]
    before = used()
    client.execute_command("CF.RESERVE", "key", 4_000_000, "MAXCAPACITY", 4_000_000)
    size = client.cf().info("key")["size"]
    # Large tables too, which are several MiB here.
    assert size > 4 << 20 and size <= used() - before <= size * 1.3
    # The allocator gives what it has next in size.
    assert size <= client.memory_usage("key") <= used() - before + 2000
    assert client.info("guira")["guira_memory_bytes"] >= size
    client.config_set("maxmemory-policy", "noeviction")
    client.config_set("maxmemory", used() - (1 << 20))
    for words in [("CF.ADD", "key", "a"), ("CF.RESERVE", "new", 100), ("CF.INSERT", "key", "ITEMS", "a"),
                  ("CF.LOADCHUNK", "new", 1, "x"), ("CF.MERGE", "new", "key")]:
        assert "maxmemory" in refusal(client, *words)
    # What frees memory, and what only looks, is let through.
    assert client.execute_command("CF.DEL", "key", "a") == 0
    assert client.execute_command("CF.EXISTS", "key", "a") == 0
    client.config_set("maxmemory", 0)
    client.unlink("key")
    until(lambda: used() < before + (1 << 20), "memory is given back")
    assert client.info("guira")["guira_filters"] == 0


@pytest.mark.parametrize("module", [path for path in [MODULE, WORKSPACE_MODULE] if path])
def test_the_server_sees_large_tables_however_the_module_was_built(program, module):
    server = Server(program, "--maxmemory", "50mb", module=module)
    try:
        client = server.client()
        reserve = lambda key: client.execute_command("CF.RESERVE", key, 100_000_000, "EXPANSION", 0)
        assert reserve("first") in [b"OK", "OK", True]
        size = client.cf().info("first")["size"]
        assert client.info("memory")["used_memory"] > size > 100 << 20
        assert size <= client.memory_usage("first") <= size * 1.3
        with pytest.raises(redis.exceptions.OutOfMemoryError):
            reserve("second")
        assert client.execute_command("EXISTS", "second") == 0
    finally:
        server.close()


@pytest.mark.skipif(bool(WRAPPER), reason="what runs the server takes memory too")
def test_what_there_is_no_memory_for_is_refused_and_the_server_goes_on(start):
    server = start()
    client = server.client()
    client.execute_command("CF.RESERVE", "key", 100_000_000, "EXPANSION", 0)
    client.execute_command("CF.ADD", "key", "item")
    size, process = client.cf().info("key")["size"], server.process.pid
    with open(f"/proc/{process}/status") as status:
        mapped = next(int(line.split()[1]) << 10 for line in status if line.startswith("VmSize:"))
    # A further half of the filter.
    resource.prlimit(process, resource.RLIMIT_AS, (mapped + size // 2, resource.RLIM_INFINITY))
    assert "failed to copy" in refusal(client, "COPY", "key", "copy")
    for words in [("CF.MERGE", "copy", "key"), ("CF.RESERVE", "copy", 100_000_000, "EXPANSION", 0),
                  ("CF.RESERVE", "copy", "LIKE", "key")]:
        assert refusal(client, *words).startswith("no memory for the filter, which is as it was"), words
    resource.prlimit(process, resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert client.exists("copy") == 0 and client.execute_command("CF.EXISTS", "key", "item") == 1
    assert client.copy("key", "copy") and client.execute_command("CF.EXISTS", "copy", "item") == 1


def test_filters_are_evicted_like_other_keys(start):
    server = start("--maxmemory-policy", "allkeys-lru")
    client = server.client()
    client.config_set("maxmemory", client.info("memory")["used_memory"] + (8 << 20))

    def reserve(number):
        try:
            return client.execute_command("CF.RESERVE", f"key-{number}", 200_000, "EXPANSION", 0)
        except redis.exceptions.OutOfMemoryError:
            # What is evicted may be freed on another thread, a little later.
            return None

    for number in range(40):
        until(lambda: reserve(number), "there is room")
    assert 0 < client.dbsize() < 40 and client.info("stats")["evicted_keys"] > 0


def test_large_filters_are_freed_on_another_thread(server):
    client = server.client()
    client.execute_command("CF.RESERVE", "key", 1_000_000)
    freed = lambda: client.info("memory").get("lazyfreed_objects", client.info("stats").get("lazyfreed_objects", 0))
    before = freed()
    client.unlink("key")
    until(lambda: freed() > before, "it is freed")


def test_what_a_merge_replaces_is_freed(server):
    client = server.client()
    for key in ["key", "other"]:
        client.execute_command("CF.RESERVE", key, 4_000_000, "EXPANSION", 0, "HASH", "xxh3")
        client.execute_command("CF.ADD", key, key)
    used = lambda: client.info("memory")["used_memory"]
    before = used()
    for _ in range(5):
        client.execute_command("CF.MERGE", "key", "other")
    until(lambda: used() < before + (1 << 20), "memory is given back")
    assert client.execute_command("CF.MEXISTS", "key", "key", "other", "absent") == [1, 1, 0]


def test_compacting_gives_memory_back(server):
    client = server.client()
    client.execute_command("CF.RESERVE", "key", 1000)
    for start in range(0, 50_000, 1000):
        client.execute_command("CF.INSERT", "key", "ITEMS", *range(start, start + 1000))
    large = client.cf().info("key")["size"]
    for start in range(500, 50_000, 500):
        client.execute_command("CF.MDEL", "key", *range(start, start + 500))
    client.execute_command("CF.COMPACT", "key")
    assert client.cf().info("key")["size"] < large / 16
    assert all(client.execute_command("CF.MEXISTS", "key", *range(500)))


def test_the_memory_of_one_filter_is_limited(start):
    client = start("--guira.memory-limit", "100kb").client()
    assert "guira.memory-limit" in refusal(client, "CF.RESERVE", "key", 1_000_000)
    answers = client.execute_command("CF.INSERT", "key", "ITEMS", *range(100_000))
    assert answers.count(1) > 10_000 and answers.count(-1) > 10_000
    # What has stored some of its items says which; what has stored none is an error.
    for command in ["CF.INSERT", "CF.INSERTNX"]:
        assert "guira.memory-limit" in refusal(client, command, "key", "ITEMS", *range(200_000, 200_003))
    assert client.cf().info("key")["size"] <= 100 << 10
    assert "guira.memory-limit" in refusal(client, "CF.ADD", "key", "another")


def test_information_counts_refusals_and_filters_that_are_being_loaded(start):
    client = start("--guira.memory-limit", "100kb").client()
    about = lambda field: client.info("guira")[f"guira_{field}"]
    assert (about("filters_being_loaded"), about("refused_for_memory"), about("refused_for_room")) == (0, 0, 0)
    assert "guira.memory-limit" in refusal(client, "CF.RESERVE", "key", 1_000_000)
    assert about("refused_for_memory") == 1
    client.execute_command("CF.RESERVE", "full", 10, "EXPANSION", 0)
    answers = client.execute_command("CF.INSERT", "full", "ITEMS", *range(1000))
    assert about("refused_for_room") == answers.count(-1) > 900
    assert refusal(client, "CF.ADD", "full", "another") == "Filter is full"
    assert about("refused_for_room") == answers.count(-1) + 1
    _, header = client.execute_command("CF.SCANDUMP", "full", 0)
    position, chunk = client.execute_command("CF.SCANDUMP", "full", 1)
    client.execute_command("CF.LOADCHUNK", "loading", 1, header)
    assert about("filters_being_loaded") == 1
    client.execute_command("CF.LOADCHUNK", "loading", position, chunk)
    assert about("filters_being_loaded") == 0
    client.execute_command("CF.LOADCHUNK", "given up", 1, header)
    client.delete("given up")
    assert about("filters_being_loaded") == 0
    # What is wrong in itself is no lack of anything.
    refusal(client, "CF.RESERVE", "key", "x")
    assert (about("refused_for_memory"), about("refused_for_room")) == (1, answers.count(-1) + 1)


def test_secret_keys_are_in_no_log_of_commands(server):
    client = server.client()
    client.config_set("slowlog-log-slower-than", 0)
    client.config_set("slowlog-max-len", 1000)
    client.execute_command("SLOWLOG", "RESET")
    key = "0123456789abcdef0123456789abcdef"
    with server.client().monitor() as monitor:
        client.execute_command("CF.RESERVE", "key", 100, "ERROR", "0.01", "KEY", key)
        client.execute_command("CF.ADD", "key", "item")
        # Of a command that is refused, too.
        refusal(client, "CF.RESERVE", "key", 100, "KEY", key, "ERROR")
        _, header = client.execute_command("CF.SCANDUMP", "key", 0)
        client.execute_command("CF.LOADCHUNK", "copy", 1, header)
        _, header = client.execute_command("CF.SCANDUMP", "key", 0, "NOKEY")
        client.execute_command("CF.LOADCHUNK", "other", 1, header, "KEY", key)
        client.execute_command("ECHO", "the end")
        seen = []
        while not seen or "the end" not in seen[-1]:
            seen.append(monitor.next_command()["command"])
    entries = [entry["command"] for entry in client.slowlog_get(1000)]
    logged = b"\n".join(entries)
    assert any(b"CF.RESERVE" in entry for entry in entries) and any("CF.RESERVE" in line for line in seen)
    for secret in [key.encode(), bytes.fromhex(key)]:
        assert secret not in logged
    assert key not in "\n".join(seen) and "\\x01#Eg\\x89" not in "\n".join(seen)
    # All else is there.
    assert b"CF.RESERVE key 100 ERROR 0.01 KEY" in logged and b"CF.ADD key item" in logged


def test_commands_that_take_long_are_events_of_the_latency_monitor(server):
    client = server.client()
    client.execute_command("LATENCY", "RESET")
    client.execute_command("CF.RESERVE", "small", 100)
    assert client.execute_command("LATENCY", "LATEST") == [], "nothing is monitored"
    client.config_set("latency-monitor-threshold", 1)
    client.execute_command("CF.RESERVE", "key", 50_000_000, "EXPANSION", 0, "HASH", "xxh3")
    client.execute_command("CF.ADD", "key", "item")
    # In a transaction it is not done in steps, and a copy of 80 MB takes longer than a millisecond.
    transaction = client.pipeline(transaction=True)
    transaction.execute_command("CF.MERGE", "merged", "key")
    transaction.execute()
    events = {event[0] for event in client.execute_command("LATENCY", "LATEST")}
    client.config_set("latency-monitor-threshold", 0)
    assert b"cf.merge" in events and b"cf.add" not in events


def test_proxies_are_told_what_is_not_the_same_twice(server):
    connection = server.client().connection_pool.get_connection()
    connection.send_command("COMMAND", "INFO", "cf.scandump", "cf.add")
    dump, add = connection.read_response()
    assert (dump[7], add[7]) == ([b"nondeterministic_output"], [])


def test_settings_are_those_of_the_server(start):
    server = start("--guira.capacity", "5000", "--guira.error-rate", "0.02", "--guira.max-capacity", "20000")
    client = server.client()
    assert client.config_get("guira.*") == {
        "guira.capacity": "5000", "guira.error-rate": "0.02", "guira.max-capacity": "20000", "guira.memory-limit": str(512 << 20),
        "guira.hash": "siphash13", "guira.cf-initial-size": "0", "guira.cf-bucket-size": "0",
        "guira.cf-expansion-factor": "1", "guira.cf-max-iterations": "20", "guira.cf-max-expansions": "32",
    }
    client.execute_command("CF.ADD", "key", "a")
    about = dict(field.split(b":") for field in client.execute_command("CF.DEBUG", "key").split())
    assert int(about[b"capacity"]) >= 5000 and 20_000 <= int(about[b"max_capacity"]) and about[b"hash"] == b"siphash13"
    client.config_set("guira.hash", "xxh3")
    client.execute_command("CF.ADD", "other", "a")
    assert b"hash:xxh3" in client.execute_command("CF.DEBUG", "other")
    client.delete("other")
    client.config_set("guira.hash", "siphash13")
    for name, value in [("capacity", "0"), ("hash", "md5"), ("capacity", str(1 << 31)), ("max-capacity", "0"), ("memory-limit", "-1"),
                        ("error-rate", "0"), ("error-rate", "1"), ("error-rate", "nan"), ("error-rate", "x")]:
        assert refusal(client, "CONFIG", "SET", f"guira.{name}", value)
    client.config_set("guira.error-rate", "0.5")
    assert client.config_get("guira.error-rate") == {"guira.error-rate": "0.5"}
    information = client.info("guira")
    assert information["guira_filters"] == 1 and information["guira_default_capacity"] == 5000


def test_a_wrong_setting_keeps_the_server_from_starting(program):
    with pytest.raises(AssertionError, match="did not start"):
        Server(program, "--guira.capacity", "0")


def test_arguments_of_redisbloom_are_taken_when_the_module_is_loaded(program):
    server = Server(program, arguments=["CF_MAX_EXPANSIONS", "16", "cf-initial-size", "3000", "cf_expansion_factor", "0"])
    try:
        client = server.client()
        assert "cf-max-expansions has no effect here" in server.log()
        client.execute_command("CF.ADD", "key", "a")
        about = dict(field.split(b":") for field in client.execute_command("CF.DEBUG", "key").split())
        assert 3000 <= int(about[b"capacity"]) == int(about[b"max_capacity"]) < 6000
    finally:
        server.close()
    with pytest.raises(AssertionError, match="there is no argument foo"):
        Server(program, arguments=["foo", "1"])


@pytest.fixture(scope="module")
def stand_in(compiled):
    """A module that takes RedisBloom's place, compiled."""
    return compiled("stand_in")


def test_it_stands_beside_redisbloom_with_a_prefix_and_not_without(program, stand_in):
    with pytest.raises(AssertionError, match="Beside it, load the module with prefix GF."):
        Server(program, before=[stand_in])
    server = Server(program, before=[stand_in], arguments=["prefix", "gf."])
    try:
        client = server.client()
        assert client.execute_command("CF.ADD", "key", "a") == b"the stand-in"
        assert client.execute_command("GF.ADD", "key", "a") == 1
        assert client.execute_command("GF.EXISTS", "key", "a") == 1
        assert client.type("key") == b"guira-flt"
    finally:
        server.close()


def test_commands_with_a_prefix_stand_beside_others(program):
    server = Server(program, "--appendonly", "yes", "--appendfsync", "always", "--aof-use-rdb-preamble", "no", arguments=["prefix", "GF."])
    replica = Server(program, arguments=["prefix", "GF."])
    try:
        client = server.client()
        assert "unknown command" in refusal(client, "CF.ADD", "key", "a")
        follow(replica, server)
        assert client.execute_command("GF.ADD", "key", "a") == 1
        assert client.execute_command("gf.insertnx", "key", "ITEMS", "a", "b") == [0, 1]
        assert refusal(client, "GF.ADD", "key") == "wrong number of arguments for 'gf.add' command"
        in_step(replica, server)
        expected = digest(client, "key")
        assert digest(replica.client(), "key") == expected
        server.restart()
        assert digest(server.client(), "key") == expected, "as commands"
        client.execute_command("BGREWRITEAOF")
        until(lambda: client.info("persistence")["aof_rewrite_in_progress"] == 0
              and client.info("persistence")["aof_rewrite_scheduled"] == 0, "the file is rewritten")
        server.restart()
        assert digest(server.client(), "key") == expected, "rewritten"
    finally:
        replica.close()
        server.close()


def test_a_small_filter_takes_little_memory(server):
    client = server.client()
    client.execute_command("CF.ADD", "key", "a")
    assert client.memory_usage("key") <= 1400


def test_memory_is_told_as_the_allocator_gives_it(server):
    client = server.client()
    client.execute_command("CF.ADD", "first", "a")
    used = lambda: client.info("memory")["used_memory"]
    plain, expiring, finely = ["EXPANSION", 0], ["LIFETIME", 14], ["LIFETIME", 254, "RESOLUTION", 1]
    small = [(10, plain), (10, plain), (1000, plain), (1000, expiring), (1000, finely), (3000, plain)]
    for number, (capacity, options) in enumerate([*small, (100_000, plain), (1_500_000, plain)]):
        client.delete("key")
        before = used()
        client.execute_command("CF.RESERVE", "key", capacity, *options)
        taken, told = used() - before, client.memory_usage("key")
        # The first time, the server takes memory for its clients and dictionaries.
        assert number == 0 or abs(taken - told) < 1000 + told // 50, (capacity, options, taken, told)

def test_events_are_told(server):
    client = server.client()
    client.config_set("notify-keyspace-events", "KEA")
    listener = client.pubsub()
    listener.psubscribe("__keyspace@0__:*")
    listener.get_message(timeout=5)
    client.execute_command("CF.ADD", "key", "a")
    client.execute_command("CF.ADDNX", "key", "a")
    client.execute_command("CF.EXISTS", "key", "a")
    client.execute_command("CF.INSERT", "key", "ITEMS", "b")
    client.execute_command("CF.DEL", "key", "a")
    client.execute_command("CF.DEL", "key", "absent")
    client.execute_command("CF.COMPACT", "key")
    client.execute_command("CF.MERGE", "merged", "key")
    header = client.execute_command("CF.SCANDUMP", "key", 0)[1]
    client.execute_command("CF.LOADCHUNK", "loaded", 1, header)
    events = []
    while message := listener.get_message(timeout=1):
        events.append((message["channel"].decode().split(":", 1)[1], message["data"].decode()))
    named = [event for event in events if event[1].startswith("cf.")]
    assert named == [
        ("key", "cf.reserve"), ("key", "cf.add"), ("key", "cf.add"), ("key", "cf.del"), ("key", "cf.compact"),
        ("merged", "cf.merge"), ("loaded", "cf.loadchunk"),
    ]
    client.config_set("notify-keyspace-events", "")


def test_transactions_notice_changes_and_only_changes(server):
    client = server.client()
    client.execute_command("CF.ADD", "key", "a")
    for words, changes in [(("CF.EXISTS", "key", "a"), False), (("CF.ADDNX", "key", "a"), False),
                           (("CF.DEL", "key", "absent"), False), (("CF.ADD", "key", "a"), True),
                           (("CF.DEL", "key", "a"), True)]:
        with client.pipeline() as watching:
            watching.watch("key")
            server.client().execute_command(*words)
            watching.multi()
            watching.set("done", 1)
            if changes:
                with pytest.raises(redis.exceptions.WatchError):
                    watching.execute()
            else:
                assert watching.execute() == [True], words


def test_what_is_changed_expires_when_it_would_have(server):
    client = server.client()
    client.execute_command("CF.ADD", "key", "a")
    client.execute_command("CF.RESERVE", "other", "LIKE", "key")
    client.execute_command("CF.ADD", "other", "b")
    header = client.execute_command("CF.SCANDUMP", "other", 0)[1]
    position, chunk = client.execute_command("CF.SCANDUMP", "other", 1)
    client.execute_command("CF.LOADCHUNK", "loaded", 1, header)
    client.expire("key", 1000)
    client.expire("loaded", 1000)
    client.execute_command("CF.MERGE", "key", "other")
    client.execute_command("CF.COMPACT", "key")
    client.execute_command("CF.LOADCHUNK", "loaded", position, chunk)
    assert client.execute_command("CF.MEXISTS", "key", "a", "b") == [1, 1]
    assert client.execute_command("CF.EXISTS", "loaded", "b") == 1
    assert 900 < client.ttl("key") <= 1000 and 900 < client.ttl("loaded") <= 1000


def test_scripts_may_use_them(server):
    client = server.client()
    assert client.eval("redis.call('CF.ADD', KEYS[1], 'a') return redis.call('CF.EXISTS', KEYS[1], 'a')", 1, "key") == 1


def test_permissions_are_by_command_key_and_category(server, program):
    client = server.client()
    client.execute_command("CF.ADD", "mine:a", "x")
    client.execute_command("CF.ADD", "theirs:a", "x")
    try:
        listed = {category: client.execute_command("ACL", "CAT", category) for category in ["cuckoo", "read", "write"]}
        # Valkey 8.0 and Redis 7.4 list no command of a module, and go by their categories nevertheless.
        about = client.info("server")
        version, lists_none = ("valkey_version", "8.0.") if "valkey_version" in about else ("redis_version", "7.4.")
        if not about[version].startswith(lists_none):
            assert len(listed["cuckoo"]) == 16
            assert b"cf.exists" in listed["read"] and b"cf.add" in listed["write"]
        for categories, command, allowed in [("+@cuckoo", "CF.MERGE", True), ("+@all -@cuckoo", "CF.EXISTS", False),
                                             ("+@write", "CF.ADD", True), ("+@write", "CF.EXISTS", False),
                                             ("+@fast", "CF.EXISTS", True), ("+@fast", "CF.COMPACT", False)]:
            client.execute_command("ACL", "SETUSER", "categories", "reset", "on", "~*", *categories.split())
            words = [command, "mine:a"] if command == "CF.COMPACT" else [command, "mine:a", "x"]
            assert (client.execute_command("ACL", "DRYRUN", "categories", *words) == b"OK") == allowed, categories
        reading = ["+@read"]
    except redis.exceptions.ResponseError:
        assert client.info("server")["redis_version"].startswith("7.0."), "only that server has no categories of modules"
        reading = ["+cf.exists", "+cf.mexists"]
    client.acl_setuser("reader", enabled=True, passwords=["+secret"], reset=True,
                       commands=[*reading, "+hello", "+client"], keys=["mine:*"])
    reader = server.client(username="reader", password="secret")
    assert reader.execute_command("CF.EXISTS", "mine:a", "x") == 1
    assert "permission" in refusal(reader, "CF.ADD", "mine:a", "y")
    assert "permission" in refusal(reader, "CF.EXISTS", "theirs:a", "x")
    # By key specifications: what is merged from is read, what it is merged into is written.
    client.execute_command("ACL", "SETUSER", "merger", "reset", "on", ">secret", "+cf.merge", "+hello", "+client",
                           "%R~theirs:*", "%RW~mine:*")
    merger = server.client(username="merger", password="secret")
    assert merger.execute_command("CF.MERGE", "mine:new", "theirs:a") == b"OK"
    assert "permission" in refusal(merger, "CF.MERGE", "theirs:new", "mine:a")


def test_fragmented_memory_is_made_whole(start):
    client = start().client()
    try:
        client.config_set("activedefrag", "yes")
    except redis.exceptions.ResponseError as error:
        pytest.skip(f"this server was built without it: {error}")
    client.config_set("activedefrag", "no")
    for name, value in [("threshold-lower", 1), ("ignore-bytes", "1"), ("cycle-min", 50), ("cycle-max", 75)]:
        client.config_set(f"active-defrag-{name}", value)
    keys, kept = 8000, range(0, 8000, 4)
    with client.pipeline(transaction=False) as pipeline:
        for number in range(keys):
            # Tables of about 2 KB, of which several share a page.
            pipeline.execute_command("CF.RESERVE", f"key-{number}", 1000, "EXPANSION", 0)
            pipeline.execute_command("CF.ADD", f"key-{number}", f"item-{number}")
        for position, chunk in redisbloom.example(64, 2, 2, items=200).chunks():
            for number in kept:
                pipeline.execute_command("CF.LOADCHUNK", f"imported-{number}", position, chunk)
        pipeline.execute()
    before = digest(client, "imported-0")
    # Three quarters of every page are then free, and none of them is free as a whole.
    client.delete(*[f"key-{number}" for number in range(keys) if number not in kept])
    # The server asks its allocator ten times a second, so at first it says what was taken before.
    until(lambda: client.info("memory")["allocator_frag_ratio"] > 2, "the server sees the gaps")
    taken = lambda: client.info("memory")["allocator_active"]
    fragmented, moves = taken(), lambda: client.info("guira")["guira_defragmentation_moves"]
    assert moves() == 0
    client.config_set("activedefrag", "yes")
    # Each table and the value that it belongs to.
    until(lambda: moves() > len(kept), "tables are moved", 60)
    until(lambda: taken() < fragmented * 0.6, "memory is given back", 60)
    for number in kept:
        assert client.execute_command("CF.EXISTS", f"key-{number}", f"item-{number}") == 1
        assert client.cf().info(f"key-{number}")["insertedNum"] == 1
        assert digest(client, f"imported-{number}") == before


def test_module_and_commands_are_listed(server):
    client = server.client()
    modules = [module for module in client.module_list() if module.get(b"name", module.get("name")) == b"guira"]
    assert len(modules) == 1
    assert client.type("absent") == b"none"
    client.execute_command("CF.ADD", "key", "a")
    assert client.type("key") == b"guira-flt"


def test_filters_go_from_one_server_to_another(program):
    # What an older server says, a newer one understands, and not the other way round: Redis 7.0 is the oldest.
    oldest = [path for name, path in programs().items() if name.startswith("redis-7.0.")]
    if not oldest or program in oldest:
        pytest.skip("only an older server and a newer one go together")
    older, newer = Server(oldest[0]), Server(program)
    try:
        client = older.client()
        client.execute_command("CF.INSERT", "key", "ITEMS", *range(5000))
        expected = digest(client, "key")
        follow(newer, older)
        client.execute_command("CF.ADD", "key", "later")
        in_step(newer, older)
        assert digest(newer.client(), "key") == digest(client, "key") != expected
    finally:
        older.close()
        newer.close()
