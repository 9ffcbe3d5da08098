"""The native command: what it prints, where, and how it ends.

The command is looked for in GRAPHMEND_BIN, beside the Python that runs the tests, in build/release, and on PATH.
"""

from __future__ import annotations

import json
import os
import pty
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent

GOOD = "x = 1\n"
BAD = "def f(:\n    pass\n"

Done = subprocess.CompletedProcess[bytes]


def find_command() -> str:
    candidates = [
        os.environ.get("GRAPHMEND_BIN"),
        Path(sys.executable).parent / "graphmend",
        *sorted(ROOT.glob("build/release/**/graphmend")),
        shutil.which("graphmend"),
    ]
    for candidate in candidates:
        if candidate and Path(candidate).is_file():
            return str(candidate)
    pytest.fail("no graphmend: build it, or set GRAPHMEND_BIN")


def plain_environment(**extra: str) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "FORCE_COLOR")}
    return {**kept, "TERM": "xterm", **extra}


def graphmend(
    *arguments: str | Path,
    given: bytes = b"",
    cwd: Path | None = None,
    environment: dict[str, str] | None = None,
) -> Done:
    return subprocess.run(
        [find_command(), *map(str, arguments)],
        input=given,
        capture_output=True,
        cwd=cwd,
        env=environment or plain_environment(),
        timeout=60,
        check=False,
    )


def assert_one_complaint(done: Done, *words: str, status: int = 2) -> None:
    """One line on standard error with these words in it."""
    line = done.stderr.decode()
    assert done.returncode == status, line
    assert line.count("\n") == 1 and line.endswith("\n"), line
    assert line.startswith("graphmend: error: "), line
    for word in words:
        assert word in line


@pytest.fixture
def good(tmp_path: Path) -> Path:
    path = tmp_path / "good.py"
    path.write_text(GOOD)
    return path


@pytest.fixture
def bad(tmp_path: Path) -> Path:
    path = tmp_path / "bad.py"
    path.write_text(BAD)
    return path


class TestUsage:
    def test_version(self) -> None:
        done = graphmend("--version")
        assert done.returncode == 0
        assert done.stdout.decode().split()[0] == "graphmend"
        assert graphmend("-V").stdout == done.stdout

    @pytest.mark.parametrize("arguments", [["--help"], ["-h"], ["help"]])
    def test_overview(self, arguments: list[str]) -> None:
        done = graphmend(*arguments)
        assert done.returncode == 0 and not done.stderr
        for word in (b"Usage:", b"parse", b"dump", b"Examples:", b"Exit status:"):
            assert word in done.stdout

    @pytest.mark.parametrize("command", ["parse", "dump", "help"])
    def test_page_of_a_command(self, command: str) -> None:
        done = graphmend("help", command)
        assert done.returncode == 0
        assert f"Usage: graphmend {command}".encode() in done.stdout
        assert b"Examples:" in done.stdout
        assert graphmend(command, "--help").stdout == done.stdout
        assert graphmend(command, "-h").stdout == done.stdout

    def test_help_lists_every_option(self) -> None:
        page = graphmend("help", "parse").stdout.decode()
        for option in ("--target-version", "--output-format", "--jobs", "--quiet", "--help"):
            assert option in page

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            ([], ["no command"]),
            (["prase"], ["unknown command `prase`", "did you mean `parse`?"]),
            (["dmup", "ast", "x"], ["did you mean `dump`?"]),
            (["frobnicate"], ["unknown command `frobnicate`", "graphmend --help"]),
            (["help", "prase"], ["did you mean `parse`?"]),
            (["help", "parse", "dump"], ["one command"]),
            (["--verison"], ["did you mean `--version`?"]),
            (["parse"], ["nothing to parse"]),
            (["parse", "--targt-version", "3.8", "x.py"], ["`--targt-version`", "did you mean `--target-version`?"]),
            (["parse", "--frob=1", "x.py"], ["unknown option `--frob`"]),
            (["parse", "--target-version", "3.7", "x.py"], ["`3.7`", "3.8 to 3.15"]),
            (["parse", "--target-version", "2", "x.py"], ["`2`"]),
            (["parse", "x.py", "--target-version"], ["`--target-version` needs a value"]),
            (["parse", "--output-format", "jsn", "x.py"], ["`jsn`", "did you mean `json`?"]),
            (["parse", "--jobs", "0", "x.py"], ["--jobs"]),
            (["parse", "--jobs", "-3", "x.py"], ["--jobs"]),
            (["parse", "--jobs", "many", "x.py"], ["--jobs"]),
            (["dump"], ["`tokens`, `tree`, `ast`, `scopes`, `flow`, `liveness` or `effects`"]),
            (["dump", "ats", "x.py"], ["did you mean `ast`?"]),
            (["dump", "ast"], ["nothing to dump"]),
            (["dump", "ast", "a.py", "b.py"], ["one file", "`b.py`"]),
        ],
        ids=" ".join,
    )
    def test_mistakes(self, arguments: list[str], words: list[str]) -> None:
        done = graphmend(*arguments)
        assert_one_complaint(done, *words)
        assert done.stdout == b""

    def test_last_of_repeated_options_counts(self, good: Path) -> None:
        assert graphmend("parse", "--jobs", "1", "--jobs=2", "-j3", "-q", "--quiet", good).returncode == 0


