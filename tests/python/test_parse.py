"""The Python package: `graphmend.parse` and what it returns.

The library is the installed one, or what GRAPHMEND_LIBRARY names.
"""

from __future__ import annotations

import ast
import os
import pickle
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import graphmend

SOURCE = """\
# a comment
def f(a, *, b=1):
    return g(a)[b]  # another
"""


def run_python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        timeout=60,
        check=False,
    )


class TestTree:
    def test_nodes(self) -> None:
        tree = graphmend.parse(SOURCE)
        assert tree.ok and tree.errors == []
        assert tree.text == SOURCE
        assert tree.root.kind == "Module" and tree.root.parent is None
        (function,) = tree.root.children
        assert function.kind == "FunctionDef"
        assert (function.line, function.column) == (2, 1)
        assert function.end_line == 3
        assert tree.text[function.start : function.end] == function.text
        assert function.text.startswith("def f(") and function.text.endswith("g(a)[b]")
        assert function.parent == tree.root

    def test_walk_is_the_whole_tree_in_order(self) -> None:
        tree = graphmend.parse(SOURCE)

        def descend(node: graphmend.Node) -> list[graphmend.Node]:
            return [node, *(below for child in node.children for below in descend(child))]

        nodes = list(tree.walk())
        assert nodes == descend(tree.root)
        for node in nodes:
            for child in node.children:
                assert child.parent == node
                assert node.start <= child.start <= child.end <= node.end
        assert [node.text for node in nodes if node.kind == "Name"] == ["g", "a", "b"]

    def test_tokens(self) -> None:
        tree = graphmend.parse(SOURCE)
        tokens = tree.tokens
        assert tokens[0].kind == "Comment" and tokens[0].text == "# a comment"
        assert tokens[-1].kind == "EndOfFile"
        assert [token.text for token in tokens[:4] if token.kind == "Def"] == ["def"]
        assert len(list(tokens)) == len(tokens)
        with pytest.raises(IndexError):
            tokens[len(tokens)]
        call = next(node for node in tree.walk() if node.kind == "Call")
        assert [token.text for token in call.tokens] == ["g", "(", "a", ")"]
        assert (call.first_token.text, call.last_token.text) == ("g", ")")

    def test_tokens_and_gaps_are_the_text(self) -> None:
        tree = graphmend.parse(SOURCE)
        text = ""
        for token in tree.tokens:
            gap = tree.text[len(text) : token.start]
            assert gap.strip(" \t\n") == ""
            text += gap + token.text
        assert text + tree.text[len(text) :] == SOURCE

    def test_places_count_characters(self) -> None:
        tree = graphmend.parse("é = 'ü'; 日本 = ä\n")
        name = [node for node in tree.walk() if node.kind == "Name"][1]
        assert name.text == "日本"
        assert (name.line, name.column, name.end_column) == (1, 10, 12)
        assert tree.text[name.start : name.end] == "日本"
        assert name.byte_end - name.byte_start == 6

    @pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
    def test_line_endings_stay(self, newline: str) -> None:
        source = newline.join(["x = 1", "y = 2", ""])
        tree = graphmend.parse(source)
        assert tree.ok and tree.text == source
        assert [(node.line, node.column) for node in tree.root.children] == [(1, 1), (2, 1)]

    def test_nodes_are_values(self) -> None:
        tree = graphmend.parse("x\n")
        assert tree.root == tree.root and hash(tree.root) == hash(tree.root)
        assert tree.root != graphmend.parse("x\n").root
        assert tree.root != tree.tokens[0]
        assert "Module" in repr(tree.root) and "'x'" in repr(tree.tokens[0]) and "ok" in repr(tree)

    def test_dumps(self) -> None:
        tree = graphmend.parse(SOURCE)
        assert "FunctionDef" in tree.dump()
        assert "Comment" in tree.dump_tokens()
        assert tree.dump_ast().startswith("Module(body=[FunctionDef(name='f'")
        if sys.version_info[:2] == (3, 13):
            assert tree.dump_ast() == ast.dump(ast.parse(SOURCE), include_attributes=True)

    def test_tree_outlives_its_source(self) -> None:
        nodes = [graphmend.parse(f"x{number}\n").root.children[0] for number in range(100)]
        assert [node.text for node in nodes] == [f"x{number}" for number in range(100)]


class TestErrors:
    def test_problems(self) -> None:
        tree = graphmend.parse("x = )\ny = 1\nz = ]\n")
        assert not tree.ok
        assert [(problem.line, problem.column) for problem in tree.errors] == [(1, 5), (3, 5)]
        first = tree.errors[0]
        assert first.message and first.message[0] != " "
        assert tree.text[first.start : first.end] == ")"
        assert str(first).startswith("1:5: ")
        assert "2 errors" in repr(tree)

    def test_rest_of_the_file_has_a_tree(self) -> None:
        tree = graphmend.parse("x = )\ny = 1\n")
        assert any(node.kind == "Name" and node.text == "y" for node in tree.walk())

    def test_strict(self) -> None:
        with pytest.raises(SyntaxError) as caught:
            graphmend.parse("y = 1\nx = )\n", strict=True, filename="model.py")
        error = caught.value
        assert isinstance(error, graphmend.SyntaxProblems)
        assert (error.filename, error.lineno, error.offset) == ("model.py", 2, 5)
        assert error.text == "x = )"
        assert [problem.line for problem in error.problems] == [2]
        assert error.msg == error.problems[0].message
        again = pickle.loads(pickle.dumps(error))
        assert again.problems == error.problems and again.lineno == 2

    def test_strict_is_silent_on_good_source(self) -> None:
        assert graphmend.parse("x = 1\n", strict=True).ok

    def test_no_ast_of_broken_source(self) -> None:
        with pytest.raises(graphmend.SyntaxProblems):
            graphmend.parse("x = )\n").dump_ast()

    def test_later_errors(self) -> None:
        (problem,) = graphmend.parse("return 1\n").errors
        assert (problem.line, problem.column) == (1, 1)

    def test_target_version(self) -> None:
        source = "def f[T](x: T): pass\n"
        assert graphmend.parse(source).ok
        assert graphmend.parse(source, target_version="3.12").ok
        (problem,) = graphmend.parse(source, target_version="3.11").errors
        assert "3.12" in problem.message

    @pytest.mark.parametrize("version", ["3.7", "3.16", "3", "", "4.0"])
    def test_unknown_target_version(self, version: str) -> None:
        with pytest.raises(ValueError, match=r"3\.8 to 3\.15"):
            graphmend.parse("", target_version=version)


