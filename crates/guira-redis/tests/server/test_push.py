"""Filter files that `guira push` loads into a server, and that `guira pull` brings back."""

import contextlib
import os
import random
import re
import shutil
import socket
import stat
import subprocess
import threading

import pytest

import redis
import redisbloom
import xxhash
from servers import MODULE, Server, digest, follow, in_step, until

# That beside the module, if it was built with it.
PROGRAM = os.environ.get("GUIRA_PROGRAM", os.path.join(os.path.dirname(MODULE), "guira"))
KILLS = int(os.environ.get("GUIRA_KILLS", "10"))
PUSHED_KEYS = int(os.environ.get("GUIRA_PUSHED_KEYS", "1500000"))
# What a temporary key has left after the last chunk, in milliseconds.
EXPIRY = 60_000
SECRET = b"nobody knows it."

pytestmark = pytest.mark.skipif(not os.path.exists(PROGRAM), reason="there is no GUIRA_PROGRAM: cargo build -p guira-cli")


def command(*words, env=None):
    """Runs the program; its status, and what it writes to both streams."""
    environment = {name: value for name, value in os.environ.items() if name != "REDISCLI_AUTH"} | (env or {})
    done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, env=environment, check=False)
    return done.returncode, done.stdout + done.stderr


def guira(*words, env=None):
    status, text = command(*words, env=env)
    assert status == 0, text
    return text


def refused(*words, env=None):
    status, text = command(*words, env=env)
    assert status == 2 and text.count("\n") == 1, text
    return text


def url(server, key="birds"):
    return f"redis://127.0.0.1:{server.port}/{key}"


def build(path, count, *options):
    """Builds a filter of "item 0", "item 1" and so on, as many as there are to be."""
    words = [PROGRAM, "build", "-q", *map(str, options), "-o", str(path)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, text=True) as building:
        for start in range(0, count, 100_000):
            building.stdin.write("".join(f"item {number}\n" for number in range(start, min(start + 100_000, count))))
    assert building.returncode == 0


def sealed(header):
    """The header of a file with its checksum."""
    return header[:120] + xxhash.xxh3_64_intdigest(header[:120]).to_bytes(8, "little")


def with_chunk(file, tag, flags, data):
    """The file with a chunk behind all others, as docs/format.md describes it."""
    start = tag + flags.to_bytes(4, "little") + len(data).to_bytes(8, "little")
    chunk = start + xxhash.xxh3_64_intdigest(start + data).to_bytes(8, "little") + data
    size = int.from_bytes(file[80:88], "little") + len(chunk)
    return sealed(file[:80] + size.to_bytes(8, "little") + file[88:120]) + file[128:] + chunk


def temporary_keys(client):
    return list(client.scan_iter("*guira-push*", count=1000))


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    (folder / "secret.key").write_bytes(SECRET)
    build(folder / "small.guira", 2000)
    build(folder / "keyed.guira", 2000, "--hash", "siphash", "--key-file", folder / "secret.key")
    build(folder / "large.guira", PUSHED_KEYS, "--max-capacity", PUSHED_KEYS)
    # Of several chunks.
    assert os.path.getsize(folder / "large.guira") > 2 << 20
    return folder


class Relay:
    """Stands between the program and a server, and may do something before a request or an answer goes on.

    Where that returns a number, so many bytes go on, and nothing behind them.
    """

    def __init__(self, server, asked=lambda data: None, answered=lambda data: None):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.thread = threading.Thread(target=self.run, args=(server.port, asked, answered))
        self.thread.start()

    def run(self, port, asked, answered):
        with self.listener, self.listener.accept()[0] as near, socket.create_connection(("127.0.0.1", port)) as far:
            back = threading.Thread(target=self.pass_on, args=(far, near, answered))
            back.start()
            self.pass_on(near, far, asked)
            back.join()

    @staticmethod
    def pass_on(source, target, look):
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                size = look(data)
                # What can't be sent is read all the same: else the other side would not get what was sent before.
                with contextlib.suppress(OSError):
                    target.sendall(data[:size])
                if size is not None:
                    break
        with contextlib.suppress(OSError):
            target.shutdown(socket.SHUT_WR)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.thread.join()