class TestParse:
    def test_good_file(self, good: Path) -> None:
        done = graphmend("parse", good)
        assert done.returncode == 0 and not done.stderr
        assert done.stdout.startswith(b"1 file parses (6 bytes in ")

    def test_several_files(self, tmp_path: Path, good: Path) -> None:
        (tmp_path / "other.py").write_text(GOOD)
        done = graphmend("parse", good, tmp_path / "other.py")
        assert done.stdout.startswith(b"all 2 files parse (12 bytes in ")

    def test_bad_file(self, bad: Path) -> None:
        done = graphmend("parse", bad)
        assert done.returncode == 1 and not done.stderr
        lines = done.stdout.decode().splitlines()
        assert lines[0].startswith(f"{bad}:1:7: error: ")
        assert lines[1] == "    1 | def f(:"
        assert lines[2] == "      |       ^"
        assert lines[-1].endswith(" in 1 file")

    def test_quiet(self, good: Path, bad: Path) -> None:
        assert graphmend("parse", "--quiet", good).stdout == b""
        done = graphmend("parse", "-q", bad)
        assert done.returncode == 1
        assert b"error:" in done.stdout and b" in 1 file" not in done.stdout

    def test_concise(self, bad: Path) -> None:
        done = graphmend("parse", "--output-format", "concise", "--quiet", bad)
        assert done.returncode == 1
        for line in done.stdout.decode().splitlines():
            assert line.startswith(f"{bad}:") and ": error: " in line

    def test_json(self, good: Path, bad: Path) -> None:
        done = graphmend("parse", "--output-format=json", bad, good)
        assert done.returncode == 1
        first = json.loads(done.stdout)[0]
        assert first["filename"] == str(bad)
        assert first["location"] == {"row": 1, "column": 7}
        assert set(first) == {"code", "filename", "location", "end_location", "message"}
        done = graphmend("parse", "--output-format=json", good)
        assert done.returncode == 0 and json.loads(done.stdout) == []

    def test_json_of_several_files_is_one_list(self, tmp_path: Path) -> None:
        for name in "abc":
            (tmp_path / f"{name}.py").write_text(BAD)
        records = json.loads(graphmend("parse", "--output-format=json", tmp_path).stdout)
        assert sorted({Path(record["filename"]).name for record in records}) == ["a.py", "b.py", "c.py"]

    def test_standard_input(self) -> None:
        assert graphmend("parse", "-", given=b"x = 1\n").returncode == 0
        done = graphmend("parse", "-", given=b"x = (\n")
        assert done.returncode == 1
        assert done.stdout.startswith(b"<stdin>:1:")

    def test_empty_standard_input(self) -> None:
        assert graphmend("parse", "-", given=b"").returncode == 0

    def test_target_version(self, tmp_path: Path) -> None:
        path = tmp_path / "new.py"
        path.write_text("match x:\n    case 1:\n        pass\n")
        assert graphmend("parse", path).returncode == 0
        assert graphmend("parse", "-t", "3.10", path).returncode == 0
        done = graphmend("parse", "--target-version", "3.9", path)
        assert done.returncode == 1 and b"3.10" in done.stdout

    def test_later_errors_follow_only_on_clean_syntax(self, tmp_path: Path) -> None:
        path = tmp_path / "late.py"
        path.write_text("return 1\n")
        done = graphmend("parse", path)
        assert done.returncode == 1 and b":1:1: error: " in done.stdout
        path.write_text("return 1\nx = )\n")
        done = graphmend("parse", "--output-format=concise", path)
        assert b":1:1:" not in done.stdout and b":2:5:" in done.stdout

    def test_odd_names(self, tmp_path: Path) -> None:
        for name in ("-odd.py", "[a,b]", "dump", "a b.txt", "{x}", "é.py", "%%"):
            (tmp_path / name).write_text(BAD)
            done = graphmend("parse", "-q", "--", name, cwd=tmp_path)
            assert done.returncode == 1, done.stderr
            assert done.stdout.startswith(name.encode() + b":1:7: error:")
            if not name.startswith("-"):
                assert graphmend("parse", name, cwd=tmp_path).returncode == 1

    def test_name_with_control_characters_is_made_harmless(self, tmp_path: Path) -> None:
        (tmp_path / "a\x1b[31m.py").write_text(BAD)
        done = graphmend("parse", tmp_path)
        assert done.returncode == 1 and b"\x1b" not in done.stdout

    def test_order_does_not_depend_on_threads(self, tmp_path: Path) -> None:
        for number in range(200):
            # Large and small files in turn, so that later ones are done first.
            (tmp_path / f"f{number:03}.py").write_text(GOOD * (2000 if number % 7 == 0 else 1) + "x = )\n")
        outputs = {graphmend("parse", "-q", f"--jobs={jobs}", tmp_path).stdout for jobs in (1, 2, 8, 64)}
        assert len(outputs) == 1
        assert outputs.pop().count(b"error:") == 200


