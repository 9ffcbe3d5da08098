"""Compare src/source/source.h with CPython 3.13. In: generated cookies and bytes. Out: the differences.

    PYTHONPATH=tests python3.13 -m oracle.source_check [--probe PATH] [--seed N] [--rounds N]

What is compared is the tree: `ast.parse(bytes)` against `ast.parse(text)` of the text that decode_source gives, where
"not accepted" is a result, too. The exit status is 1 if there are any differences. Where we differ, knowingly:
- Bytes in a comment that are not UTF-8 are an error, as when CPython runs the file; `ast.parse` overlooks them.
- The encodings that the tables leave out (see tools/generate_encoding_tables.py) are refused.
- Hangul spelt in eight bytes in EUC-KR, and JIS X 0212 in the two EUC encodings of JIS X 0213, are refused.
- Characters that are two in Unicode and one in the encoding can be read but not written back.
"""

from __future__ import annotations

import argparse
import ast
import encodings
import pkgutil
import platform
import random
import sys
import warnings
from collections import Counter
from encodings.aliases import aliases
from typing import Iterator

from oracle.source_probe import ask, probe_from
from tools.generate_encoding_tables import MULTI_BYTE, REFUSED

# For these only ASCII is compared: iconv takes escape sequences and the characters named above in another way.
LENIENT = {name for name, (kind, _) in MULTI_BYTE.items() if kind == "Stateful"} | {"euc_jis_2004", "euc_jisx0213"}

WRITTEN_BACK = {b"same": "same bytes back", b"other": "other bytes back", b"lost": "not written back"}

COOKIES = [
    b"# coding: %s", b"# -*- coding: %s -*-", b"#coding=%s", b"# vim: set fileencoding=%s :", b"  # coding: %s",
    b"\t\x0c# coding:\t %s x", b"# encoding = %s", b"# coding : %s", b"# coding:coding=%s", b"# coding:%s coding:utf-9",
    b"x = 1 # coding: %s", b"\x0b# coding: %s", b"# Coding: %s", b"#%%coding:=%s", b"# coding: -%s", b"# coding: %s-",
    b"# coding: \xc3\xa9 coding: %s", b"'''# coding: %s'''", b"# xcoding:\x0c%s", b"\\# coding: %s", b"#coding:%s#",
    b"# coding: [%s]", b"#\xff coding: %s", b"# coding:\n# %s", b"# coding: coding: %s",
]  # fmt: skip
PLACES = [b"%s\n", b"\n%s\n", b"#!/usr/bin/python\n%s\n", b"#\r\n%s\r\n", b"\r%s\r", b"\n\n%s\n", b"x = 1\n%s\n",
          b"\x0c\n%s\n", b"\\\n%s\n", b"   \n%s\n", b"#\r\r%s\n", b"#\n\r%s\n", b"'''\n%s\n'''\n", b"%s"]  # fmt: skip
NAMES = ["utf-8", "utf8", "UTF-8", "Utf_8", "utf-8-sig", "utf_8_sig", "utf8-sig", "utf-8-unix", "utf-8x", "utf--8",
         "utf-8-verylongsuffix", "latin-1", "latin1", "latin-1-unix", "Latin_1", "latin-1x", "iso-8859-1", "iso8859-1",
         "iso-8859-1-dos", "iso-latin-1-mac", "iso_latin_1", "iso-8859-15", "iso8859.15", "iso-8859-15-unix", "ascii",
         "us-ascii", "ANSI_X3.4-1968", "cp1252", "windows-1252", "Windows.1252", "mac-roman", "macintosh", "koi8-r",
         "euc-jp", "eucjp", "ujis", "shift_jis", "sjis", "s_jis", "gbk", "936", "cp936", "big5", "utf-7", "u7", "u8",
         "utf", "utf.8", "uft-8", "rot13", "hex", "foo", ".", "-", "_", "8859", "utf-9", "none", "l1", "646", "cp65001",
         "charmap", "tis-620", "iso-8859-11", "mbcs", "aliases", "base64", "zip", "os", "a" * 300]  # fmt: skip


def known_names() -> list[str]:
    modules = [module.name for module in pkgutil.iter_modules(encodings.__path__)]
    return [name for name in {*modules, *aliases} if codec_module(name) not in REFUSED]


def codec_module(name: str) -> str | None:
    normal = encodings.normalize_encoding(name).lower()
    return aliases.get(normal) or aliases.get(normal.replace(".", "_")) or normal


def tree_of(source: bytes | str) -> str | None:
    try:
        return ast.dump(ast.parse(source))
    except (SyntaxError, ValueError, LookupError):
        return None


def is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def respelled(name: str, generator: random.Random) -> str:
    """Another spelling, mostly of the same name."""
    choice = generator.randrange(8)
    if choice == 0:
        return name.upper()
    if choice == 1:
        return name.replace("_", "-")
    if choice == 2:
        return name.replace("_", ".")
    if choice == 3:
        return name.replace("_", generator.choice(["", "__", "-_"]))
    if choice == 4:
        place = generator.randrange(len(name) + 1)
        return name[:place] + generator.choice("-_.8a") + name[place:]
    return name