def once(words, action):
    """Something that is done before the first request that has all of these words."""
    done = []

    def look(data):
        if not done and all(word in data.upper() for word in words):
            done.append(True)
            action()

    return look


def test_a_file_is_pushed_and_comes_back_with_the_same_bytes(server, files, tmp_path):
    client = server.client()
    for name, count in [("small", 2000), ("large", PUSHED_KEYS)]:
        text = guira("push", files / f"{name}.guira", url(server, name))
        assert f"redis://127.0.0.1:{server.port}/{name}: {count:,} keys, a table of " in text
        items = [f"item {number}" for number in range(0, count, 7)]
        for start in range(0, len(items), 10_000):
            assert all(client.execute_command("CF.MEXISTS", name, *items[start:start + 10_000]))
        assert client.cf().info(name)["insertedNum"] == count
        assert client.ttl(name) == -1 and not temporary_keys(client)
        pulled = tmp_path / f"{name}.guira"
        assert f"{name}.guira: {count:,} keys, a table of " in guira("pull", url(server, name), "-o", pulled)
        assert pulled.read_bytes() == (files / f"{name}.guira").read_bytes()
    # What a file with another name or standard output has is the same.
    guira("pull", url(server, "small"), "-o", tmp_path / "small.guira.gz")
    guira("diff", "-q", files / "small.guira", tmp_path / "small.guira.gz")
    guira("push", "-q", tmp_path / "small.guira.gz", url(server, "small"), "--force")
    printed = subprocess.run([PROGRAM, "pull", "-q", url(server, "small"), "-o", "-"], capture_output=True, check=True)
    assert printed.stdout == (tmp_path / "small.guira").read_bytes()


def test_what_is_pushed_grows_and_what_was_changed_is_pulled(server, files, tmp_path):
    client = server.client()
    guira("push", files / "small.guira", url(server))
    client.execute_command("CF.INSERT", "birds", "ITEMS", *[f"more {number}" for number in range(20_000)])
    client.execute_command("CF.DEL", "birds", "item 7")
    guira("pull", url(server), "-o", tmp_path / "pulled.guira")
    (tmp_path / "asked.txt").write_text("item 6\nmore 19999\n")
    assert guira("check", "-c", tmp_path / "pulled.guira", tmp_path / "asked.txt") == "2\n"
    assert client.cf().info("birds")["insertedNum"] == 21_999


def test_a_filter_whose_items_expire_is_pulled_and_keeps_its_times(server, files, tmp_path):
    client = server.client()
    client.execute_command("CF.RESERVE", "birds", 200_000, "LIFETIME", 86_400, "HASH", "xxh3", "AT", 1_700_000_000_000)
    client.execute_command("CF.INSERT", "birds", "AT", 1_700_000_000_000, "ITEMS", "item 1", "item 2")
    client.execute_command("CF.INSERT", "birds", "AT", 1_700_040_000_000, "ITEMS", "item 3")
    pulled = tmp_path / "pulled.guira"
    guira("pull", url(server), "-o", pulled)
    guira("verify", pulled)
    (tmp_path / "asked.txt").write_text("item 1\nitem 2\nitem 3\nabsent\n")
    # A server counts the milliseconds of its clock, and now all of it is long past.
    assert command("check", "-c", pulled, tmp_path / "asked.txt") == (1, "0\n")
    assert "2023-11-15T09:20:00.000Z, of the clock" in guira("info", "--now", 1_700_040_000, pulled)
    for now in "2023-11-15T09:20:00Z", 1_700_040_000, 1_700_040_000_000:
        assert guira("check", "-c", "--now", now, pulled, tmp_path / "asked.txt") == "3\n", now
    assert guira("check", "-c", "--now", 1_700_100_000, pulled, tmp_path / "asked.txt") == "1\n"
    assert "expire" in refused("push", pulled, url(server, "other"))


