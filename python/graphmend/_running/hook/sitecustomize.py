"""Python imports this at its start in a program that `graphmend run` runs, because this folder is on its path.

It takes its folder off the path again, prepares the program, and makes way for a sitecustomize of the user's own. It is
read by every Python that the program starts, whatever its version and packages, so it is careful: what it cannot do it
leaves, and the program runs as it always did.
"""

import os
import sys


def _start() -> None:
    here = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 - pathlib costs more than all of this
    sys.path[:] = [entry for entry in sys.path if entry != here]
    if "GRAPHMEND_RUN" in os.environ and sys.version_info >= (3, 10):
        package = os.path.dirname(os.path.dirname(here))  # noqa: PTH120
        import importlib.util

        # The graphmend that was started, though another one, or none, may be installed for this Python.
        spec = importlib.util.spec_from_file_location(
            "graphmend",
            os.path.join(package, "__init__.py"),  # noqa: PTH118
            submodule_search_locations=[package],
        )
        if spec is not None and spec.loader is not None and "graphmend" not in sys.modules:
            sys.modules["graphmend"] = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(sys.modules["graphmend"])
        from graphmend._running import running

        running.start()


try:
    _start()
except Exception as error:
    sys.stderr.write(f"graphmend: warning: torch.compile is not mended in this process: {error!r}\n")

# Who imported this gets the user's own, or hears that there is none.
del sys.modules["sitecustomize"]
__import__("sitecustomize")
