"""`python -m graphmend ...`: `run`, `explain` and `verify` are done here, the rest by the native command beside it."""

import os
import sys

if __name__ == "__main__" and not getattr(sys.flags, "safe_path", False):
    # Where `python -m` looks first; files there are the program's, and may be called as those of Python are.
    sys.path[:1] = [] if sys.path[0] == os.getcwd() else sys.path[:1]  # noqa: PTH109

import subprocess
import sysconfig
from pathlib import Path


def find_command() -> Path | None:
    """The native command `graphmend`; GRAPHMEND_BIN may name another one for development."""
    chosen = os.environ.get("GRAPHMEND_BIN")
    if chosen:
        return Path(chosen)
    name = "graphmend" + (sysconfig.get_config_var("EXE") or "")
    package = Path(__file__).resolve().parent
    user_scheme = sysconfig.get_preferred_scheme("user")
    folders = [
        Path(sysconfig.get_path("scripts")),
        Path(sysconfig.get_path("scripts", scheme=user_scheme)),
        # `pip install --prefix` and `--target` put the command beside the packages.
        package.parent.parent.parent.parent / "bin",
        package.parent / "bin",
    ]
    return next((folder / name for folder in folders if (folder / name).is_file()), None)


def main() -> int:
    # The native command hands these over to Python: they must not go back to it.
    if sys.argv[1:2] and sys.argv[1] in ("run", "explain", "verify"):
        from graphmend._running import run

        return run.main(sys.argv[1:])
    command = find_command()
    if command is None:
        print(
            "graphmend: error: the native command is not installed beside this package; reinstall graphmend",
            file=sys.stderr,
        )
        return 2
    arguments = [str(command), *sys.argv[1:]]
    try:
        if os.name == "posix":
            os.execv(command, arguments)
        return subprocess.run(arguments, check=False).returncode
    except OSError as error:
        print(f"graphmend: error: cannot run {command}: {error.strerror}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
