"""Model files: replaced as a whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any


def write(file: Any, content: bytes) -> None:
    """Writes to a path, or to a file that is open for writing bytes."""
    if hasattr(file, "write"):
        file.write(content)
        return
    # What a link points to is replaced, not the link.
    path = Path(os.path.realpath(os.fspath(file)))
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a directory, expected a file")
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as out:
            out.write(content)
            out.flush()
            os.fsync(out.fileno())
        os.chmod(temporary, _mode(path))
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def read(file: Any) -> bytes:
    """Reads a path, or a file that is open for reading bytes."""
    if hasattr(file, "read"):
        content = file.read()
        if not isinstance(content, bytes):
            raise TypeError("expected a file that is open for reading bytes")
        return content
    return Path(os.fspath(file)).read_bytes()


def _mode(path: Path) -> int:
    """The permissions that the file has, or would have been given."""
    try:
        return path.stat().st_mode & 0o777
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask
