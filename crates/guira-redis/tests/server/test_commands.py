"""Every command and every error, in both protocols, by a client that knows RedisBloom."""

import pytest
import redis


@pytest.fixture
def client(server, protocol):
    return server.client(protocol)


@pytest.fixture
def run(client):
    # Straight to the server: the client's own view of replies is another test.
    def run(*words):
        connection = client.connection_pool.get_connection()
        try:
            connection.send_command(*words)
            return connection.read_response()
        finally:
            client.connection_pool.release(connection)

    return run


def refusal(run, *words):
    with pytest.raises(redis.exceptions.ResponseError) as error:
        run(*words)
    return str(error.value)


def truth(protocol, flag):
    return flag if protocol == 3 else int(flag)


def same(given, expected):
    """Equal, and of the same type: 1 is not True here."""
    return repr(given) == repr(expected)


def test_every_command_answers_in_its_shape(run, protocol):
    yes, no = truth(protocol, True), truth(protocol, False)
    assert same(run("CF.RESERVE", "key", 1000, "ERROR", "0.001", "EXPANSION", 2, "MAXCAPACITY", 100_000), b"OK")
    assert same(run("CF.ADD", "key", "ani"), yes)
    assert same(run("CF.ADDNX", "key", "ani"), no)
    assert same(run("CF.ADDNX", "key", "koel"), yes)
    assert same(run("CF.EXISTS", "key", "ani"), yes)
    assert same(run("CF.EXISTS", "key", "absent"), no)
    assert same(run("CF.MEXISTS", "key", "ani", "absent"), [yes, no])
    assert same(run("CF.INSERT", "key", "ITEMS", "a", "b"), [yes, yes])
    assert same(run("CF.INSERT", "new", "CAPACITY", 100, "ITEMS", "a"), [yes])
    assert same(run("CF.INSERTNX", "key", "NOCREATE", "ITEMS", "a", "c"), [0, 1])
    assert same(run("CF.COUNT", "key", "a"), 1)
    assert same(run("CF.DEL", "key", "a"), yes)
    assert same(run("CF.DEL", "key", "a"), no)
    assert same(run("CF.MDEL", "key", "b", "b"), [yes, no])
    assert same(run("CF.COMPACT", "key"), b"OK")
    assert same(run("CF.MERGE", "merged", "key"), b"OK")
    assert run("CF.DEBUG", "key").startswith(b"kind:growing ")
    information = run("CF.INFO", "key")
    if protocol == 2:
        assert len(information) == 16
        information = dict(zip(information[::2], information[1::2]))
    assert list(information) == [
        b"Size", b"Number of buckets", b"Number of filters", b"Number of items inserted", b"Number of items deleted",
        b"Bucket size", b"Expansion rate", b"Max iterations",
    ]
    assert information[b"Number of items inserted"] == 3
    position, header = run("CF.SCANDUMP", "key", 0)
    assert position == 1
    assert same(run("CF.LOADCHUNK", "copy", 1, header), b"OK")
    position, chunk = run("CF.SCANDUMP", "key", position)
    assert same(run("CF.LOADCHUNK", "copy", position, chunk), b"OK")
    assert same(run("CF.SCANDUMP", "key", position), [0, None])
    assert run("DEBUG", "DIGEST-VALUE", "key") == run("DEBUG", "DIGEST-VALUE", "copy")


def test_the_client_of_redisbloom_needs_no_change(client):
    cuckoo = client.cf()
    assert cuckoo.create("key", 1000, expansion=1, bucket_size=2, max_iterations=10)
    assert cuckoo.add("key", "ani") and not cuckoo.addnx("key", "ani") and cuckoo.addnx("key", "koel")
    assert cuckoo.insert("key", ["a", "b"], capacity=100) == [1, 1]
    assert cuckoo.insertnx("key", ["a", "c"], nocreate=1) == [0, 1]
    assert cuckoo.exists("key", "a") == 1 and list(cuckoo.mexists("key", "a", "absent")) == [1, 0]
    assert cuckoo.count("key", "a") == 1 and cuckoo.delete("key", "a") == 1
    information = cuckoo.info("key")
    inserted = information.get("insertedNum") if hasattr(information, "get") else None
    assert inserted in (4, None)
    position, chunks = 0, []
    while True:
        position, chunk = cuckoo.scandump("key", position)
        if position == 0:
            break
        chunks.append((position, chunk))
    for position, chunk in chunks:
        assert cuckoo.loadchunk("copy", position, chunk)
    assert list(cuckoo.mexists("copy", "ani", "koel", "b", "c", "a")) == [1, 1, 1, 1, 0]


