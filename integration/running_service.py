"""A service that runs as a process of its own."""

import os
import pathlib
import re
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = pathlib.Path(
    os.environ.get("BROADSTREAM_PROGRAM", ROOT / "target/release/broadstream")
).resolve()


class RunningService:
    """A process of `broadstream serve`, on a port that is free."""

    def __init__(self, log, *options, listen="127.0.0.1:0"):
        self._log = log
        with open(log, "w", encoding="utf-8") as file:
            self._process = subprocess.Popen(
                [PROGRAM, "serve", "--listen", listen, *options],
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
            )
        self.address = wait_for(self._find_address, seconds=20)

    def _find_address(self):
        assert self._process.poll() is None, self.log()
        found = re.search(r'"listening","address":"([^"]+)"', self.log())
        return f"http://{found[1]}" if found else None

    def log(self):
        return self._log.read_text(encoding="utf-8")

    def stop(self):
        """Ends it as an operator would, and returns its exit code."""
        self._process.terminate()
        try:
            return self._process.wait(30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            raise


def wait_for(condition, *, seconds, every=0.1):
    """What the condition returns once that is true."""
    deadline = time.monotonic() + seconds
    while True:
        found = condition()
        if found:
            return found
        assert time.monotonic() < deadline, f"{condition} did not hold within {seconds} seconds"
        time.sleep(every)
