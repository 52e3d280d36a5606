"""What several test files share: where the library's stored files are."""

from pathlib import Path

import pytest

GOLDEN = Path(__file__).parents[2] / "guira" / "tests" / "golden" / "v1"


@pytest.fixture(scope="session")
def golden() -> Path:
    assert GOLDEN.is_dir(), f"the stored files of the library are not at {GOLDEN}"
    return GOLDEN