ERRORS = [
    (("CF.RESERVE", "key", "x"), "Bad capacity"),
    (("CF.RESERVE", "key", 0), "Capacity must be in the range [1, 1073741824]"),
    (("CF.RESERVE", "key", 1 << 31), "Capacity must be in the range [1, 1073741824]"),
    (("CF.RESERVE", "key", 100, "HASH", "md5"), "HASH: value must be siphash13 or xxh3"),
    (("CF.RESERVE", "key", "LIKE", "absent"), "not found"),
    (("CF.RESERVE", "filter", "LIKE", "filter"), "item exists"),
    (("CF.SCANDUMP", "filter", 0, "FOO"), "Unknown argument received"),
    (("CF.RESERVE", "key", 100, "BUCKETSIZE", 256), "BUCKETSIZE: value must be in the range [1, 255]"),
    (("CF.RESERVE", "key", 100, "BUCKETSIZE", "x"), "Couldn't parse BUCKETSIZE"),
    (("CF.RESERVE", "key", 100, "MAXITERATIONS", 0), "MAXITERATIONS: value must be in the range [1, 65535]"),
    (("CF.RESERVE", "key", 100, "EXPANSION", 32769), "EXPANSION: value must be in the range [0, 32768]"),
    (("CF.RESERVE", "key", 100, "FOO", 1), "Unknown argument received"),
    (("CF.RESERVE", "key", 100, "ERROR", 1), "ERROR: value must be between 0 and 1, both excluded"),
    (("CF.RESERVE", "filter", 100), "item exists"),
    (("CF.LOADCHUNK", "filter", 1, "x"), "item exists"),
    (("CF.LOADCHUNK", "filter", 2, "x"), "Couldn't load chunk!"),
    (("CF.LOADCHUNK", "key", 2, "x"), "not found"),
    (("CF.LOADCHUNK", "key", 0, "x"), "Invalid position"),
    (("CF.LOADCHUNK", "key", 1, "x"), "Invalid header"),
    (("CF.SCANDUMP", "key", 0), "not found"),
    (("CF.SCANDUMP", "filter", "x"), "Invalid position"),
    (("CF.INFO", "key"), "not found"),
    (("CF.DEBUG", "key"), "not found"),
    (("CF.INSERT", "key", "NOCREATE", "ITEMS", "a"), "not found"),
    (("CF.INSERT", "key", "CAPACITY", 0, "ITEMS", "a"), "Capacity must be in the range [1, 1073741824]"),
    (("CF.INSERT", "key", "FOO", "ITEMS", "a"), "Unknown argument received"),
    (("CF.DEL", "key", "a"), "Not found"),
    (("CF.MDEL", "key", "a"), "Not found"),
    (("CF.COMPACT", "key"), "Cuckoo filter was not found"),
    (("CF.MERGE", "key", "absent"), "not found"),
    (("CF.MERGE", "filter", "filter"), "a filter can't be merged into itself"),
]


@pytest.mark.parametrize("words, text", ERRORS, ids=[" ".join(map(str, words)) for words, _ in ERRORS])
def test_errors_have_the_texts_that_clients_know(run, words, text):
    run("CF.RESERVE", "filter", 100)
    # The client takes the "ERR " from those that begin with it.
    assert refusal(run, *words) == text
    assert run("EXISTS", "key") == 0


