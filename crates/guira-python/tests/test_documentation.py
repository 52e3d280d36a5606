"""The examples in the documentation strings and in the documents, run."""

import doctest
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import guira_filters

PACKAGE = Path(__file__).parents[1]


def examples():
    finder = doctest.DocTestFinder(exclude_empty=True)
    names = vars(guira_filters)
    for name in guira_filters.__all__:
        thing = getattr(guira_filters, name)
        if isinstance(thing, type):
            # The methods of compiled classes are none that the finder knows.
            for method in [thing, *vars(thing).values()]:
                yield from finder.find(method, name, globs=dict(names)) if getattr(method, "__doc__", None) else ()
        elif callable(thing):
            yield from finder.find(thing, name, globs=dict(names))


def test_the_examples_of_documentation_strings_are_true():
    runner = doctest.DocTestRunner()
    found = [example for example in examples() if example.examples]
    assert len(found) >= 6
    for example in found:
        runner.run(example)
    assert runner.summarize().failed == 0


def test_everything_that_is_public_has_a_documentation_string():
    without = []
    for name in guira_filters.__all__:
        thing = getattr(guira_filters, name)
        if name != "__version__" and not thing.__doc__:
            without.append(name)
        if isinstance(thing, type):
            for member, value in vars(thing).items():
                if not member.startswith("_") and not value.__doc__:
                    without.append(f"{name}.{member}")
    assert without == []


def test_the_programs_of_engines_are_those_of_the_examples():
    document = (PACKAGE / "../../docs/engines.md").read_text()
    sections = re.split(r"^## ", document, flags=re.MULTILINE)[1:]
    found = 0
    for section in sections:
        example = PACKAGE / "examples" / f"with_{section.splitlines()[0].lower()}.py"
        if not example.exists():
            continue
        program = example.read_text()
        for code in re.findall(r"```python\n(.*?)```", section, flags=re.DOTALL):
            # It may be the body of a function there.
            places = [textwrap.indent(code, " " * 4 * depth).rstrip() for depth in range(6)]
            assert any(place in program for place in places), f"{example.name} has other lines than {code}"
            found += 1
    assert found >= 10


@pytest.mark.parametrize("document", ["README.md", "recipes.md", "../../README.md", "../../docs/expiring.md"])
def test_the_examples_of_documents_are_true(document, tmp_path):
    """All Python of a document is one program, in a folder of its own."""
    lines, program, inside = (PACKAGE / document).read_text().splitlines(), [], False
    for line in lines:
        if line.startswith("```"):
            inside = line == "```python"
            program.append("")
        else:
            program.append(line if inside else "")
    assert any(program)
    file = tmp_path / "example.py"
    file.write_text("\n".join(program))
    ran = subprocess.run([sys.executable, file], cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
