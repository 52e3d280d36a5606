"""The programs of recipes.md that need other programs, servers and loaders, started as it says; and the examples with engines that
are libraries. Those with others are run by crates/guira-python/engines."""

import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import guira_filters

PACKAGE = Path(__file__).parents[1]
RECIPES = (PACKAGE / "recipes.md").read_text()

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")


def program_of(name):
    """The program of that name in the document."""
    [program] = re.findall(rf'^```python title="{name}"\n(.*?)^```', RECIPES, re.DOTALL | re.MULTILINE)
    return program


def command_of(program):
    """The command line of a program in the document."""
    [command] = re.findall(rf"^```sh\n({program} .*)\n```", RECIPES, re.MULTILINE)
    return shlex.split(command)


def answer(connection):
    connection.settimeout(60)
    with connection.makefile("rb") as file:
        return file.read().rpartition(b"\r\n\r\n")[2]


@needs_fork
def test_all_workers_of_gunicorn_answer_from_one_mapped_file(tmp_path):
    known = guira_filters.CuckooFilter(1000)
    known.update(f"user {n}" for n in range(1000))
    known.save(tmp_path / "known.guira")
    (tmp_path / "app.py").write_text(program_of("app.py"))
    # Beside this interpreter, whether or not it is on the path; and where no other server listens.
    program, *options = command_of("gunicorn")
    command = [sys.executable, "-m", program, *options]
    environment = {**os.environ, "GUNICORN_CMD_ARGS": "--bind unix:socket --no-control-socket"}
    with subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True) as server:
        try:
            workers, said = set(), []
            for line in server.stderr:
                said.append(line)
                workers |= set(re.findall(r"Booting worker with pid: (\d+)", line))
                if len(workers) == 4:
                    break
            assert len(workers) == 4, "".join(said)
            if Path("/proc").is_dir():
                for worker in workers:
                    assert str(tmp_path / "known.guira") in Path(f"/proc/{worker}/maps").read_text()
            # A worker waits for the rest of the request that it has taken, so that four of them are at work here.
            for asked, expected in (("user%207", b"probably"), ("koel", b"certainly not")):
                connections = []
                for _ in range(4):
                    connection = socket.socket(socket.AF_UNIX)
                    connection.connect(str(tmp_path / "socket"))
                    connection.sendall(f"GET /{asked} HTTP/1.0\r\n".encode())
                    connections.append(connection)
                for connection in connections:
                    connection.sendall(b"\r\n")
                assert [answer(connection) for connection in connections] == [expected] * 4
                for connection in connections:
                    connection.close()
        finally:
            server.terminate()
            # It may say more than a pipe holds.
            server.stderr.read()


def has_torch(python, folder):
    """Whether it has PyTorch, and the package in that folder is for its version."""
    command = [python, "-c", "import torch, numpy, guira_filters"]
    return subprocess.run(command, cwd=folder, capture_output=True).returncode == 0


@needs_fork
def test_a_loader_of_pytorch_has_workers_that_share_a_file(tmp_path):
    # Debian has it for its own interpreter, without the gigabytes of other distributions.
    interpreters = [sys.executable, os.environ.get("GUIRA_TORCH_PYTHON", "/usr/bin/python3")]
    # Of this environment another interpreter gets the package alone.
    shutil.copytree(Path(guira_filters.__file__).parent, tmp_path / "guira_filters")
    python = next((python for python in interpreters if shutil.which(python) and has_torch(python, tmp_path)), None)
    if python is None:
        pytest.skip("there is no PyTorch for this version of Python: apt-get install python3-torch")
    (tmp_path / "loader.py").write_text(program_of("loader.py"))
    ran = subprocess.run([python, "loader.py"], cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize("engine", ["duckdb", "polars"])
def test_the_examples_with_engines_check_their_answers(engine, tmp_path):
    command = [sys.executable, PACKAGE / "examples" / f"with_{engine}.py", "--keys", "100000"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert "built of 20" in ran.stdout