COMMANDS = {
    "CF.RESERVE": [100], "CF.ADD": ["a"], "CF.ADDNX": ["a"], "CF.INSERT": ["ITEMS", "a"], "CF.INSERTNX": ["ITEMS", "a"],
    "CF.EXISTS": ["a"], "CF.MEXISTS": ["a"], "CF.COUNT": ["a"], "CF.DEL": ["a"], "CF.MDEL": ["a"], "CF.INFO": [],
    "CF.DEBUG": [], "CF.COMPACT": [], "CF.SCANDUMP": [0], "CF.LOADCHUNK": [1, "x"], "CF.MERGE": ["other"],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_touches_another_type_or_takes_a_wrong_number_of_arguments(run, command):
    run("SET", "text", "value")
    assert refusal(run, command, "text", *COMMANDS[command]).startswith("WRONGTYPE Operation against a key")
    assert run("GET", "text") == b"value"
    for words in [(), ("key", "a", "b", "c", "d")] if not COMMANDS[command] else [(), ("key",)]:
        assert refusal(run, command, *words) == f"wrong number of arguments for '{command.lower()}' command"


def test_full_filters_say_so(run, protocol):
    run("CF.RESERVE", "key", 4, "EXPANSION", 0)
    answers = run("CF.INSERT", "key", "ITEMS", *range(1000))
    refused = -1 if protocol == 2 else False
    assert answers.count(refused) > 900
    assert set(run("CF.INSERTNX", "key", "ITEMS", *range(2000, 2900))) <= {0, -1}
    assert refusal(run, "CF.ADD", "key", "one more") == "Filter is full"
    # At a rate of 0.9, fingerprints have no bit to give away beyond the largest capacity.
    run("CF.RESERVE", "other", 4, "MAXCAPACITY", 8, "ERROR", 0.9)
    for item in range(1000):
        try:
            run("CF.ADD", "other", item)
        except redis.exceptions.ResponseError as error:
            assert str(error) == "Maximum expansions reached"
            break
    else:
        raise AssertionError("it was never full")
    # As there: an error for the whole command, where nothing was stored.
    for command in ["CF.INSERT", "CF.INSERTNX"]:
        assert refusal(run, command, "other", "NOCREATE", "ITEMS", "x", "y") == "Maximum expansions reached"
    for _ in range(8):
        run("CF.ADD", "copies", "same")
    assert refusal(run, "CF.ADD", "copies", "same").startswith("too many copies of this item: 8 are stored")
    # One item that is refused is not in the way of those behind it; why it was is said by CF.ADD.
    yes = truth(protocol, True)
    assert same(run("CF.INSERT", "more", "ITEMS", *["same"] * 10, "other"), [yes] * 8 + [refused] * 2 + [yes])


def test_filters_made_alike_are_merged(run):
    run("CF.RESERVE", "first", 1000, "ERROR", 0.01)
    run("CF.ADD", "first", "a")
    assert run("CF.RESERVE", "second", "LIKE", "first") == b"OK"
    run("CF.ADD", "second", "b")
    assert run("CF.MERGE", "both", "first", "second") == b"OK"
    assert [int(flag) for flag in run("CF.MEXISTS", "both", "a", "b", "c")] == [1, 1, 0]
    run("CF.RESERVE", "stranger", 1000, "ERROR", 0.01)
    assert "the filters have different secret keys" in refusal(run, "CF.MERGE", "both", "stranger")
    keys = run("COMMAND", "GETKEYSANDFLAGS", "CF.RESERVE", "second", "LIKE", "first")
    assert [key for key, _ in keys] == [b"second", b"first"]
    assert [key for key, _ in run("COMMAND", "GETKEYSANDFLAGS", "CF.RESERVE", "key", "100")] == [b"key"]


def test_commands_are_described(run):
    text = repr(run("COMMAND", "DOCS", "CF.RESERVE"))
    assert "Creates an empty filter" in text and "MAXCAPACITY" in text
    flags = run("COMMAND", "GETKEYSANDFLAGS", "CF.MERGE", "to", "a", "b")
    assert [key for key, _ in flags] == [b"to", b"a", b"b"]
    assert b"RW" in flags[0][1] and b"RO" in flags[1][1] and b"RO" in flags[2][1]
    for command in COMMANDS:
        about = list(run("COMMAND", "INFO", command))[0]
        named = {flag.decode() if isinstance(flag, bytes) else str(flag) for flag in about[2]}
        is_write = command not in ("CF.EXISTS", "CF.MEXISTS", "CF.COUNT", "CF.INFO", "CF.DEBUG", "CF.SCANDUMP")
        assert ("write" in named) == is_write and ("readonly" in named) != is_write, command
        grows = is_write and command not in ("CF.DEL", "CF.MDEL", "CF.COMPACT")
        assert ("denyoom" in named) == grows, command
