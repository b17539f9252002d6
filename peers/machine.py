"""The machine and the software that a measurement was made with."""

import hashlib
import os
import pathlib
import platform
import re
import subprocess
import tomllib
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

BENCH_LOCK = pathlib.Path(__file__).parent / "../bench/Cargo.lock"


def machine():
    """The processor, the cores that this process may use, the memory and the system."""
    return {
        "processor": processor(pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")),
        "cores": len(os.sched_getaffinity(0)),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "system": f"{platform.system()} {platform.machine()}",
    }


def processor(cpuinfo):
    """The processor's name, if the system provides it."""
    name = re.search(r"^model name\s*: (.*)$", cpuinfo, re.MULTILINE)
    return name[1].strip() if name else "a processor without a name"


def versions(program):
    """The versions of the contestants, and of what runs them."""
    return {
        "broadstream": first_line([program, "--version"]).removeprefix("broadstream "),
        **{name: package(name) for name in ("capymoa", "river", "lightgbm")},
        "irithyll": locked_version(BENCH_LOCK.read_text(encoding="utf-8"), "irithyll"),
        "Java": java_version(first_line(["java", "-version"])),
        "Python": platform.python_version(),
    }


def package(name):
    """The version of a Python package."""
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def locked_version(lock, crate):
    """The version of a crate in the text of a Cargo.lock."""
    packages = tomllib.loads(lock)["package"]
    return next((found["version"] for found in packages if found["name"] == crate), "unknown")


def java_version(line):
    """The version in a line such as `openjdk version "17.0.15" 2025-04-15`."""
    number = re.search(r'"(.*?)"', line)
    return number[1] if number else "unknown"


def first_line(command):
    """The first line that a command prints, wherever it does; '' if it does not run."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return next(iter((done.stdout + done.stderr).splitlines()), "")


def fingerprint(path):
    """Tells one build of a program from another: the beginning of its SHA-256 sum."""
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()[:12]
    except OSError:
        return "missing"


def compiled_module():
    """The compiled part of broadstream's Python package, found without loading it."""
    package = find_spec("broadstream")
    folder = pathlib.Path(package.origin).parent if package and package.origin else pathlib.Path()
    return next(folder.glob("_broadstream*.so"), folder / "_broadstream.so")
