"""Keep one core of the machine busy with other work."""

import contextlib
import os
import subprocess
import sys

# It ends by itself if the process that started it is gone.
SPIN = """
import os, sys
os.sched_setaffinity(0, {int(sys.argv[1])})
parent = os.getppid()
while os.getppid() == parent:
    for _ in range(1_000_000):
        pass
"""


@contextlib.contextmanager
def busy_core():
    """Spin on the last core that this process may use, for as long as the context lasts."""
    core = max(os.sched_getaffinity(0))
    # Ctrl-C reaches it too, and need not be reported twice.
    process = subprocess.Popen([sys.executable, "-c", SPIN, str(core)], stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.kill()
        process.wait()