class TestFolders:
    def test_walk(self, tmp_path: Path) -> None:
        wanted = ["b.py", "a/x.py", "a/y.pyi", "a/deep/z.py", "c/m.py"]
        unwanted = [
            "notes.txt",
            "b.pyc",
            ".hidden/x.py",
            "a/__pycache__/x.py",
            "node_modules/x.py",
            ".venv/x.py",
            "venv/x.py",
            "build/x.py",
            "dist/x.py",
            "_build/x.py",
            "site-packages/x.py",
            "env/lib/x.py",
        ]
        for name in [*wanted, *unwanted]:
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(BAD)
        (tmp_path / "env" / "pyvenv.cfg").write_text("")
        done = graphmend("parse", "-q", "--output-format=concise", ".", cwd=tmp_path)
        found = [line.split(":")[0] for line in done.stdout.decode().splitlines()]
        assert list(dict.fromkeys(found)) == [
            "./b.py",
            "./a/x.py",
            "./a/y.pyi",
            "./a/deep/z.py",
            "./c/m.py",
        ]

    def test_named_folder_is_read_whatever_its_name(self, tmp_path: Path) -> None:
        folder = tmp_path / "build"
        folder.mkdir()
        (folder / "x.py").write_text(BAD)
        assert graphmend("parse", folder).returncode == 1

    def test_no_file_twice(self, tmp_path: Path) -> None:
        (tmp_path / "x.py").write_text(GOOD)
        done = graphmend("parse", ".", "x.py", "./x.py", cwd=tmp_path)
        assert done.stdout.startswith(b"1 file parses")

    def test_loop_of_links(self, tmp_path: Path) -> None:
        (tmp_path / "x.py").write_text(GOOD)
        (tmp_path / "loop").symlink_to(tmp_path)
        (tmp_path / "self.py").symlink_to(tmp_path / "self.py")
        (tmp_path / "link.py").symlink_to(tmp_path / "x.py")
        done = graphmend("parse", tmp_path)
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith(b"all 2 files parse")

    def test_pipe_in_a_folder_is_not_opened(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe.py")
        (tmp_path / "x.py").write_text(GOOD)
        assert graphmend("parse", tmp_path).stdout.startswith(b"1 file parses")

    def test_no_files(self, tmp_path: Path) -> None:
        done = graphmend("parse", tmp_path)
        assert done.returncode == 0 and done.stdout == b""
        assert b"no Python files" in done.stderr

    def test_very_deep_folders(self, tmp_path: Path) -> None:
        # Deeper than a path may be long for one call, so made step by step; what lies too deep is said, not skipped.
        here = os.open(tmp_path, os.O_RDONLY)
        for _ in range(300):
            os.mkdir("d" * 20, dir_fd=here)
            below = os.open("d" * 20, os.O_RDONLY, dir_fd=here)
            os.close(here)
            here = below
        os.close(here)
        done = graphmend("parse", tmp_path)
        assert_one_complaint(done, "file name too long")


class TestTrouble:
    def test_missing_file(self, tmp_path: Path) -> None:
        done = graphmend("parse", tmp_path / "none.py")
        assert_one_complaint(done, "none.py", "no such file or directory")
        assert done.stdout == b""

    def test_others_are_read_all_the_same(self, tmp_path: Path, good: Path, bad: Path) -> None:
        done = graphmend("parse", tmp_path / "none.py", bad, good)
        assert_one_complaint(done, "none.py")
        assert f"{bad}:1:7: error:".encode() in done.stdout
        assert b"1 path could not be read" in done.stdout

    def test_unreadable_file(self, tmp_path: Path, good: Path) -> None:
        secret = tmp_path / "secret.py"
        secret.write_text(GOOD)
        secret.chmod(0)
        if os.access(secret, os.R_OK):
            # Root reads everything; the memory of this process cannot be read from its beginning.
            secret = Path("/proc/self/mem")
        done = graphmend("parse", secret, good)
        assert_one_complaint(done, secret.name)
        assert b"1 file parses" in done.stdout

    def test_unreadable_folder(self, tmp_path: Path, good: Path) -> None:
        folder = tmp_path / "locked"
        folder.mkdir(mode=0)
        if os.access(folder, os.R_OK):
            pytest.skip("root reads every folder")
        assert_one_complaint(graphmend("parse", tmp_path), "locked", "permission denied")

    def test_device(self) -> None:
        assert_one_complaint(graphmend("parse", "/dev/zero"), "/dev/zero", "device")
        assert graphmend("parse", "/dev/null").returncode == 0

    def test_pipe_that_is_named_is_read(self, tmp_path: Path) -> None:
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        with subprocess.Popen(["sh", "-c", f"printf 'x = (' > '{pipe}'"]) as writer:
            done = graphmend("parse", pipe)
            writer.wait()
        assert done.returncode == 1

    @pytest.mark.parametrize("command", [["parse"], ["dump", "ast"], ["dump", "tokens"]])
    def test_huge_file_is_refused_at_once(self, tmp_path: Path, command: list[str]) -> None:
        huge = tmp_path / "huge.py"
        with huge.open("wb") as file:
            file.truncate(3 << 30)
        begin = time.monotonic()
        done = graphmend(*command, huge)
        assert time.monotonic() - begin < 5
        assert_one_complaint(done, "huge.py", "too large", "2147483647")

    def test_dump_of_a_folder(self, tmp_path: Path) -> None:
        assert_one_complaint(graphmend("dump", "ast", tmp_path), "is a directory")

    def test_dump_of_a_missing_file(self, tmp_path: Path) -> None:
        assert_one_complaint(graphmend("dump", "tree", tmp_path / "none.py"), "no such file or directory")

    @pytest.mark.parametrize(
        ("content", "status"),
        [
            (b"", 0),
            (b"\n", 0),
            (b"\xef\xbb\xbf", 0),
            (b"x = 1", 0),
            (b"# coding: latin-1\nx = '\xe9'\n", 0),
            (b"\0", 1),
            (b"x = 'a\0b'\n", 1),
            (b"x = '\xff'\n", 1),
            (bytes(range(256)) * 100, 1),
            (b"\x7fELF\x02\x01\x01" + b"\0" * 5000, 1),
            (b"'''", 1),
            (b"f'{", 1),
            (b"(" * 100_000, 1),
            (b"# coding: no-such-thing\n", 1),
        ],
    )
    def test_source_as_it_comes(self, tmp_path: Path, content: bytes, status: int) -> None:
        path = tmp_path / "x.py"
        path.write_bytes(content)
        for style in ("text", "concise", "json"):
            done = graphmend("parse", "--output-format", style, path)
            assert done.returncode == status and not done.stderr
            done.stdout.decode("utf-8")
            assert b"\0" not in done.stdout and b"\x1b" not in done.stdout
        for kind in ("tokens", "tree", "ast"):
            assert graphmend("dump", kind, path).returncode == status

    def test_full_disk(self, good: Path) -> None:
        full = Path("/dev/full")
        if not full.exists():
            pytest.skip("no /dev/full")
        with full.open("wb") as out:
            done = subprocess.run(
                [find_command(), "dump", "tree", good], stdout=out, stderr=subprocess.PIPE, timeout=60, check=False
            )
        assert done.returncode == 2
        assert done.stderr.decode() == "graphmend: error: cannot write the output: no space left on device\n"

    @pytest.mark.parametrize("ignore", [True, False], ids=["ignored signal", "default signal"])
    def test_broken_pipe_is_silent(self, tmp_path: Path, ignore: bool) -> None:
        path = tmp_path / "long.py"
        path.write_text(GOOD * 50_000)
        for arguments in (["dump", "ast", path], ["dump", "tokens", path]):
            process = subprocess.Popen(
                [find_command(), *map(str, arguments)],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                restore_signals=not ignore,
            )
            assert process.stdout is not None and process.stderr is not None
            process.stdout.read(10)
            process.stdout.close()
            assert process.stderr.read() == b""
            process.stderr.close()
            assert process.wait(60) == 0


class TestDump:
    def test_ast(self, good: Path) -> None:
        done = graphmend("dump", "ast", good)
        assert done.returncode == 0 and not done.stderr
        assert done.stdout.decode() == (
            "Module(body=[Assign(targets=[Name(id='x', ctx=Store(), lineno=1, col_offset=0, end_lineno=1,"
            " end_col_offset=1)], value=Constant(value=1, lineno=1, col_offset=4, end_lineno=1, end_col_offset=5),"
            " lineno=1, col_offset=0, end_lineno=1, end_col_offset=5)])\n"
        )

    def test_effects(self) -> None:
        program = b"""import random
def step(self, x, log):
    print(x)
    self.count += 1
    log.append(x * 2)
    return random.random()
"""
        done = graphmend("dump", "effects", "-", given=program)
        assert done.returncode == 0 and not done.stderr
        lines = dict(line.split(" ", 1) for line in done.stdout.decode().splitlines()[3:])
        assert "talks" in lines["3:4"] and "writes" not in lines["3:4"]
        assert "writes-local" in lines["4:4"] and lines["4:4"].endswith("(self)") and "talks" not in lines["4:4"]
        assert lines["5:4"].endswith("(log)") and "random" not in lines["5:4"]
        assert lines["6:4"].startswith("Return ") and lines["6:4"].endswith(", random")

    @pytest.mark.parametrize("kind", ["tokens", "tree"])
    def test_broken_file_is_dumped_as_far_as_it_goes(self, bad: Path, kind: str) -> None:
        done = graphmend("dump", kind, bad)
        assert done.returncode == 1
        assert done.stdout.endswith(b"\n") and b"error:" in done.stderr

    def test_broken_file_has_no_ast(self, bad: Path) -> None:
        done = graphmend("dump", "ast", bad)
        assert done.returncode == 1 and done.stdout == b""
        assert done.stderr.startswith(f"{bad}:1:7: error:".encode())

    @pytest.mark.parametrize("kind", ["tokens", "tree", "ast"])
    def test_standard_input(self, kind: str, good: Path) -> None:
        assert graphmend("dump", kind, "-", given=GOOD.encode()).stdout == graphmend("dump", kind, good).stdout

    def test_target_version(self) -> None:
        done = graphmend("dump", "ast", "--target-version=3.8", "-", given=b"with (a as b): pass\n")
        assert done.returncode == 1 and b"3.9" in done.stderr


def snippet(text: str, *arguments: str) -> list[str]:
    """The first error's lines: message, source, carets."""
    done = graphmend("parse", "-q", *arguments, "-", given=text.encode("utf-8", "surrogateescape"))
    assert done.returncode == 1
    return done.stdout.decode("utf-8").splitlines()[:3]


class TestSnippets:
    def test_columns_count_characters_and_carets_stand_below(self) -> None:
        message, source, carets = snippet("x = '日本' )\n")
        assert message.startswith("<stdin>:1:10:")
        assert source == "    1 | x = '日本' )"
        # Two columns for each of the wide characters.
        assert carets == "      | " + " " * 11 + "^"

    def test_tabs(self) -> None:
        message, source, carets = snippet("if x:\n\tx = )\n")
        assert message.startswith("<stdin>:2:6:")
        assert source == "    2 |     x = )"
        assert carets == "      |         ^"

    def test_combining_characters(self) -> None:
        message, _, carets = snippet("x = 'e\u0301' )\n")
        assert message.startswith("<stdin>:1:10:")
        assert carets == "      | " + " " * 8 + "^"

    def test_long_line_is_cut_around_the_place(self) -> None:
        _, source, carets = snippet("x = [" + "1, " * 100_000 + ") " + ", 2" * 100_000 + "\n")
        assert source.startswith("    1 | …") and source.endswith("…")
        assert len(source) < 140
        assert source[carets.index("^")] == ")"

    def test_control_characters_do_not_reach_the_terminal(self) -> None:
        _, source, _ = snippet("x = '\x1b[31m' )\n")
        assert "\x1b" not in source and "␛[31m" in source

    def test_place_at_the_end_of_a_line(self) -> None:
        _, source, carets = snippet("x = \n")
        assert source.startswith("    1 | x =")
        assert "^" in carets

    def test_carriage_returns_end_lines(self) -> None:
        message, source, _ = snippet("a = 1\rb = 2\rx = )\r")
        assert message.startswith("<stdin>:3:5:")
        assert source == "    3 | x = )"

    def test_many_errors_in_one_long_line_take_linear_time(self) -> None:
        text = "; ".join(["x = )"] * 20_000) + "\n"
        begin = time.monotonic()
        done = graphmend("parse", "-q", "-", given=text.encode())
        assert done.returncode == 1
        assert time.monotonic() - begin < 10


def run_on_a_terminal(arguments: Sequence[str], environment: dict[str, str]) -> bytes:
    """What the command writes when its standard output is a terminal."""
    ours, theirs = pty.openpty()
    with subprocess.Popen([find_command(), *arguments], stdout=theirs, stderr=theirs, env=environment) as process:
        os.close(theirs)
        written = b""
        while True:
            try:
                chunk = os.read(ours, 65536)
            except OSError:
                # The other end is closed.
                break
            if not chunk:
                break
            written += chunk
        process.wait(60)
    os.close(ours)
    return written


class TestColour:
    def test_none_in_a_pipe(self, bad: Path) -> None:
        assert b"\x1b[" not in graphmend("parse", bad).stdout

    def test_on_a_terminal(self, bad: Path) -> None:
        arguments = ["parse", str(bad)]
        assert b"\x1b[" in run_on_a_terminal(arguments, plain_environment())
        assert b"\x1b[" not in run_on_a_terminal(arguments, plain_environment(NO_COLOR="1"))
        assert b"\x1b[" not in run_on_a_terminal(arguments, plain_environment(TERM="dumb"))

    def test_forced(self, bad: Path) -> None:
        assert b"\x1b[" in graphmend("parse", bad, environment=plain_environment(FORCE_COLOR="1")).stdout
        both = plain_environment(FORCE_COLOR="1", NO_COLOR="1")
        assert b"\x1b[" not in graphmend("parse", bad, environment=both).stdout

    def test_never_in_json(self, bad: Path) -> None:
        forced = plain_environment(FORCE_COLOR="1")
        assert b"\x1b[" not in graphmend("parse", "--output-format=json", bad, environment=forced).stdout
