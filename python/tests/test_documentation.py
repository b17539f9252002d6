"""The examples in the documentation run and print what they show."""

import contextlib
import doctest
import importlib
import io
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import broadstream
from broadstream import _broadstream

ROOT = Path(__file__).parents[2]
MODULES = sorted(
    module.name
    for module in pkgutil.iter_modules(broadstream.__path__, "broadstream.")
    if module.name not in ("broadstream._broadstream", "broadstream.bench_peers")
)


def run_doctests(tests):
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    report = io.StringIO()
    for test in tests:
        runner.run(test, out=report.write)
    assert not runner.failures, report.getvalue()
    return runner.tries


@pytest.mark.parametrize("name", ["broadstream", *MODULES])
def test_examples_in_modules(name):
    module = importlib.import_module(name)
    run_doctests(doctest.DocTestFinder().find(module, name))


def test_examples_in_compiled_classes():
    finder = doctest.DocTestFinder()
    tests = []
    for kind in (_broadstream.OnlineBLS, _broadstream.Stream):
        tests += finder.find(kind, kind.__name__, module=False)
        for name, member in vars(kind).items():
            if getattr(member, "__doc__", None) and not name.startswith("__"):
                tests += finder.find(member, f"{kind.__name__}.{name}", module=False, globs={})
    assert run_doctests({test.name: test for test in tests if test.examples}.values()) > 20


def test_everything_public_is_documented():
    for kind in (broadstream.OnlineBLS, broadstream.Stream, broadstream.Certificate):
        assert kind.__doc__
        for name, member in vars(kind).items():
            assert name.startswith("_") or member.__doc__, f"{kind.__name__}.{name}"
    for name in broadstream.__all__:
        assert getattr(broadstream, name).__doc__, name


def blocks(file):
    """The Python blocks of a document, each with the text block that follows it as its output."""
    text = (ROOT / file).read_text(encoding="utf-8")
    pattern = r"```python\n(.*?)```(?:\n+```text\n(.*?)```)?"
    return [
        pytest.param(code, output, id=f"{file}-{i}")
        for i, (code, output) in enumerate(re.findall(pattern, text, re.DOTALL))
    ]


PAGES = ["README.md", *sorted(str(p.relative_to(ROOT)) for p in (ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("code, output", [block for page in PAGES for block in blocks(page)])
def test_documents_print_what_they_say(code, output, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "document", "exec"), {"__name__": "document"})
    assert printed.getvalue() == output


@pytest.mark.parametrize(
    "example", sorted((ROOT / "examples/python").glob("*.py")), ids=lambda p: p.stem
)
def test_examples_run(example, tmp_path):
    done = subprocess.run(
        [sys.executable, example], cwd=tmp_path, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


def test_the_benchmark_runs():
    command = [sys.executable, "-m", "broadstream.bench_peers", "--rounds", "1", "--limit", "50"]
    methods = ["--methods", "broadstream.river, one by one", "River HoeffdingTree", "--no-calls"]
    done = subprocess.run([*command, *methods], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("@") == 7 and not done.stderr
    refused = subprocess.run([*command, "--rounds", "0"], capture_output=True, text=True)
    assert refused.returncode == 2 and "at least 1" in refused.stderr


def test_it_imports_fast_and_needs_nothing_but_numpy():
    """Only numpy is imported; the benchmark measures how long that takes."""
    program = (
        "import sys, numpy; before = set(sys.modules); import broadstream; "
        "new = {m.partition('.')[0] for m in set(sys.modules) - before}; "
        "print(sorted(new - set(sys.stdlib_module_names) - {'broadstream', 'numpy'}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
