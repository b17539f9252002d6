"""Read and write model files, which are replaced atomically."""

from __future__ import annotations

import os
import secrets
import shutil
from pathlib import Path
from typing import Any


def write(file: Any, content: bytes) -> None:
    """Write to a path or to a file open for writing bytes."""
    if hasattr(file, "write"):
        file.write(content)
        return
    # Replace the file that a link points to, not the link.
    path = Path(os.path.realpath(os.fspath(file)))
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a directory, expected a file")
    if path.exists() and not path.is_file():
        # A pipe or a device cannot be replaced, only written to.
        path.write_bytes(content)
        return
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with open(temporary, "xb") as out:
            out.write(content)
            out.flush()
            os.fsync(out.fileno())
        if path.exists():
            shutil.copymode(path, temporary)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def read(file: Any) -> bytes:
    """Read a path or a file open for reading bytes."""
    if hasattr(file, "read"):
        content = file.read()
        if not isinstance(content, bytes):
            raise TypeError("expected a file open for reading bytes")
        return content
    return Path(os.fspath(file)).read_bytes()