@pytest.fixture
def copied(server):
    """Ways to copy the filter at the key "birds" within the server."""
    client = server.client()
    yield {
        "COPY": lambda: client.execute_command("COPY", "birds", "copy"),
        "DUMP": lambda: client.restore("copy", 0, client.dump("birds")),
        "DEBUG RELOAD": lambda: client.execute_command("DEBUG", "RELOAD") and client.rename("birds", "copy"),
    }


@pytest.mark.parametrize("way", ["COPY", "DUMP", "DEBUG RELOAD"])
def test_what_was_done_to_keys_stays_with_the_filter(server, copied, tmp_path, way):
    client = server.client()
    (tmp_path / "birds.txt").write_text("  Ani\nKoel \n")
    guira("build", "-q", "--lowercase", "--trim", "-o", tmp_path / "birds.guira", tmp_path / "birds.txt")
    assert "treat their keys alike" in guira("push", tmp_path / "birds.guira", url(server))
    client.execute_command("CF.INSERT", "birds", "ITEMS", "guira", *[f"item {number}" for number in range(5000)])
    client.delete("copy")
    assert copied[way]()
    guira("pull", "-q", url(server, "copy"), "-o", tmp_path / "pulled.guira")
    (tmp_path / "asked.txt").write_text("ANI\nkoel\nGuira \nauk\n")
    assert guira("check", tmp_path / "pulled.guira", tmp_path / "asked.txt") == "ANI\nkoel\nGuira \n"


@pytest.mark.parametrize("way", ["COPY", "DUMP", "DEBUG RELOAD"])
def test_what_the_server_does_not_know_is_kept_or_refused(server, copied, files, tmp_path, way):
    client = server.client()
    for key in ["birds", "copy"]:
        client.delete(key)
    small = (files / "small.guira").read_bytes()
    # More than a chunk of a dump.
    notes = bytes(range(256)) * 5000
    file = with_chunk(with_chunk(small, b"XTRA", 0xFFFFFFFC, notes), b"MORE", 0, b"")
    # A flag that a reader may ignore.
    file = sealed(file[:70] + b"\x00\x80" + file[72:120]) + file[128:]
    (tmp_path / "more.guira").write_bytes(file)
    guira("push", "-q", tmp_path / "more.guira", url(server))
    before = client.execute_command("MEMORY", "USAGE", "birds")
    # The digests of values differ as their files do.
    guira("push", "-q", files / "small.guira", url(server, "plain"), "--force")
    assert before >= client.execute_command("MEMORY", "USAGE", "plain") + len(notes)
    assert digest(client, "birds") != digest(client, "plain")
    kept = digest(client, "birds")
    assert copied[way]()
    assert digest(client, "copy") == kept
    guira("pull", "-q", url(server, "copy"), "-o", tmp_path / "pulled.guira")
    assert (tmp_path / "pulled.guira").read_bytes() == file
    # Of what must be known, the server takes nothing.
    header, rest = bytes(8), with_chunk(small, b"XTRA", 1, b"must be known")
    client.execute_command("CF.LOADCHUNK", "must", 1, header + rest[:128])
    with pytest.raises(redis.ResponseError, match="Couldn't load chunk"):
        client.execute_command("CF.LOADCHUNK", "must", len(rest) - 128 + 1, rest[128:])
    flagged = sealed(small[:68] + b"\x01\x00" + small[70:120])
    with pytest.raises(redis.ResponseError, match="Invalid header"):
        client.execute_command("CF.LOADCHUNK", "flagged", 1, header + flagged)


def test_reports_are_json_on_request(server, files, tmp_path):
    pushed = guira("push", "--json", files / "small.guira", url(server))
    assert '"key_count": 2000' in pushed and '"replaced": false' in pushed
    assert '"replaced": true' in guira("push", "--json", "--force", files / "small.guira", url(server))
    pulled = guira("pull", "--json", url(server), "-o", tmp_path / "pulled.guira")
    assert '"secret_key": "none"' in pulled and '"replaced_key_count": null' in pulled


