"""`graphmend run`, `explain` and `verify`: a program must not notice who runs it, and its reader must be told.

Most tests need no torch: a folder called torch, with the two functions that are exchanged, stands in for it.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap
from importlib.util import find_spec
from pathlib import Path

import pytest

from graphmend import _config
from graphmend._checking import verify
from graphmend._running import run

Done = subprocess.CompletedProcess[str]

needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")

STAND_IN = """
def compile(model=None, **settings):
    if model is None:
        return lambda model: compile(model, **settings)
    print("compiled", model.__name__, sorted(settings))
    return model

class nn:
    class Module:
        def compile(self, **settings):
            self._compiled_call_impl = compile(self._call_impl, **settings)

__version__ = "0.0"
"""


def variables(**extra: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GRAPHMEND_")}
    if "GRAPHMEND_LIBRARY" in os.environ:
        kept["GRAPHMEND_LIBRARY"] = os.environ["GRAPHMEND_LIBRARY"]
    return {**kept, **extra}


def python(folder: Path, *words: str, given: str = "", **extra: str) -> Done:
    return subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        input=given,
        env=variables(**extra),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def graphmend(folder: Path, *words: str, given: str = "", **extra: str) -> Done:
    return python(folder, "-m", "graphmend", *words, given=given, **extra)


def write(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(text).lstrip("\n"), encoding="utf-8")


SHOW = """
    import pickle, sys
    class Thing: pass
    thing = pickle.loads(pickle.dumps(Thing()))
    print(type(thing).__module__, sys.argv, __name__, __file__, __package__, sys.path, "torch" in sys.modules)
    print(__spec__ and (__spec__.name, __spec__.origin), sys.flags.optimize, vars(sys.modules["__main__"]) is globals())
