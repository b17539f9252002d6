"""Start a program, wait for its end, and tell what it took.

    python -I -S launcher.py FD PROGRAM [ARGUMENTS]

The result goes to the open file FD as JSON. The system reports a child's peak memory as at least that of the
process that started it. Hence this is a program of its own that imports next to nothing: below its 9 MB,
memory cannot be measured.
"""

import os
import sys
import time

start = time.perf_counter()
process = os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ)
_, status, usage = os.wait4(process, 0)
seconds = time.perf_counter() - start
cpu_seconds = usage.ru_utime + usage.ru_stime
# Linux counts memory in kilobytes. Importing `json` would take more memory than all of this.
os.write(
    int(sys.argv[1]),
    b'{"exit_code": %d, "seconds": %r, "cpu_seconds": %r, "peak_bytes": %d}'
    % (os.waitstatus_to_exitcode(status), seconds, cpu_seconds, 1024 * usage.ru_maxrss),
)