def test_keys_have_any_bytes_and_databases(server, files, tmp_path):
    for written, database, name in [
        ("birds", 0, b"birds"), ("3/birds", 3, b"birds"), ("0/7", 0, b"7"), ("%00%ff%2F%25", 0, b"\0\xff/%"),
        ("..", 0, b".."), ("{a}:b", 0, b"{a}:b"), ("a}b", 0, b"a}b"), ("a%20b", 15, None),
    ]:
        if name is None:
            written, name = f"{database}/{written}", b"a b"
        guira("push", files / "small.guira", url(server, written))
        client = server.client(db=database)
        assert client.execute_command("CF.EXISTS", name, "item 1") == 1, written
        guira("pull", "-q", url(server, written), "--force", "-o", tmp_path / "pulled.guira")
        assert (tmp_path / "pulled.guira").read_bytes() == (files / "small.guira").read_bytes(), written
        client.delete(name)
    assert server.client().info("keyspace") == {}


def test_a_socket_and_resp3_do_as_well(start, files, tmp_path):
    path = tmp_path / "socket"
    server = start("--unixsocket", str(path))
    for address in [f"redis+unix://{path}?key=birds&db=2", f"{url(server, '2/seen')}?protocol=resp3"]:
        guira("push", files / "small.guira", address)
        guira("pull", "--force", address, "-o", tmp_path / "pulled.guira")
        assert (tmp_path / "pulled.guira").read_bytes() == (files / "small.guira").read_bytes()
    assert server.client(db=2).exists("birds", "seen") == 2


def test_what_is_there_is_not_replaced_unless_it_is_a_filter_and_asked_for(server, files, tmp_path):
    client = server.client()
    client.execute_command("CF.ADD", "birds", "ani")
    client.expire("birds", 1000)
    client.set("text", "ani")
    before = digest(client, "birds")
    assert "give --force to replace it" in refused("push", files / "small.guira", url(server))
    assert digest(client, "birds") == before and client.ttl("birds") > 0
    for option in [[], ["--force"]]:
        assert "a value of type string" in refused("push", *option, files / "small.guira", url(server, "text"))
    assert client.get("text") == b"ani"
    assert "replaced the filter that was there" in guira("push", "--force", files / "small.guira", url(server))
    assert client.execute_command("CF.EXISTS", "birds", "ani") == 0 and client.ttl("birds") == -1
    # Files are treated as by other commands.
    guira("pull", "-q", url(server), "-o", tmp_path / "pulled.guira")
    assert "give --force to replace it" in refused("pull", url(server), "-o", tmp_path / "pulled.guira")
    assert "replaced a filter of 2,000 keys" in guira("pull", "--force", url(server), "-o", tmp_path / "pulled.guira")
    assert "holds something else" in refused("pull", url(server, "text"), "-o", tmp_path / "text.guira")
    assert "there is no such key" in refused("pull", url(server, "absent"), "-o", tmp_path / "absent.guira")
    assert sorted(client.keys()) == [b"birds", b"text"] and os.listdir(tmp_path) == ["pulled.guira"]


def test_who_comes_first_keeps_the_key(server, files):
    client = server.client()
    # Before the last look at the key, and behind it.
    for request in [b"WATCH", b"RENAME"]:
        client.flushall()
        other = lambda: server.client().execute_command("CF.ADD", "birds", "ani")
        with Relay(server, once([request], other)) as relay:
            assert "give --force" in refused("push", files / "small.guira", url(relay))
        assert client.cf().info("birds")["insertedNum"] == 1 and client.keys() == [b"birds"], request
    with Relay(server, once([b"RENAME"], lambda: client.execute_command("CF.ADD", "birds", "koel"))) as relay:
        guira("push", "--force", files / "small.guira", url(relay))
    assert client.cf().info("birds")["insertedNum"] == 2000


