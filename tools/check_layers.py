#!/usr/bin/env python3
"""The flow of the layers, enforced. In: src/ and the layer order in CMakeLists.txt. Out: one line per wrong include.

An include may only go to the layer's own folder or to one before it; headers from outside must be the standard
library's or on the short list below. `--self-test` proves that the check still finds what it is there to find.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# The C++20 standard library, its C headers in their C++ spelling.
STANDARD = frozenset(
    """
    algorithm any array atomic barrier bit bitset cassert cctype cerrno cfenv cfloat charconv chrono cinttypes climits
    clocale cmath codecvt compare complex concepts condition_variable coroutine csetjmp csignal cstdarg cstddef cstdint
    cstdio cstdlib cstring ctime cuchar cwchar cwctype deque exception execution filesystem format forward_list fstream
    functional future initializer_list iomanip ios iosfwd iostream istream iterator latch limits list locale map memory
    memory_resource mutex new numbers numeric optional ostream queue random ranges ratio regex scoped_allocator
    semaphore set shared_mutex source_location span sstream stack stdexcept stop_token streambuf string string_view
    strstream syncstream system_error thread tuple type_traits typeindex typeinfo unordered_map unordered_set utility
    valarray variant vector version
    """.split()
)

# What the core (everything up to mend) must not include although it is standard: it never prints.
NOT_IN_CORE = frozenset(["iostream", "print", "syncstream"])
LAST_OF_CORE = "mend"

VECTOR_UNITS = ("immintrin.h", "emmintrin.h", "tmmintrin.h", "arm_neon.h")
SYSTEM_FOLDER = ("sys/mman.h", "sys/resource.h", "sys/stat.h", "sys/types.h")
SYSTEM_FILES = ("dirent.h", "fcntl.h", "poll.h", "unistd.h", *SYSTEM_FOLDER)

# Headers from outside the standard library, by layer; a name with a slash at the end allows the whole folder.
ALLOWED: dict[str, tuple[str, ...]] = {
    "base": VECTOR_UNITS,
    "source": ("iconv.h", *VECTOR_UNITS),
    "lex": VECTOR_UNITS,
    "parse": VECTOR_UNITS,
    "diag": ("fmt/",),
    "driver": ("fmt/", *SYSTEM_FILES),
    "cli": ("fmt/", "CLI/", "nlohmann/", *SYSTEM_FILES),
    # The C API's header is read by C compilers.
    "api": ("stddef.h", "stdint.h", "stdbool.h"),
}
ALLOWED_IN_TESTS = ("gtest/", "gmock/")

INCLUDE = re.compile(r'^\s*#\s*include\s*(?P<open>[<"])(?P<name>[^>"]+)[>"]')
LAYER = re.compile(r"^graphmend_layer\((\w+)", re.MULTILINE)
TOP = re.compile(r"^graphmend_(?:command|shared_library)\((\w+)", re.MULTILINE)


class Flow:
    """The layers in order, and the folders on top of all of them that nobody includes."""

    def __init__(self, cmake: str) -> None:
        self.layers = LAYER.findall(cmake)
        self.tops = TOP.findall(cmake)

    def may_include(self, layer: str) -> list[str]:
        if layer in self.tops:
            return [*self.layers, layer]
        return self.layers[: self.layers.index(layer) + 1]

    def is_core(self, layer: str) -> bool:
        return layer in self.layers and self.layers.index(layer) <= self.layers.index(LAST_OF_CORE)


def check(root: Path) -> Iterator[str]:
    """Yields `file:line: message` for every include of src/ that breaks a rule."""
    flow = Flow((root / "CMakeLists.txt").read_text(encoding="utf-8"))
    if LAST_OF_CORE not in flow.layers:
        yield f"CMakeLists.txt:1: no layer `{LAST_OF_CORE}`; the order of the layers is read from graphmend_layer(…)"
        return
    source = root / "src"
    for path in sorted(source.rglob("*")):
        if path.suffix not in (".h", ".cpp", ".def", ".inc"):
            continue
        layer = path.relative_to(source).parts[0]
        where = path.relative_to(root)
        if layer not in flow.layers and layer not in flow.tops:
            yield f"{where}:1: the folder src/{layer} is no layer of CMakeLists.txt"
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            match = INCLUDE.match(line)
            if not match:
                continue
            if match["open"] == '"':
                problem = own_header_problem(source, flow, layer, match["name"])
            else:
                problem = outside_header_problem(flow, layer, match["name"], path.stem.endswith("_test"))
            if problem:
                yield f"{where}:{number}: {problem}"


def own_header_problem(source: Path, flow: Flow, layer: str, name: str) -> str | None:
    target = name.split("/")[0]
    if not (source / name).is_file() or "/" not in name or ".." in name:
        return f'"{name}" is no header of ours; write the path from src/, and other people\'s headers in <>'
    if target in flow.tops and target != layer:
        return f'`{layer}` includes "{name}": nothing may include `{target}`, which stands on top of all layers'
    if target not in flow.may_include(layer):
        return f'`{layer}` includes "{name}": `{target}` comes later in the flow ({" → ".join(flow.layers)})'
    return None


def outside_header_problem(flow: Flow, layer: str, name: str, is_test: bool) -> str | None:
    if name in STANDARD:
        if flow.is_core(layer) and not is_test and name in NOT_IN_CORE:
            return f"`{layer}` includes <{name}>: the core never prints; return a Diagnostic"
        return None
    allowed = ALLOWED.get(layer, ()) + (ALLOWED_IN_TESTS if is_test else ())
    if any(name == entry or (entry.endswith("/") and name.startswith(entry)) for entry in allowed):
        return None
    rule = f"allowed beside the standard library: {', '.join(allowed)}" if allowed else "only the standard library is"
    return f"`{layer}` includes <{name}>; {rule} (see tools/check_layers.py)"


def self_test() -> list[str]:
    """Plants one breach of each rule in a small tree, and one legal include of each kind. Returns what went wrong."""
    cmake = "graphmend_layer(base)\ngraphmend_layer(lex)\ngraphmend_layer(diag USES fmt)\ngraphmend_layer(mend)\n"
    cmake += "graphmend_layer(driver)\ngraphmend_command(cli NAME x)\n"
    legal = {
        "base/id.h": "#include <cstdint>",
        "lex/lexer.h": '#include "base/id.h"',
        "lex/lexer.cpp": '#include "lex/lexer.h"\n#include <arm_neon.h>',
        "lex/lexer_test.cpp": "#include <gtest/gtest.h>\n#include <iostream>",
        "diag/render.cpp": "#include <fmt/format.h>",
        "cli/main.cpp": '#include <CLI/CLI.hpp>\n#include <iostream>\n#include "lex/lexer.h"',
    }
    breaches = {
        "base/upward.h": ('\n#include "lex/lexer.h"', 2, "comes later in the flow"),
        "base/relative.h": ('#include "id.h"', 1, "no header of ours"),
        "base/climbing.h": ('#include "../base/id.h"', 1, "no header of ours"),
        "lex/missing.cpp": ('#include "lex/nothing.h"', 1, "no header of ours"),
        "lex/printing.cpp": ("#include <iostream>", 1, "never prints"),
        "lex/foreign.cpp": ("#  include <fmt/core.h>", 1, "allowed beside the standard library"),
        "mend/system.cpp": ("#include <unistd.h>", 1, "only the standard library"),
        "mend/gtest.cpp": ("#include <gtest/gtest.h>", 1, "only the standard library"),
        "driver/top.cpp": ('#include "cli/cli.h"', 1, "on top of all layers"),
        "stray/stray.h": ("", 1, "no layer"),
    }
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "CMakeLists.txt").write_text(cmake, encoding="utf-8")
        files = legal | {name: text for name, (text, _, _) in breaches.items()} | {"cli/cli.h": ""}
        for name, text in files.items():
            path = root / "src" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text + "\n", encoding="utf-8")
        found = list(check(root))
    failures = []
    for name, (_, line, words) in breaches.items():
        hits = [message for message in found if message.startswith(f"src/{name}:{line}: ") and words in message]
        if len(hits) != 1:
            failures.append(f"self-test: the breach in {name} was reported {len(hits)} times, not once")
        found = [message for message in found if message not in hits]
    failures += [f"self-test: a legal include was refused: {message}" for message in found]
    return failures


def main() -> int:
    parser = argparse.ArgumentParser(description="Fails when an include goes against the flow of the layers.")
    parser.add_argument("--self-test", action="store_true", help="check the checker instead of the repository")
    problems = self_test() if parser.parse_args().self_test else list(check(ROOT))
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
