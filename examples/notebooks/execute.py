"""Run the notebooks of this folder again and store their outputs, or render them as pages.

    python examples/notebooks/execute.py                    # all of them
    python examples/notebooks/execute.py drift.ipynb        # this one
    python examples/notebooks/execute.py --html target/notebooks

The tests run them too, and compare what they print with what is stored.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parent
TIMEOUT = 900


def executed(path: Path) -> nbformat.NotebookNode:
    """Run a notebook in a folder of its own, and return it with what it printed and drew.

    Parameters
    ----------
    path : Path
        The notebook. An error in a cell is raised.
    """
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(
            notebook,
            timeout=TIMEOUT,
            startup_timeout=TIMEOUT,
            kernel_name="python3",
            record_timing=False,
            resources={"metadata": {"path": folder}},
        )
        client.execute()
    for cell in notebook.cells:
        # A line that showed progress is empty when it is done.
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if not _is_empty(output)]
    # The version of Python would change with every run elsewhere.
    notebook.metadata["language_info"] = {"name": "python"}
    return notebook


def shown(notebook: nbformat.NotebookNode) -> list[list[Any]]:
    """Return what each code cell shows. A figure counts as one, whatever it looks like.

    Parameters
    ----------
    notebook : NotebookNode
        A notebook that was executed.
    """
    return [
        [_content(output) for output in cell.outputs]
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


def _content(output: nbformat.NotebookNode) -> Any:
    if "data" not in output:
        return (output.get("name"), output.get("text"))
    return {
        kind: content if kind.startswith("text/") else "a figure"
        for kind, content in output.data.items()
    }


def _is_empty(output: nbformat.NotebookNode) -> bool:
    return "data" in output and list(output.data.items()) == [("text/plain", "")]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Run notebooks and store their outputs.")
    parser.add_argument("notebooks", nargs="*", type=Path, help="all of this folder by default")
    parser.add_argument("--html", type=Path, metavar="DIR", help="also write a page for each")
    return parser.parse_args()


def main() -> int:
    """Run notebooks as the arguments say, and return the exit code."""
    arguments = _arguments()
    for path in arguments.notebooks or sorted(FOLDER.glob("*.ipynb")):
        notebook = executed(path)
        nbformat.write(notebook, path)
        print(path.name)
        if arguments.html:
            from nbconvert import HTMLExporter

            arguments.html.mkdir(parents=True, exist_ok=True)
            page, _ = HTMLExporter().from_notebook_node(notebook)
            (arguments.html / f"{path.stem}.html").write_text(page, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