def test_a_temporary_key_that_is_gone_is_told_and_nothing_left(server, files):
    client = server.client()

    def remove():
        (name,) = temporary_keys(client)
        assert 0 < client.pttl(name) <= EXPIRY
        client.delete(name)

    for request in [b"\r\n1048577\r\n", b"WATCH"]:
        with Relay(server, once([request], remove)) as relay:
            assert "temporary key that it was loaded under is gone" in refused("push", files / "large.guira", url(relay))
        assert client.keys() == []


def test_a_filter_that_changes_is_not_pulled(server, files, tmp_path):
    client = server.client()
    guira("push", files / "large.guira", url(server))
    change = lambda: client.execute_command("CF.ADD", "birds", "another")
    # The first chunk of the table, and the one behind it, wherever that begins: the table may be being doubled.
    second = lambda: client.execute_command("CF.SCANDUMP", "birds", 1)[0]
    for position in [lambda: 1, second]:
        with Relay(server, once([b"SCANDUMP", b"\r\n%d\r\n" % position()], change)) as relay:
            assert "changed while it was pulled" in refused("pull", url(relay), "-o", tmp_path / "pulled.guira")
    with Relay(server, once([b"SCANDUMP", b"\r\n%d\r\n" % second()], lambda: client.delete("birds"))) as relay:
        assert "changed while it was pulled" in refused("pull", url(relay), "-o", tmp_path / "pulled.guira")
    assert os.listdir(tmp_path) == []


def test_a_secret_key_is_written_only_when_asked_for(server, files, tmp_path):
    client = server.client()
    client.execute_command("CF.RESERVE", "birds", 1000, "KEY", SECRET.hex())
    client.execute_command("CF.INSERT", "birds", "ITEMS", "ani", "guira")
    (tmp_path / "birds.txt").write_text("ani\nguira\n")
    pulled, key = tmp_path / "pulled.guira", tmp_path / "pulled.key"
    assert "stays on the server" in guira("pull", url(server), "-o", pulled)
    assert SECRET not in pulled.read_bytes() and os.listdir(tmp_path).count("pulled.key") == 0
    assert "made with a secret hash key" in refused("check", pulled, tmp_path / "birds.txt")
    whole = pulled.read_bytes()

    text = guira("pull", "--force", "--save-key", key, url(server), "-o", pulled)
    assert "warning" not in text and pulled.read_bytes() == whole
    assert key.read_text() == SECRET.hex() + "\n" and stat.S_IMODE(key.stat().st_mode) == 0o600
    assert guira("check", "-c", "--key-file", key, pulled, tmp_path / "birds.txt") == "2\n"
    # The same key, and another one.
    guira("pull", "--force", "--save-key", key, url(server), "-o", pulled)
    key.write_text("0" * 32)
    assert "has not this secret key" in refused("pull", "--save-key", key, url(server), "-o", tmp_path / "new.guira")
    assert "another secret hash key" in refused("pull", "--key-file", key, url(server), "-o", tmp_path / "new.guira")
    assert not (tmp_path / "new.guira").exists()
    assert "warning" not in guira("pull", "--key-file", files / "secret.key", url(server), "-o", tmp_path / "new.guira")

    client.execute_command("CF.RESERVE", "plain", 1000, "HASH", "xxh3")
    for option in ["--save-key", "--key-file"]:
        path = tmp_path / "none.key" if option == "--save-key" else files / "secret.key"
        assert "has no secret key" in refused("pull", option, path, url(server, "plain"), "-o", tmp_path / "plain.guira")


def test_a_file_with_a_secret_key_is_pushed_with_it(server, files, tmp_path):
    client = server.client()
    assert "give it with --key-file" in refused("push", files / "keyed.guira", url(server))
    guira("push", "--key-file", files / "secret.key", files / "keyed.guira", url(server))
    assert all(client.execute_command("CF.MEXISTS", "birds", *[f"item {number}" for number in range(2000)]))
    assert b"siphash13" in client.execute_command("CF.DEBUG", "birds")
    guira("pull", "--save-key", tmp_path / "pulled.key", url(server), "-o", tmp_path / "pulled.guira")
    assert (tmp_path / "pulled.key").read_text() == SECRET.hex() + "\n"
    assert (tmp_path / "pulled.guira").read_bytes() == (files / "keyed.guira").read_bytes()
    assert "leave out --key-file" in refused(
        "push", "--force", "--key-file", files / "secret.key", files / "small.guira", url(server))


