"""Run a program and measure its wall-clock time, processor time and peak memory."""

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass

LAUNCHER = pathlib.Path(__file__).parent / "launcher.py"


class ProcessFailure(Exception):
    """Says why a program gave no result."""


@dataclass
class Measured:
    """The output of a program, and what it took."""

    output: str
    seconds: float
    cpu_seconds: float
    peak_bytes: int


def run(command, timeout):
    """Run a program, given by its path, to its end or for `timeout` seconds."""
    if not os.access(command[0], os.X_OK):
        raise ProcessFailure(f"there is no program {command[0]}")
    with (
        tempfile.TemporaryFile() as output,
        tempfile.TemporaryFile() as errors,
        tempfile.TemporaryFile() as usage,
    ):
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", LAUNCHER, str(usage.fileno()), *command],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
            pass_fds=[usage.fileno()],
            # A session of its own, so that all of it can be killed.
            start_new_session=True,
        )
        try:
            process.wait(timeout)
        except BaseException as error:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            if isinstance(error, subprocess.TimeoutExpired):
                raise ProcessFailure(f"no result after {timeout:.0f} seconds") from error
            raise
        measured = json.loads(content(usage) or '{"exit_code": "unknown"}')
        if exit_code := measured.pop("exit_code"):
            raise ProcessFailure(f"exit code {exit_code}: {last_line(content(errors))}")
        return Measured(output=content(output), **measured)


def content(file):
    file.seek(0)
    return file.read().decode(errors="replace")


def last_line(text):
    """The last line that a program wrote, which names the error in nearly all of them."""
    lines = text.strip().splitlines()
    return lines[-1].strip() if lines else "it printed nothing"