"""


@pytest.mark.parametrize(
    "words",
    [
        ("show.py", "a", "--quiet", "-m", "b", "--", "--report"),
        ("-m", "package.inside", "--help"),
        ("-c", "import sys; print(sys.argv, sys.path[0], __name__)", "-q"),
        ("folder", "x"),
    ],
    ids=["script", "module", "code", "folder"],
)
def test_a_program_sees_what_it_sees_without_graphmend(tmp_path: Path, words: tuple[str, ...]) -> None:
    for name in ("show.py", "package/__init__.py", "package/inside.py", "folder/__main__.py"):
        write(tmp_path, name, SHOW)
    plain = python(tmp_path, "-O", *words)
    mended = python(tmp_path, "-O", "-m", "graphmend", "run", *words)
    assert plain.stdout
    assert (mended.stdout, mended.returncode) == (plain.stdout, plain.returncode)
    assert mended.stderr == "graphmend: the program did not import torch\n"


@pytest.mark.parametrize(
    "program",
    [
        "raise SystemExit",
        "import sys; sys.exit(7)",
        "import sys; sys.exit('a reason')",
        "import sys; sys.exit(None)",
        "def f():\n    1 / 0\ntry:\n    f()\nexcept Exception as e:\n    raise KeyError('k') from e",
        "import os, signal; os.kill(os.getpid(), signal.SIGINT); print('not reached')",
        "import os; os._exit(3)",
        "import sys; sys.excepthook = lambda *_: print('mine', flush=True); 1 / 0",
        "import atexit, threading; atexit.register(print, 1); threading.Thread(target=print, args=(2,)).start()",
        "x = (",
    ],
)
def test_it_ends_as_it_always_did(tmp_path: Path, program: str) -> None:
    write(tmp_path, "program.py", program)
    plain = python(tmp_path, "program.py")
    mended = graphmend(tmp_path, "run", "--quiet", "program.py")
    assert (mended.stdout, mended.stderr, mended.returncode) == (plain.stdout, plain.stderr, plain.returncode)


def test_an_interrupt_after_the_summary_still_ends_by_the_signal(tmp_path: Path) -> None:
    write(tmp_path, "program.py", "raise KeyboardInterrupt")
    done = graphmend(tmp_path, "run", "program.py")
    assert done.returncode == -signal.SIGINT
    assert done.stderr.endswith("KeyboardInterrupt\ngraphmend: the program did not import torch\n")


def test_standard_input_is_the_programs(tmp_path: Path) -> None:
    write(tmp_path, "program.py", "print(input()[::-1])")
    assert graphmend(tmp_path, "run", "-q", "program.py", given="abc\n").stdout == "cba\n"
    assert graphmend(tmp_path, "run", "-q", "-", given="print(__name__)\n").stdout == "__main__\n"


def test_the_users_own_sitecustomize_is_imported(tmp_path: Path) -> None:
    write(tmp_path, "own/sitecustomize.py", "print('own')\nvalue = 3\n")
    write(tmp_path, "program.py", "import sitecustomize; print(sitecustomize.value, sitecustomize.__file__)")
    paths = os.pathsep.join(["own", os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    plain = python(tmp_path, "program.py", PYTHONPATH=paths)
    assert plain.stdout.startswith("own\n3 ")
    assert graphmend(tmp_path, "run", "-q", "program.py", PYTHONPATH=paths).stdout.split() == [
        "own",
        *plain.stdout.split(),
    ]


def test_pythons_that_ignore_the_environment_are_refused(tmp_path: Path) -> None:
    write(tmp_path, "program.py", "print('not reached')")
    start = "from graphmend._running import run; run.main(['run', 'program.py'])"
    code = f"import sys; sys.path.insert(0, sys.argv[1]); {start}"
    package = str(Path(run.__file__).parent.parent.parent)
    done = python(tmp_path, "-I", "-c", code, package)
    assert (done.returncode, done.stdout) == (2, "")
    assert "-I" in done.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["run"], "nothing to run: name a script, or `-m MODULE`; see `graphmend run --help`"),
        (["run", "none.py"], "none.py: no such file"),
        (["run", "--quite", "program.py"], "unrecognized arguments: --quite; see `graphmend run --help`"),
        (
            ["run", "--report", "out.pdf", "program.py"],
            "--report: expected a file name that ends in .html, .json or .txt",
        ),
        (["explain", "--packages", "a-b", "program.py"], "--packages: expected dotted names such as `package.module`"),
        (
            ["verify", "--tolerance", "2", "program.py"],
            "argument --tolerance: expected a number from 0 to 1, found `2`",
        ),
        (
            ["verify", "--tolerance", "a", "program.py"],
            "argument --tolerance: expected a number from 0 to 1, found `a`",
        ),
    ],
)
def test_a_bad_command_line_says_what_is_wrong(tmp_path: Path, words: list[str], message: str) -> None:
    write(tmp_path, "program.py", "print('not reached')")
    done = graphmend(tmp_path, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"graphmend: error: {message}")


@pytest.mark.parametrize("command", run.COMMANDS)
def test_help_teaches_by_examples(tmp_path: Path, command: str) -> None:
    done = graphmend(tmp_path, command, "--help")
    assert done.returncode == 0
    assert f"  graphmend {command} " in done.stdout.partition("examples:")[2]
    assert all(f"--{name}" in done.stdout for name in _config.NAMES)


# --- the native command --------------------------------------------------------------------------------------------


def native_command() -> Path:
    beside = Path(sys.executable).parent / "graphmend"
    built = sorted((Path(__file__).parents[2] / "build" / "release").glob("**/graphmend"))
    chosen = os.environ.get("GRAPHMEND_BIN")
    for path in (Path(chosen) if chosen else beside, *built):
        if path.is_file():
            return path
    pytest.fail("no graphmend: build it, or set GRAPHMEND_BIN")


def test_the_native_command_hands_over_to_the_python_beside_it(tmp_path: Path) -> None:
    command = shutil.copy(native_command(), tmp_path / "graphmend")
    for folder in ("", "active/bin", "path"):
        path = tmp_path / folder / "python3"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            f'#!/bin/sh\noption=$1; shift 2; echo "{folder or "beside"}" $option "$@"\nexit 5\n', encoding="utf-8"
        )
        path.chmod(0o755)

    def run(*words: str, **extra: str) -> Done:
        search = f"{tmp_path / 'path'}:{os.environ['PATH']}"
        environment = variables(VIRTUAL_ENV=str(tmp_path / "active"), PATH=search, **extra)
        return subprocess.run(
            [command, *words], env=environment, capture_output=True, text=True, timeout=60, check=False
        )

    done = run("run", "-q", "a b.py", "--help")
    assert (done.stdout, done.returncode) == ("beside -c run -q a b.py --help\n", 5)
    assert run("help", "verify").stdout == "beside -c verify --help\n"
    (tmp_path / "python3").unlink()
    assert run("explain", "x.py").stdout == "active/bin -c explain x.py\n"
    assert run("explain", "x.py", GRAPHMEND_PYTHON="python3").stdout.startswith("path -c explain")
    (tmp_path / "active" / "bin" / "python3").unlink()
    assert run("explain", "x.py").stdout.startswith("path -c explain")
    missing = run("run", "x.py", GRAPHMEND_PYTHON=str(tmp_path / "none"))
    assert missing.returncode == 2
    assert missing.stderr.startswith(f"graphmend: error: cannot run {tmp_path / 'none'}: ")


def test_the_native_command_runs_a_program(tmp_path: Path) -> None:
    write(tmp_path / "inside", "program.py", "import sys; print(sys.argv); sys.exit(4)")
    # Python would not find these: the program's folder is another one.
    for name in ("argparse.py", "types.py", "subprocess.py"):
        write(tmp_path, name, "raise RuntimeError('of the program')")
    words = [str(native_command()), "run", "inside/program.py", "-q"]
    environment = variables(GRAPHMEND_PYTHON=sys.executable)
    done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout, done.returncode) == ("['inside/program.py', '-q']\n", 4)
    (tmp_path / "types.py").unlink()
    assert graphmend(tmp_path, *words[1:]).stdout == done.stdout


# --- torch, or what stands in for it -------------------------------------------------------------------------------


def test_torch_is_found_by_its_own_loader_and_is_exchanged_when_imported(tmp_path: Path) -> None:
    write(tmp_path, "torch/__init__.py", STAND_IN)
    write(
        tmp_path,
        "program.py",
        """
        import importlib.util, sys
        assert importlib.util.find_spec("torch").origin.endswith("__init__.py")
        from torch import compile as early
        import torch
        print(type(torch.__loader__).__name__, type(torch.__spec__.loader).__name__, early is torch.compile)
        print([finder for finder in sys.meta_path if "graphmend" in type(finder).__module__])
        print(torch.compile.__name__, torch.compile.__module__, early.__wrapped__.__code__.co_name)
        @torch.compile(backend="b")
        def f(): ...
        """,
    )
    done = graphmend(tmp_path, "run", "program.py")
    assert done.stdout.splitlines() == [
        "SourceFileLoader SourceFileLoader True",
        "[]",
        "compile torch compile",
        "compiled f ['backend']",
    ]
    # This torch is none that graphmend knows: the program ran as it always did, and its user is told.
    assert done.stderr.startswith("graphmend: torch.compile was left as it is: ")


def test_the_kill_switch(tmp_path: Path) -> None:
    write(tmp_path, "torch/__init__.py", STAND_IN)
    write(tmp_path, "program.py", "import torch; print(hasattr(torch.compile, '__wrapped__'))")
    assert graphmend(tmp_path, "run", "program.py").stdout == "True\n"
    switched = graphmend(tmp_path, "run", "program.py", GRAPHMEND_DISABLE="1")
    assert (switched.stdout, switched.stderr) == ("False\n", "")
    assert graphmend(tmp_path, "run", "--no-disable", "program.py", GRAPHMEND_DISABLE="1").stdout == "True\n"


MODEL = """
    import logging
    import multiprocessing
    import sys
    from torch import compile as early
    import torch

    logging.basicConfig(format="%(filename)s:%(lineno)d %(funcName)s %(message)s")
    log = logging.getLogger("model")

    class Net(torch.nn.Module):
        def forward(self, x):
            print("net", x.shape)
            if x.abs().max() > 1000:
                raise ValueError("too large")
            log.warning("mean of %d", x.numel())
            return x + 1

    @torch.compile(backend="eager")
    def outer(x):
        return torch.compile(torch.sin)(x) + 1

    @early(backend="eager", dynamic=False)
    def left(x):
        torch._dynamo.graph_break()
        return x * len(x)

    def child():
        print("child", left(torch.ones(5)).sum(), flush=True)

    if __name__ == "__main__":
        x = torch.ones(3)
        net = Net()
        net.compile(backend="eager")
        print(net(x), outer(x), left(x))
        if "spawn" in sys.argv:
            process = multiprocessing.get_context("spawn").Process(target=child)
            process.start()
            process.join()
            print(process.exitcode)
        if "fail" in sys.argv:
            net(x * 1e6)