def test_an_imported_filter_is_in_no_file(server, tmp_path):
    client = server.client()
    for position, chunk in redisbloom.example(64, 2, 2, items=200).chunks():
        client.execute_command("CF.LOADCHUNK", "birds", position, chunk)
    assert "imported from RedisBloom" in refused("pull", url(server), "-o", tmp_path / "pulled.guira")


def test_the_module_may_have_a_prefix_or_be_missing(program, files, tmp_path):
    server = Server(program, arguments=["prefix", "GF."])
    try:
        for words in [["push", files / "small.guira", url(server)], ["pull", url(server), "-o", tmp_path / "pulled.guira"]]:
            assert "no commands CF.*" in refused(*words)
            guira(*words, "--prefix", "gf.")
        assert server.client().execute_command("GF.EXISTS", "birds", "item 3") == 1
        assert server.client().keys() == [b"birds"]
    finally:
        server.close()


def test_passwords_and_permissions(start, files, tmp_path):
    server = start()
    server.client().config_set("requirepass", "pass/word")
    client = server.client(password="pass/word")
    assert "REDISCLI_AUTH" in refused("push", files / "small.guira", url(server))
    wrong = refused("push", files / "small.guira", f"redis://:wrong@127.0.0.1:{server.port}/birds")
    assert "refuses the password" in wrong and ":wrong" not in wrong
    guira("push", files / "small.guira", f"redis://:pass%2Fword@127.0.0.1:{server.port}/birds")
    guira("push", "--force", files / "small.guira", url(server), env={"REDISCLI_AUTH": "pass/word"})
    # No more than what the help says.
    help_text = re.sub(r"\s+", " ", guira("push", "--help"))
    words = re.search(r"The user needs the commands ([A-Z, ]+) and CF\.LOADCHUNK", help_text).group(1).split(", ")
    commands = [f"+{word.lower()}" for word in [*words, "cf.loadchunk"]]
    client.execute_command("ACL", "SETUSER", "loader", "reset", "on", ">x", "~birds*", "~{birds}*", "+client", *commands)
    loader = f"redis://loader:x@127.0.0.1:{server.port}/birds"
    guira("push", "--force", files / "small.guira", loader)
    text = refused("pull", loader, "-o", tmp_path / "pulled.guira")
    assert "no permissions" in text and f"redis://loader@127.0.0.1:{server.port}/birds" in text
    client.execute_command("ACL", "SETUSER", "loader", "+cf.scandump")
    guira("pull", loader, "-o", tmp_path / "pulled.guira")
    client.execute_command("ACL", "SETUSER", "loader", "-pexpire")
    assert "pexpire" in refused("push", "--force", files / "small.guira", loader)
    client.execute_command("ACL", "SETUSER", "loader", "+pexpire", "-rename")
    assert "rename" in refused("push", "--force", files / "small.guira", loader)
    assert client.keys() == [b"birds"]


def test_memory_that_is_short_is_told_and_nothing_is_left(start, files):
    server = start()
    client = server.client()
    client.config_set("guira.memory-limit", "1mb")
    assert "CONFIG SET guira.memory-limit" in refused("push", files / "large.guira", url(server))
    client.config_set("guira.memory-limit", "512mb")
    client.config_set("maxmemory-policy", "noeviction")
    client.config_set("maxmemory", client.info("memory")["used_memory"] + (2 << 20))
    assert "maxmemory" in refused("push", files / "large.guira", url(server))
    client.config_set("maxmemory", 1)
    assert "maxmemory" in refused("push", files / "small.guira", url(server))
    assert client.keys() == []