class TestInput:
    def test_empty(self) -> None:
        tree = graphmend.parse("")
        assert tree.ok and tree.root.children == [] and tree.text == ""
        assert graphmend.parse(b"").ok

    def test_cookie_counts_in_bytes_only(self) -> None:
        source = "# coding: latin-1\nx = 'é'\n"
        in_text = graphmend.parse(source)
        assert in_text.ok and in_text.text == source and in_text.encoding == "utf-8"
        in_bytes = graphmend.parse(source.encode("latin-1"))
        assert in_bytes.ok and in_bytes.text == source and in_bytes.encoding == "iso-8859-1"
        assert "Ã©" in graphmend.parse(source.encode("utf-8")).text
        assert graphmend.parse("# coding: no-such-thing\n").ok
        assert not graphmend.parse(b"# coding: no-such-thing\n").ok

    def test_byte_order_mark(self) -> None:
        tree = graphmend.parse(b"\xef\xbb\xbfx = 1\n")
        assert tree.ok and tree.text == "x = 1\n"
        # In a str it is a character like others, and a wrong one.
        assert not graphmend.parse("\ufeffx = 1\n").ok

    @pytest.mark.parametrize("source", ["x = 1\0\n", b"x = 1\0\n", b"x = '\xff'\n", "'\0'"])
    def test_not_text(self, source: str | bytes) -> None:
        tree = graphmend.parse(source)
        assert len(tree.errors) == 1
        assert tree.root.kind == "Module" and len(tree.text) > 0
        list(map(repr, tree.walk()))
        list(map(repr, tree.tokens))

    def test_all_bytes(self) -> None:
        tree = graphmend.parse(bytes(range(256)))
        assert not tree.ok
        assert tree.text.encode("utf-8", "surrogateescape") == bytes(range(256))

    def test_lone_surrogate(self) -> None:
        with pytest.raises(ValueError, match=r"lone surrogate \(U\+DC80\) at index 5"):
            graphmend.parse("x = '\udc80'\n")

    def test_wrong_type(self) -> None:
        with pytest.raises(TypeError, match="str or bytes, not int"):
            graphmend.parse(7)  # type: ignore[arg-type]

    def test_deep_nesting_is_an_error_and_not_a_crash(self) -> None:
        for source in ("(" * 100_000, "-" * 100_000 + "x", "[" * 5000 + "]" * 5000, "a." * 50_000 + "a"):
            graphmend.parse(source)

    def test_threads(self) -> None:
        expected = graphmend.parse(SOURCE).dump()
        wrong: list[str] = []

        def work() -> None:
            for _ in range(50):
                dump = graphmend.parse(SOURCE).dump()
                if dump != expected:
                    wrong.append(dump)

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not wrong


class TestPackage:
    def test_import_has_no_side_effects(self) -> None:
        code = "import sys; before = set(sys.modules); import graphmend; print(sorted(set(sys.modules) - before))"
        assert run_python(code).stdout.strip() == "['graphmend']"

    def test_version(self) -> None:
        assert graphmend.__version__[0].isdigit()

    def test_names(self) -> None:
        for name in graphmend.__all__:
            assert name in dir(graphmend) and getattr(graphmend, name) is not None
        with pytest.raises(AttributeError, match="no attribute 'nothing'"):
            graphmend.nothing  # type: ignore[attr-defined]  # noqa: B018

    def test_typed(self) -> None:
        assert graphmend.__file__ is not None
        assert (Path(graphmend.__file__).parent / "py.typed").is_file()

    def test_missing_library_is_said_clearly(self, tmp_path: Path) -> None:
        code = "import graphmend; graphmend.parse('')"
        done = run_python(code, GRAPHMEND_LIBRARY=str(tmp_path / "none.so"))
        assert "GRAPHMEND_LIBRARY names" in done.stderr and "none.so" in done.stderr
        wrong = tmp_path / "wrong.so"
        wrong.write_bytes(b"not a library")
        done = run_python(code, GRAPHMEND_LIBRARY=str(wrong))
        assert done.stderr.splitlines()[-1].startswith("ImportError: graphmend: cannot load the native library")

    def test_module_runs_the_native_command(self, tmp_path: Path) -> None:
        path = tmp_path / "bad.py"
        path.write_text("x = )\n")
        done = subprocess.run(
            [sys.executable, "-m", "graphmend", "parse", path], capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode == 1, done.stderr
        assert f"{path}:1:5: error:" in done.stdout

    def test_missing_command_is_said_clearly(self, tmp_path: Path) -> None:
        done = subprocess.run(
            [sys.executable, "-m", "graphmend", "--version"],
            capture_output=True,
            text=True,
            env={**os.environ, "GRAPHMEND_BIN": str(tmp_path / "none")},
            timeout=60,
            check=False,
        )
        assert done.returncode == 2
        assert done.stderr.startswith("graphmend: error: cannot run ")