def body_in(codec: str, generator: random.Random) -> bytes:
    """A string and a comment in the encoding, at times with a byte that may not belong to it."""
    chars: list[str] = []
    while len(chars) < 20:
        code = generator.choice([0xA0, 0x400, 0x3040, 0x4E00, 0xAC00, 0x2500, 0x80]) + generator.randrange(0x80)
        try:
            # Hangul in eight bytes, see above.
            if len(chr(code).encode(codec)) == 8:
                raise LookupError
        except (UnicodeError, LookupError):
            code = generator.choice(range(0x61, 0x7B))
        chars.append(chr(code))
    try:
        data = ("x = '''" + "".join(chars) + "'''\n# " + "".join(chars[:5]) + "\ny = 2 + 3\n").encode(codec)
    except (UnicodeError, LookupError):
        data = b"x = '''abc'''\n"
    if generator.random() < 0.4:
        place = generator.randrange(7, max(8, len(data) - 20))
        data = data[:place] + bytes([generator.randrange(0x80, 0x100)]) + data[place + generator.randrange(2) :]
    return data


def cookie_cases() -> Iterator[bytes]:
    for name in NAMES:
        spelled = name.encode()
        for cookie in COOKIES:
            yield b"\n".join([cookie.replace(b"%s", spelled), b"x = 'abc'"])
        for place in PLACES:
            for bom in (b"", b"\xef\xbb\xbf"):
                for body in (b"x = 'abc'\n", b"x = '\xc3\xa9'\n", b"x = '\xe9'\n", b"x = '\x81'"):
                    yield bom + place.replace(b"%s", b"# coding: " + spelled) + body
    yield from (b"", b"\n", b"\xef\xbb\xbf", b"\xef\xbb", b"\xef\xbb\xbf\xef\xbb\xbfx", b"#", b"# coding", b"# coding:")
    yield from (b"\0", b"x = 1\n\0", b"x = '\0'", b"# \0\n", b"# coding: latin-1\n'\0'", b"# coding: foo\0")


def body_cases(seed: int, rounds: int) -> Iterator[bytes]:
    generator = random.Random(seed)
    for name in sorted(known_names()):
        for _ in range(rounds):
            module = codec_module(name) or ""
            spelled = respelled(name, generator)
            if codec_module(spelled) in REFUSED:
                continue
            place = generator.choice(PLACES[:4])
            body = body_in(module, generator) if module not in LENIENT else b"x = '''abc'''\n"
            yield place.replace(b"%s", b"# coding: " + spelled.encode()) + body


def every_byte_cases() -> Iterator[bytes]:
    """Every byte, and for encodings of several bytes every pair, in every encoding."""
    for module in sorted(known_names()):
        if codec_module(module) != module:
            continue
        head = b"# coding: " + module.encode() + b"\nx = '''"
        for byte in range(1, 256):
            if module not in LENIENT or byte not in b"\x0e\x0f\x1b":
                yield head + bytes([byte]) + b"'''"
        if module in MULTI_BYTE and module not in LENIENT:
            for lead in range(0x80, 0x100):
                yield from (head + bytes([lead, byte]) + b" '''" for byte in range(0x20, 0x100))


def check(title: str, cases: list[bytes], answers: list[bytes]) -> int:
    verdicts: Counter[str] = Counter()
    wrong = 0
    for data, answer in zip(cases, answers):
        verdict, _, again, text = answer.split(b"\n", 3)
        expected = tree_of(data)
        got = tree_of(text.decode()) if verdict == b"ok" else None
        verdicts["accepted" if expected is not None else "refused"] += 1
        if expected is not None and b"is not UTF-8" in answer and not is_utf8(data):
            verdicts["accepted, but not UTF-8"] += 1
        elif expected != got:
            wrong += 1
            if wrong <= 10:
                print(f"  {data[:90]!r}: CPython {expected and expected[:90]}, we {answer[:120]!r}")
        if verdict == b"ok":
            verdicts[WRITTEN_BACK[again]] += 1
    print(f"{title}: {len(cases)} cases, {wrong} differences ({dict(verdicts)})")
    return wrong


def main() -> int:
    if not platform.python_version().startswith("3.13."):
        sys.exit("run this with CPython 3.13")
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--probe", help="source_probe, compiled; without it, it is compiled with $CXX or c++")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=30, help="random bodies per name of an encoding")
    arguments = parser.parse_args()
    probe = probe_from(arguments.probe)
    wrong = 0
    for title, cases in (
        ("cookies", cookie_cases()),
        ("bodies", body_cases(arguments.seed, arguments.rounds)),
        ("every byte", every_byte_cases()),
    ):
        listed = list(cases)
        wrong += check(title, listed, ask(probe, [b"s" + data for data in listed]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