def test_servers_that_take_nothing_are_told(program, files, tmp_path):
    primary, replica = Server(program), Server(program)
    try:
        follow(replica, primary)
        assert "a replica" in refused("push", files / "small.guira", url(replica))
        guira("push", files / "small.guira", url(primary))
        in_step(replica, primary)
        assert digest(replica.client(), "birds") == digest(primary.client(), "birds")
        guira("pull", url(replica), "-o", tmp_path / "pulled.guira")
    finally:
        replica.close()
        primary.close()
    assert "no server listens there" in refused("push", files / "small.guira", url(primary))
    assert "no server listens there" in refused("pull", url(primary), "-o", tmp_path / "new.guira")
    assert os.listdir(tmp_path) == ["pulled.guira"]


def test_a_push_is_in_the_append_only_file(start, files):
    server = start("--appendonly", "yes", "--appendfsync", "always", "--aof-use-rdb-preamble", "no")
    guira("push", files / "large.guira", url(server))
    expected = digest(server.client(), "birds")
    server.kill()
    server.start()
    assert digest(server.client(), "birds") == expected
    assert server.client().keys() == [b"birds"] and server.client().ttl("birds") == -1


def test_the_temporary_key_is_in_the_slot_of_the_key(start, files):
    server = start("--cluster-enabled", "yes")
    client = server.client()
    client.execute_command("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
    until(lambda: b"cluster_state:ok" in client.execute_command("CLUSTER", "INFO"), "the cluster is up")
    for name in ["birds", "{user}:birds", "a{b", "a}b", "{}birds", "}{birds}"]:
        seen = []
        with Relay(server, once([b"WATCH"], lambda: seen.extend(temporary_keys(client)))) as relay:
            guira("push", files / "small.guira", url(relay, name))
        slots = {client.execute_command("CLUSTER", "KEYSLOT", key) for key in [name, *seen]}
        assert len(seen) == 1 and len(slots) == 1, name
        assert client.execute_command("CF.EXISTS", name, "item 1") == 1


def test_tls(program, files, tmp_path):
    if "with TLS" not in guira("--version"):
        pytest.skip("the program was built without its feature redis-tls")
    if not shutil.which("openssl"):
        pytest.skip("there is no openssl")
    certificate, key = tmp_path / "certificate", tmp_path / "key"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-addext",
         "subjectAltName=DNS:localhost", "-addext", "basicConstraints=critical,CA:FALSE", "-keyout", key, "-out", certificate],
        check=True, capture_output=True)
    # The plain port is what the server is first asked on.
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    try:
        server = Server(program, "--tls-port", str(port), "--tls-cert-file", str(certificate), "--tls-key-file", str(key),
                        "--tls-ca-cert-file", str(certificate), "--tls-auth-clients", "no")
    except AssertionError as error:
        assert "tls" in str(error).lower()
        pytest.skip("this server was built without TLS")
    try:
        address = f"rediss://localhost:{port}/birds"
        assert "certificate" in refused("push", files / "small.guira", address).lower()
        guira("push", files / "small.guira", address, env={"SSL_CERT_FILE": str(certificate)})
        guira("push", "--force", files / "small.guira", f"{address}#insecure")
        guira("pull", address, "-o", tmp_path / "pulled.guira", env={"SSL_CERT_FILE": str(certificate)})
        assert (tmp_path / "pulled.guira").read_bytes() == (files / "small.guira").read_bytes()
        assert "has closed the connection" in refused("push", files / "small.guira", f"redis://localhost:{port}/birds")
    finally:
        server.close()


def count_bytes(server, words):
    """How many bytes a command of the program sends, and gets."""
    sent, got = [], []
    count = lambda counts: lambda data: counts.append(len(data))
    with Relay(server, count(sent), count(got)) as relay:
        guira(*words(url(relay)))
    return sum(sent), sum(got)


def killed_after(server, words, sent=None, got=None):
    """Runs the program, and kills it when this many bytes have gone to the server, or come from it."""
    process, counts = [], [0, 0]
    started = threading.Event()

    def look(index, limit):
        def look(data):
            before, counts[index] = counts[index], counts[index] + len(data)
            if limit is None or counts[index] < limit:
                return None
            started.wait()
            process[0].kill()
            process[0].wait()
            return limit - before

        return look

    with Relay(server, look(0, sent), look(1, got)) as relay:
        process.append(subprocess.Popen([PROGRAM, *map(str, words(url(relay)))], stderr=subprocess.DEVNULL))
        started.set()
        process[0].wait()


