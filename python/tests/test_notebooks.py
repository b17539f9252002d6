"""The gallery of notebooks runs, and prints what is stored in it."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import nbformat
import pytest

FOLDER = Path(__file__).parents[2] / "examples/notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


@pytest.fixture(scope="module")
def execute():
    spec = importlib.util.spec_from_file_location("execute_notebooks", FOLDER / "execute.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_shows_what_is_stored_in_it(path, execute):
    if "lightgbm" in path.read_text(encoding="utf-8"):
        # Its package lacks a library that the system may lack too.
        pytest.importorskip("lightgbm", exc_type=(ImportError, OSError))
    stored = nbformat.read(path, as_version=4)
    nbformat.validate(stored)
    assert execute.shown(execute.executed(path)) == execute.shown(stored)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_stored_with_its_outputs(path):
    cells = nbformat.read(path, as_version=4).cells
    code = [cell for cell in cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    kinds = {kind for cell in code for output in cell.outputs for kind in output.get("data", ())}
    assert not any(output.output_type == "error" for cell in code for output in cell.outputs)
    assert any(cell.outputs for cell in code)
    if "merging" not in path.stem:
        assert "image/png" in kinds
    assert cells[0].cell_type == "markdown" and cells[0].source.startswith("# ")
    assert path.stat().st_size < 400_000


def test_all_notebooks_are_listed_in_the_guide():
    guide = (FOLDER.parents[1] / "docs/how-to/python.md").read_text(encoding="utf-8")
    for path in NOTEBOOKS:
        assert path.name in guide
