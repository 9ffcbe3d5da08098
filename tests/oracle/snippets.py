"""Valid and invalid snippets of Python. In: CPython's own tests and other parsers' fixtures. Out: unique snippets.

Every string constant of those files is tried as a program, and so is every doctest example: whether it is one is
the oracle's business. Left out: constants of fewer than three characters.
"""

from __future__ import annotations

import ast
import doctest
import textwrap
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

# Stems in CPython's Lib/test: `stem*.py`, and every file in a folder of that name.
TEST_STEMS = """
test_syntax test_grammar test_fstring test_patma test_named_expression test_exceptions test_type_params
test_type_alias test_type_comments test_type_annotations test_unpack test_positional_only_arg test_generators
test_genexps test_listcomps test_setcomps test_dictcomps test_coroutines test_asyncgen test_future
test_string_literals test_unicode_identifiers test_eof test_global test_scope test_symtable test_compile
test_keywordonlyarg test_exception_group test_except_star test_tokenize test_ast test_codeop test_cmd_line
test_code_module test_decorators test_extcall test_parser test_peg test_pep646_syntax test_pep563 test_super test_with
test_contextlib test_int_literal test_float test_complex test_flufl test_utf8source test_source_encoding test_pep263
test_annotations test_opcodes test_augassign test_peepholer test_trace test_traceback test_unparse test_dis
test_funcattrs test_lambda test_nonlocal test_metaclass test_descrtut test_builtin test_raise test_yield_from
test_pep380 test_baseexception test_class test_import test_warnings test_string test_monitoring test_sys_settrace
test_ucn test_unicode test_bytes test_marshal test_perf test_lineno
""".split()

_BAD_FILES = ["bad*.py", "tokenizedata/*.py", "tokenizedata/*.txt", "encoded_modules/*.py"]


class Snippet(NamedTuple):
    """A source and where it came from: `3.13/test_syntax.py:12`, or the path of a fixture."""

    source: bytes
    origin: str


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _forms(text: str) -> Iterator[bytes]:
    yield _encode(text)
    dedented = textwrap.dedent(text)
    if dedented != text:
        yield _encode(dedented)


def _doctest_examples(text: str) -> Iterator[bytes]:
    if ">>>" not in text:
        return
    try:
        examples = doctest.DocTestParser().get_examples(text)
    except ValueError:
        return
    for example in examples:
        yield _encode(example.source)


def snippets_in(path: Path, origin: str) -> Iterator[Snippet]:
    """The string constants and doctest examples of one file; nothing if the running Python cannot parse it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tree = ast.parse(path.read_bytes())
        except (SyntaxError, ValueError, RecursionError, OSError):
            return
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant):
            continue
        where = f"{origin}:{node.lineno}"
        value = node.value
        if isinstance(value, bytes) and len(value) >= 3:
            yield Snippet(value, where)
        elif isinstance(value, str) and len(value) >= 3:
            for source in _forms(value):
                yield Snippet(source, where)
            for source in _doctest_examples(value):
                yield Snippet(source, where)


def _cpython_files(tests: Path) -> Iterator[Path]:
    for stem in TEST_STEMS:
        for path in sorted(tests.glob(stem + "*")):
            if path.suffix == ".py":
                yield path
            elif path.is_dir():
                yield from sorted(path.rglob("*.py"))


def from_cpython(library: str, version: str) -> list[Snippet]:
    """The snippets in one CPython's Lib/test, its bad-syntax files whole."""
    tests = Path(library) / "test"
    found = []
    for pattern in _BAD_FILES:
        for path in sorted(tests.glob(pattern)):
            found.append(Snippet(path.read_bytes(), f"{version}/{path.name}"))
    for path in _cpython_files(tests):
        found.extend(snippets_in(path, f"{version}/{path.name}"))
    return found


def from_unit_tests(root: str, pattern: str, name: str) -> list[Snippet]:
    """The strings in the unit tests of another parser."""
    found: list[Snippet] = []
    for path in sorted(Path(root).glob(pattern)):
        found.extend(snippets_in(path, f"{name}/{path.name}"))
    return found


def from_fixtures(folder: str, patterns: Iterable[str], name: str) -> list[Snippet]:
    """Whole fixture files below `root`; those of black hold input and expected output, tried apart too."""
    root = Path(folder)
    found = []
    for path in sorted(path for pattern in patterns for path in root.glob(pattern) if path.is_file()):
        source = path.read_bytes()
        origin = f"{name}/{path.relative_to(root)}"
        found.append(Snippet(source, origin))
        before, separator, after = source.partition(b"\n# output\n")
        if separator:
            found.append(Snippet(before + b"\n", origin + ":input"))
            found.append(Snippet(after, origin + ":output"))
    return found


def unique(snippets: Iterable[Snippet]) -> list[Snippet]:
    """The first snippet of each source, in order."""
    seen: dict[bytes, Snippet] = {}
    for snippet in snippets:
        seen.setdefault(snippet.source, snippet)
    return list(seen.values())