def test_a_killed_push_leaves_the_key_whole_or_absent(server, files):
    client = server.client()
    for present in [False, True]:
        words = lambda address: ["push", "-q", *["--force"] * present, files / "large.guira", address]
        client.flushall()
        size, _ = count_bytes(server, words)
        whole = digest(client, "birds")
        client.delete("birds")
        client.execute_command("CF.ADD", "old", "ani")
        old, outcomes = digest(client, "old"), {}
        # The first and the last requests are small, and what happens at them matters most.
        places = [size] + [random.randrange(1, 2000) for _ in range(KILLS // 5)]
        places += [size - random.randrange(1, 300) for _ in range(KILLS // 5)]
        places += [random.randrange(1, size) for _ in range(KILLS - len(places))]
        for place in places:
            client.delete("birds")
            if present:
                client.copy("old", "birds")
            clients = len(client.client_list())
            killed_after(server, words, sent=place)
            until(lambda: len(client.client_list()) == clients, "the server has noticed")
            found = digest(client, "birds") if client.exists("birds") else None
            assert found in [whole, old if present else None], place
            outcome = "whole" if found == whole else "as it was"
            outcomes[outcome] = outcomes.get(outcome, 0) + 1
            for name in temporary_keys(client):
                # The program is dead, so nothing renews it.
                assert 0 < client.pttl(name) <= EXPIRY, place
                outcomes["temporary keys"] = outcomes.get("temporary keys", 0) + 1
            assert found is None or client.ttl("birds") == -1
            for name in temporary_keys(client):
                client.delete(name)
        print(f"after {len(places)} kills: {outcomes}")
        assert outcomes.get("whole") and outcomes.get("as it was") and outcomes.get("temporary keys")


def killed_while_writing(words, folder, size):
    """Runs the program, and kills it when the temporary file beside its output has this size."""
    process = subprocess.Popen([PROGRAM, *map(str, words)], stderr=subprocess.DEVNULL)
    while process.poll() is None:
        with contextlib.suppress(FileNotFoundError):
            if any(entry.stat().st_size >= size for entry in os.scandir(folder) if entry.name.endswith(".guira-tmp")):
                process.kill()
    return process.returncode


def test_a_killed_pull_leaves_the_file_whole_or_absent(server, files, tmp_path):
    guira("push", "-q", files / "large.guira", url(server))
    pulled = tmp_path / "pulled.guira"
    words = lambda address: ["pull", "-q", address, "-o", pulled]
    _, size = count_bytes(server, words)
    whole, outcomes = pulled.read_bytes(), {}

    def check(what):
        outcome = "whole" if pulled.exists() else "absent"
        assert outcome == "absent" or pulled.read_bytes() == whole, what
        outcomes[outcome] = outcomes.get(outcome, 0) + 1
        pulled.unlink(missing_ok=True)
        for name in os.listdir(tmp_path):
            (tmp_path / name).unlink()

    pulled.unlink()
    for place in [random.randrange(1, size) for _ in range(KILLS - KILLS // 2)]:
        killed_after(server, words, got=place)
        check(f"{place} bytes received")
    for place in [random.randrange(1, len(whole) + 1) for _ in range(KILLS // 2)]:
        killed_while_writing(words(url(server)), tmp_path, place)
        check(f"{place} bytes written")
    print(f"after {KILLS} kills: {outcomes}")
    assert outcomes.get("absent")
    # The next command removes what a killed one has left.
    killed_after(server, words, got=size // 2)
    assert os.listdir(tmp_path) != ["pulled.guira"]
    guira("pull", "-q", url(server), "-o", pulled)
    assert os.listdir(tmp_path) == ["pulled.guira"] and pulled.read_bytes() == whole