"""


@needs_torch
def test_a_module_is_run_with_one_package_mended_and_a_page(tmp_path: Path) -> None:
    tells = """
        def tell(x):
            print("told", x.sum())
            return x + 1
    """
    main = """
        import sys
        import torch
        sys.path.append("../site-packages")
        import mended, other

        @torch.compile(backend="eager")
        def step(x):
            print("step")
            return other.tell(mended.tell(x))

        print(__name__, sys.argv[1:], step(torch.ones(3)))
    """
    for name, text in {"inside/__init__.py": "", "inside/main.py": main}.items():
        write(tmp_path / "program", name, text)
    for name in ("mended.py", "other.py"):
        write(tmp_path / "site-packages", name, tells)
    words = ("-m", "inside.main", "--report", "mine")
    plain = python(tmp_path / "program", *words)
    done = graphmend(tmp_path / "program", "run", "--packages", "mended", "--report", "pages/out.html", *words)
    assert (done.stdout, done.returncode) == (plain.stdout, 0) and plain.stdout.startswith("step\ntold")
    assert "3 places broke, 2 mended, 1 left" in done.stderr
    page = (tmp_path / "program/pages/out.html").read_text(encoding="utf-8")
    assert "1 place of 3 still breaks the graph" in page and "other.py" in page and "captured in the graphs" in page


@needs_torch
def test_functions_that_are_declared_to_talk_run_after_the_graph(tmp_path: Path) -> None:
    metrics = """
        def note(name, value):
            with open("notes.txt", "a") as notes:
                print(name, value, file=notes)
    """
    main = """
        import metrics
        import torch

        @torch.compile(backend="eager")
        def step(x):
            metrics.note("sum", x.sum().item())
            return x + 1

        print(step(torch.ones(3)), step(torch.zeros(3)))
    """
    write(tmp_path, "metrics.py", metrics)
    write(tmp_path, "main.py", main)
    left = graphmend(tmp_path, "run", "main.py")
    done = graphmend(tmp_path, "run", "--effects", "metrics.note", "main.py")
    assert done.stdout == left.stdout and done.returncode == left.returncode == 0
    assert (tmp_path / "notes.txt").read_text(encoding="utf-8") == "sum 3.0\nsum 0.0\n" * 2
    assert "0 left" in done.stderr and "0 left" not in left.stderr


@needs_torch
def test_a_program_with_torch_is_mended_and_reported_with_its_children(tmp_path: Path) -> None:
    write(tmp_path, "model.py", MODEL)
    done = graphmend(tmp_path, "run", "--report", "out.json", "model.py", "spawn", "fail")
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        "net torch.Size([3])",
        "tensor([2., 2., 2.]) tensor([1.8415, 1.8415, 1.8415]) tensor([3., 3., 3.])",
        "child tensor(25.)",
        "0",
        "net torch.Size([3])",
    ]
    # The traceback is that of the user's frames, and none of them is graphmend's.
    assert 'model.py", line 14, in forward\n    raise ValueError("too large")\nValueError: too large\n' in done.stderr
    assert "graphmend/" not in done.stderr.partition("Traceback")[2].partition("\ngraphmend: ")[0]
    assert "; from 2 processes" in done.stderr
    assert done.stderr.endswith(f"graphmend: the report is in {tmp_path / 'out.json'}\n")
    data = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert data["program"] == "model.py spawn fail"
    assert {report["name"] for report in data["reports"]} >= {"Net", "outer", "left"}
    places = {(b["line"], b["mend"]) for report in data["reports"] for b in [*report["mended"], *report["left"]]}
    assert {(12, "postpone"), (13, "check"), (15, "postpone"), (24, None)} <= places


@needs_torch
def test_explain_shows_each_place_and_verify_finds_them_equal(tmp_path: Path) -> None:
    write(tmp_path, "model.py", MODEL)
    told = graphmend(tmp_path, "explain", "model.py").stdout
    assert '> 12 |         print("net", x.shape)\n     |         ^^^^^^^^^^^^^^^^^^^^^\n' in told
    assert "  mended: postpone" in told
    assert "  to do:  " in told.partition("model.py:24")[2]
    verified = graphmend(tmp_path, "verify", "model.py", "fail")
    assert verified.returncode == 0, verified.stdout
    assert verified.stdout.startswith("graphmend: equal, numbers to the last digit; the program fails: ")
    assert ", exit status 1\n" in verified.stdout


def test_verify_finds_the_first_difference(tmp_path: Path) -> None:
    write(tmp_path, "program.py", "import os\nprint('same')\nprint('run', os.environ['GRAPHMEND_RUN'].split(':')[0])")
    done = graphmend(tmp_path, "verify", "program.py")
    assert done.returncode == 1
    assert "standard output, line 2\n    original: run eager\n    mended:   run run\n" in done.stdout


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        ("loss 0.12345678 at 0x7f00aa", "loss 0.12345679 at 0x7f00bb", True),
        ("loss 0.123", "loss 0.124", False),
        ("step 3", "step 4", False),
        ("nan 1.0", "nan 1.0", True),
        ("inf 1.5e3", "inf 1.5e4", False),
        ("took 1.5 s at 10:11:12", "took 2 s at 10:11:13", True),
        ("v1.2.3", "v1.2.4", False),
        ("tensor(1.5, grad_fn=<MeanBackward0>)", "tensor(1.5)", True),
        (
            '  File "/x/torch/nn/m.py", line 1, in f\n    a\n    ^\n  File "u.py", line 2, in g',
            '  File "u.py", line 2, in g',
            True,
        ),
        ("W0131 12:00:00.000000 12 torch/_dynamo/x.py:1] [0/0] words\nx", "x", True),
        ("words\nx", "x", False),
    ],
)
def test_what_verify_takes_for_equal(one: str, other: str, equal: bool) -> None:
    first, second = (verify.Outcome("", text, 0, 0.0) for text in (one, other))
    assert bool(verify.first_difference(first, second, verify.Rounding(1e-4))) is not equal


def test_without_tolerance_every_digit_counts() -> None:
    first, second = (verify.Outcome(text, "", 0, 0.0) for text in ("0.12345678", "0.12345679"))
    assert verify.first_difference(first, second, verify.Rounding(0.0))


# --- settings ------------------------------------------------------------------------------------------------------


def test_flags_beat_variables_beat_the_file(tmp_path: Path) -> None:
    write(tmp_path, "pyproject.toml", '[tool.graphmend]\npackages = ["file"]\nquiet = true\nreport = "r.html"\n')
    below = tmp_path / "a" / "b"
    write(below, "pyproject.toml", '[project]\nname = "graphmend"\n')
    from_file = _config.load({}, {}, below)
    assert from_file == _config.Settings(packages=("file",), quiet=True, report=str(tmp_path / "r.html"))
    environment = {"GRAPHMEND_PACKAGES": "variable, other", "GRAPHMEND_QUIET": "off", "GRAPHMEND_EFFECTS": ""}
    from_variables = _config.load({}, environment, below)
    assert (from_variables.packages, from_variables.quiet) == (("variable", "other"), False)
    assert _config.load({"packages": "flag"}, environment, below).packages == ("flag",)
    # In a program that is run, all is decided: files that lie elsewhere have no say.
    handed_over = {**_config.to_environment(from_variables), "GRAPHMEND_RUN": "run:1:x"}
    assert _config.load({}, handed_over, below) == from_variables


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("pakages = []", "tool.graphmend.pakages: unknown key; known are packages, quiet, report, disable, effects"),
        ("quiet = 'yes'", "tool.graphmend.quiet: expected true or false, found the text `yes`"),
        ("quiet = 1", "tool.graphmend.quiet: expected true or false, found `1`"),
        ("packages = 'a'", "tool.graphmend.packages: expected a list of dotted names, found the text `a`"),
        ("effects = [3]", "tool.graphmend.effects: expected dotted names such as `package.module`, found `3`"),
        ("report = 'r.doc'", "tool.graphmend.report: expected a file name that ends in .html, .json or .txt"),
        ("quiet = ", "not valid TOML"),
    ],
)
@pytest.mark.skipif(sys.version_info < (3, 11), reason="there is no TOML reader")
def test_a_bad_file_is_a_clear_error(tmp_path: Path, text: str, message: str) -> None:
    write(tmp_path, "pyproject.toml", f"[tool.graphmend]\n{text}\n")
    write(tmp_path, "program.py", "print('not reached')")
    done = graphmend(tmp_path, "run", "program.py")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"graphmend: error: {tmp_path / 'pyproject.toml'}: {message}")


def test_a_bad_variable_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(_config.SettingsError, match="environment variable GRAPHMEND_QUIET: expected true or false"):
        _config.load({}, {"GRAPHMEND_QUIET": "maybe"}, tmp_path)


def test_without_a_toml_reader_the_user_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_config, "_toml_reader", lambda: None)
    write(tmp_path, "pyproject.toml", "[project]\nname = 'graphmend'\n")
    assert _config.load({}, {}, tmp_path) == _config.Settings()
    write(tmp_path, "pyproject.toml", "[ tool . graphmend ]\nquiet = true\n")
    with pytest.warns(UserWarning, match="older than 3.11"):
        assert _config.load({}, {}, tmp_path) == _config.Settings()


def test_effects_are_found_in_imported_modules_only(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("os.path.join", "logging.Logger.info", "not_imported.at_all", "os.no_such")
    monkeypatch.setattr(_config, "current", lambda: _config.Settings(effects=names))
    import logging

    assert _config.declared_effects() == [os.path.join, logging.Logger.info]


def test_every_setting_is_documented() -> None:
    page = Path(__file__).parents[2] / "docs" / "settings.md"
    rows = [line for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    for name in _config.NAMES:
        (row,) = (row for row in rows if row.startswith(f"| `{name}` |"))
        assert f"`{_config.variable(name)}`" in row and f"--{name}" in row
