"""Inside a program that `graphmend run` started: `torch.compile` is exchanged when torch is imported, and at the end
the reports are gathered, from this process and those that it started.

Nothing is imported that the program does not import itself, torch least of all.
"""

import atexit
import itertools
import os
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

# What GRAPHMEND_RUN says: how to run, the process that reports in the end, where the others leave their reports.
MENDED, EXPLAINED, EAGER = "run", "explain", "eager"

_trouble = ""


def start() -> None:
    """Prepares this process. Called once, before the program."""
    mode, root, folder = os.environ["GRAPHMEND_RUN"].split(":", 2)
    if mode == EAGER:
        change = run_in_eager
    else:
        from graphmend import _config

        if _config.current().disable:
            return
        change = own_compile
        atexit.register(_finish, mode, int(root), folder, os.getpid())
    torch = sys.modules.get("torch")
    if torch is not None:
        change(torch)
    else:
        sys.meta_path.insert(0, _TorchFinder(change))


class _TorchFinder:
    """Finds torch as everybody else does, and has a word with it once it is imported."""

    def __init__(self, change: Callable[[Any], None]) -> None:
        self.change = change
        self.finding = False

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != "torch" or self.finding:
            return None
        self.finding = True
        try:
            for finder in sys.meta_path:
                find = getattr(finder, "find_spec", None)
                spec: ModuleSpec | None = find(name, path, target) if find and finder is not self else None
                if spec is not None:
                    if spec.loader is not None:
                        spec.loader = _TorchLoader(spec.loader, self)  # type: ignore[assignment]
                    return spec
        finally:
            self.finding = False
        return None


class _TorchLoader:
    """A loader that gives its place back before the module runs, so that nobody meets it afterwards."""

    def __init__(self, loader: Any, finder: _TorchFinder) -> None:
        self._loader = loader
        self._finder = finder

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> Any:
        return self._loader.create_module(spec)

    def exec_module(self, module: Any) -> None:
        module.__loader__ = module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        if self._finder in sys.meta_path:
            sys.meta_path.remove(self._finder)
        self._finder.change(module)


def own_compile(torch: Any) -> None:
    """`torch.compile` and `Module.compile` are ours from now on, for all callers but torch and graphmend."""
    mended = None

    def choose() -> Any:
        nonlocal mended
        if mended is None:
            mended = _mended_compile() or plain
        return mended

    plain = _replace(torch, choose)
    if sys.excepthook is sys.__excepthook__:
        sys.excepthook = _show_without_us


def run_in_eager(torch: Any) -> None:
    """What `torch.compile` returns is what it always is, and runs as if it had never been compiled."""
    stance_is_set = False

    def choose() -> Any:
        nonlocal stance_is_set
        if not stance_is_set:
            stance_is_set = True
            torch.compiler.set_stance("force_eager")
        return plain

    plain = _replace(torch, choose)


def _replace(torch: Any, choose: Callable[[], Any]) -> Any:
    """Puts a function that asks `choose` in the place of `torch.compile`; returns torch's own."""
    import functools

    plain = torch.compile
    plain_module_compile = torch.nn.Module.compile

    @functools.wraps(plain)
    def compile(*args: Any, **kwargs: Any) -> Any:  # noqa: A001
        if _top_package(sys._getframe(1)) in ("torch", "graphmend"):
            return plain(*args, **kwargs)
        return choose()(*args, **kwargs)

    @functools.wraps(plain_module_compile)
    def module_compile(self: Any, *args: Any, **kwargs: Any) -> None:
        compiled = choose()(self._call_impl, *args, **kwargs)
        report = getattr(compiled, "report", None)
        if report is not None:
            # Not after `_call_impl`, which all modules have.
            report.name = type(self).__qualname__
        self._compiled_call_impl = compiled

    torch.compile = compile
    torch.nn.Module.compile = module_compile
    return plain


def _show_without_us(kind: type[BaseException], error: BaseException, traceback: Any) -> None:
    """An exception that nobody caught, as Python shows it, without the frames of graphmend."""
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        one = waiting.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        one.__traceback__ = _without_us(one.__traceback__)
        waiting += [one.__cause__, one.__context__, *getattr(one, "exceptions", ())]
    sys.__excepthook__(kind, error, error.__traceback__)


def _without_us(traceback: Any) -> Any:
    entries = []
    while traceback is not None:
        entries.append(traceback)
        traceback = traceback.tb_next
    theirs = [entry for entry in entries if _top_package(entry.tb_frame) != "graphmend"]
    # What was raised in graphmend itself is its fault, and shown as it is.
    if not theirs or theirs[-1] is not entries[-1]:
        return entries[0] if entries else None
    for entry, following in itertools.pairwise(theirs):
        entry.tb_next = following
    return theirs[0]


def _top_package(frame: Any) -> str:
    from graphmend._frame_file import FRAME_FILE

    # Code that is made for one call has no module of ours, but our name.
    if frame.f_code.co_filename == FRAME_FILE:
        return "graphmend"
    name: Any = frame.f_globals.get("__name__")
    return name.partition(".")[0] if isinstance(name, str) else ""


def _mended_compile() -> Any:
    """`graphmend.compile`; None when it cannot work with this torch, which the summary tells."""
    global _trouble
    try:
        from graphmend import _native
        from graphmend._mending.compile import compile as mended_compile
        from graphmend._reporting.report import keep_all
        from graphmend._torch.version import require_torch

        require_torch()
        _native.library()
        keep_all()
    except Exception as error:
        _trouble = str(error) or repr(error)
        return None
    return mended_compile


def _finish(mode: str, root: int, folder: str, process: int) -> None:
    """At the end of the process, after everything that the program registered."""
    # A fork that ends as its parent does has the parent's reports, not its own.
    if os.getpid() != process:
        return
    try:
        _report_or_leave(mode, root, folder, process)
    finally:
        if getattr(sys, "last_type", None) is KeyboardInterrupt:
            _stay_interrupted()


def _stay_interrupted() -> None:
    # CPython ends by SIGINT, as a shell expects, when the last text that was executed ended by KeyboardInterrupt. What
    # was imported just now executes text too (data classes), so that has to be said again.
    try:
        exec("raise KeyboardInterrupt")
    except KeyboardInterrupt:
        return


def _report_or_leave(mode: str, root: int, folder: str, process: int) -> None:
    from graphmend import _config
    from graphmend._running import gather

    settings = _config.current()
    if process != root:
        gather.leave(folder, _trouble)
        return
    gathered = gather.collect(folder, _trouble)
    if "torch" not in sys.modules and not gathered.reports:
        gathered.note = "the program did not import torch"
    if mode == EXPLAINED:
        _say(1, gathered.explanation())
    elif not settings.quiet:
        _say(2, gathered.summary())
    if settings.report:
        problem = gathered.save(settings.report, gather.words_of_program())
        if problem or not settings.quiet:
            _say(2, problem or f"graphmend: the report is in {settings.report}")


def _say(descriptor: int, text: str) -> None:
    # The program may have closed or replaced its streams; what they still hold comes first.
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            continue
    stream = sys.__stdout__ if descriptor == 1 else sys.__stderr__
    encoding = getattr(stream, "encoding", None) or "utf-8"
    try:
        data = memoryview((text + "\n").encode(encoding, "backslashreplace"))
        while data:
            data = data[os.write(descriptor, data) :]
    except OSError:
        # Nobody reads it any more.
        return
