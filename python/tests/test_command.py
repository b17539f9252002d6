"""The ``broadstream`` command that pip installs behaves as a program, not as a script."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import broadstream

COMMAND = [str(Path(sysconfig.get_path("scripts")) / "broadstream")]
MODULE = [sys.executable, "-m", "broadstream"]


def run(*arguments, command=COMMAND, **options):
    return subprocess.run(
        [*command, *map(str, arguments)], capture_output=True, text=True, timeout=120, **options
    )


def started(*arguments, interrupt=signal.SIG_DFL, **options):
    """A command that runs beside the test. What it does about Ctrl-C is not left to how the tests run."""
    return subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, interrupt),
        **options,
    )


def generating(**options):
    """A command that writes lines until somebody stops it."""
    return started("generate", "sea", "--samples", 100_000_000, **options)


@pytest.fixture
def model(tmp_path):
    """The file of a model of two inputs."""
    made = broadstream.OnlineBLS(preset="single", enhancement_nodes=20)
    rows = [{"volts": float(i), "phase": float(i % 3)} for i in range(60)]
    made.learn_many(rows, ["high" if i > 30 else "low" for i in range(60)])
    path = tmp_path / "model.bsm"
    made.save(path)
    return path


@pytest.mark.parametrize("command", [COMMAND, MODULE], ids=["command", "module"])
def test_it_is_the_command_of_this_version(command):
    done = run("--version", command=command)
    assert (done.returncode, done.stdout) == (0, f"broadstream {broadstream.__version__}\n")
    assert "run" in run("--help", command=command).stdout


def test_it_evaluates_as_the_package_does():
    done = run("run", "sea:samples=600", "--preset", "single", "--json", "--quiet")
    found = broadstream.evaluate("sea:samples=600", broadstream.OnlineBLS(preset="single"))
    assert f'"oca":{found.accuracy}' in done.stdout.replace(" ", "")


def test_exit_codes_are_those_of_the_program(tmp_path):
    missing = run("run", tmp_path / "missing.csv")
    assert missing.returncode == 1
    assert missing.stderr.startswith("error: ") and missing.stderr.count("\n") == 1
    for arguments in (["run", "sea", "--forgetting", "2"], ["dance"], []):
        assert run(*arguments).returncode == 2, arguments


def test_rows_come_from_a_pipe_and_are_answered_at_once(model):
    with started("predict", model, stdin=subprocess.PIPE, text=True) as predicting:
        for rows, answers in [("volts,phase\n1.0,2.0\n", 2), ("3.0,1.0\n", 1), ("40.0,0.0\n", 1)]:
            predicting.stdin.write(rows)
            predicting.stdin.flush()
            # The first answer comes with a header.
            for _ in range(answers):
                assert predicting.stdout.readline().count(",") == 2
        predicting.stdin.close()
        assert predicting.wait(60) == 0


def test_a_reader_who_has_seen_enough_is_no_failure():
    with generating() as running:
        assert running.stdout.readline() == b"0,1,2,class\n"
        running.stdout.close()
        assert running.wait(60) == 0
        assert running.stderr.read() == b""


def test_ctrl_c_ends_it_at_once():
    with generating() as running:
        running.stdout.readline()
        running.send_signal(signal.SIGINT)
        assert running.wait(60) == -signal.SIGINT
        assert running.stderr.read() == b""


def test_ctrl_c_is_ignored_where_it_was():
    """As by nohup, and by shells that start a program in the background."""
    with generating(interrupt=signal.SIG_IGN) as running:
        running.stdout.readline()
        running.send_signal(signal.SIGINT)
        # More than a pipe holds.
        assert len(running.stdout.read(1 << 20)) == 1 << 20
        assert running.poll() is None
        running.kill()


@pytest.mark.parametrize("name, code", [("SIGINT", 130), ("SIGTERM", 143)])
def test_signals_let_it_save_first(model, name, code):
    with started("learn", model, stdin=subprocess.PIPE, text=True) as learning:
        learning.stdin.write("volts,phase,y\n1.0,2.0,low\n")
        learning.stdin.flush()
        learning.stdout.readline(), learning.stdout.readline()
        learning.send_signal(getattr(signal, name))
        assert learning.wait(60) == code
        assert "the model was saved" in learning.stderr.read()
    assert broadstream.OnlineBLS.load(model).learned == 61


def test_a_run_resumes_with_the_arguments_that_it_began_with(tmp_path):
    options = ["--preset", "single", "--enhancement-nodes", "20", "--quiet"]
    first = [*options, "--checkpoint", "part.bsm", "--limit", "300"]
    assert run("run", "sea:samples=1000", *first, cwd=tmp_path).returncode == 0
    resumed = run("run", "--resume", "part.bsm", "--limit", "1000", "--json", cwd=tmp_path)
    whole = run("run", "sea:samples=1000", *options, "--json", cwd=tmp_path)
    oca = broadstream.evaluate(
        "sea:samples=1000", broadstream.OnlineBLS(preset="single", enhancement_nodes=20)
    ).accuracy
    for done in (resumed, whole):
        assert f'"oca":{oca}' in done.stdout.replace(" ", ""), done.stderr


def test_it_imports_neither_the_package_nor_numpy():
    program = (
        "import sys, _broadstream_command as command; compiled = command._compiled(); "
        "assert compiled.run_command(['broadstream', '--version']) == 0; "
        "print([name for name in ('numpy', 'broadstream') if name in sys.modules])"
    )
    done = run("-c", program, command=[sys.executable])
    assert done.stdout.splitlines()[-1] == "[]", done.stderr


def test_arguments_may_be_any_bytes(tmp_path):
    name = os.fsdecode(b"r\xff.csv")
    done = run("run", name, cwd=tmp_path)
    assert done.returncode == 2 and "invalid UTF-8" in done.stderr, "as the program has it"
