"""The ``broadstream`` command, which is compiled into the package.

It stands beside the package, not in it: importing the package imports numpy, which takes several times as
long as a short command, and which no command needs.
"""

from __future__ import annotations

import signal
import sys
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import NoReturn

_COMPILED = "broadstream._broadstream"


def main() -> NoReturn:
    """Run the command with the arguments of this program, and exit with its exit code."""
    # Python turns Ctrl-C into an exception, which would wait until the command has ended. If it is ignored,
    # as by nohup, it stays so.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(_compiled().run_command(sys.argv))


def _compiled() -> ModuleType:
    """The compiled module, without the package around it."""
    package = find_spec("broadstream")
    locations = package.submodule_search_locations if package else None
    spec: ModuleSpec | None = PathFinder.find_spec(_COMPILED, locations)
    if spec is None or spec.loader is None:
        raise ImportError(f"cannot find {_COMPILED}: is the package installed?")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
