"""Compare src/source/unicode.h with CPython 3.13. In: the whole of Unicode. Out: the differences; exit status 1 if any.

    PYTHONPATH=tests python3.13 -m oracle.unicode_check [--probe PATH] [--strings N]

Every code point for identifiers, printability and NFKC; every name, alias and named sequence, and names spoilt by one
character; random strings for NFKC; every lead byte and random bytes for UTF-8.
"""

from __future__ import annotations

import argparse
import platform
import random
import sys
import unicodedata
from typing import Callable, Iterable, Iterator, Tuple

from oracle.source_probe import ask, probe_from
from tools.generate_unicode_tables import alias_and_sequence_names

CODE_POINTS = [code for code in range(0x110000) if not 0xD800 <= code < 0xE000]

Case = Tuple[bytes, bytes]


def property_cases() -> Iterator[Case]:
    expected = bytearray()
    for code in range(0x110000):
        char = chr(code)
        expected.append(char.isidentifier() | ("a" + char).isidentifier() << 1 | char.isprintable() << 2)
    yield b"p", bytes(expected)


def nfkc_case(text: str) -> Case:
    return b"n" + text.encode(), unicodedata.normalize("NFKC", text).encode()


def interesting_characters() -> list[str]:
    """Those that NFKC changes, or that change others: marks, parts of pairs, Hangul letters."""
    chars = {chr(code) for code in CODE_POINTS if unicodedata.combining(chr(code))}
    chars |= {chr(code) for code in range(0x1100, 0x1200)} | set("aAeo\u0327 ")
    for code in CODE_POINTS:
        parts = unicodedata.decomposition(chr(code)).split()
        if parts:
            chars.add(chr(code))
            chars.update(chr(int(part, 16)) for part in parts if not part.startswith("<"))
    return sorted(chars)


def nfkc_cases(count: int) -> Iterator[Case]:
    for code in CODE_POINTS:
        yield nfkc_case(chr(code))
    generator = random.Random(1)
    interesting = interesting_characters()
    marks = [char for char in interesting if unicodedata.combining(char)]
    hangul = [chr(code) for code in (*range(0x1100, 0x1200), 0xAC00, 0xAC01, 0xAC1C, 0xD7A3, 0xD788)]
    for number in range(count):
        pool = (interesting, marks + interesting[::40] + list("aeu"), hangul, [chr(generator.choice(CODE_POINTS))])[
            number % 4
        ]
        yield nfkc_case("".join(generator.choices(pool, k=generator.randint(1, 12))))
    for length in (100, 1000, 20000):
        yield nfkc_case("a" + "".join(generator.choices(marks, k=length)))


def literal_value(name: str) -> bytes:
    try:
        return str(ord(("\\N{" + name + "}").encode("ascii").decode("unicode_escape"))).encode()
    except (UnicodeDecodeError, UnicodeEncodeError):
        return b""


def name_cases() -> Iterator[Case]:
    names = [unicodedata.name(chr(code), "") for code in CODE_POINTS]
    names = [name for name in names if name] + list(alias_and_sequence_names())
    generator = random.Random(2)
    for name in names:
        spoilt = list(name)
        spoilt[generator.randrange(len(spoilt))] = generator.choice("ABCDEFXYZ0123456789 -")
        place = generator.randrange(len(name))
        for variant in (
            name,
            name.lower(),
            name.title(),
            "".join(spoilt),
            name[:place] + name[place + 1 :],
            name + " ",
        ):
            if variant:
                yield b"c" + variant.encode(), literal_value(variant)
    for code in range(0x3000, 0x34000):
        for variant in (f"CJK UNIFIED IDEOGRAPH-{code:X}", f"CJK UNIFIED IDEOGRAPH-0{code:X}"):
            yield b"c" + variant.encode(), literal_value(variant)


def is_utf8(data: bytes) -> bytes:
    try:
        data.decode()
    except UnicodeDecodeError:
        return b"error"
    return b"ok"


def utf8_cases() -> Iterator[Case]:
    generator = random.Random(3)
    for lead in range(0x80, 0x100):
        for second in range(0x100):
            for tail in (b"", b"\x80", b"\x80\x80", b"\xbf\xbf", b"\x80\xc0", b"a\x80"):
                data = b"x" * generator.randrange(40) + bytes([lead, second]) + tail
                yield b"u" + data, is_utf8(data)
    for _ in range(100_000):
        text = "".join(chr(generator.choice(CODE_POINTS)) for _ in range(generator.randint(0, 12)))
        spoilt = bytearray(text.encode())
        if spoilt and generator.random() < 0.5:
            spoilt[generator.randrange(len(spoilt))] = generator.randrange(0x100)
        yield b"u" + spoilt, is_utf8(bytes(spoilt))


def check(title: str, cases: Iterable[Case], answers_of: Callable[[list[bytes]], list[bytes]]) -> int:
    listed = list(cases)
    answers = answers_of([request for request, _ in listed])
    wrong = [(case, answer) for case, answer in zip(listed, answers) if case[1] != answer]
    print(f"{title}: {len(listed)} cases, {len(wrong)} differences")
    for (request, expected), answer in wrong[:10]:
        print(f"  {request[:80]!r}: expected {expected[:80]!r}, got {answer[:80]!r}")
    return len(wrong)


def main() -> int:
    if not platform.python_version().startswith("3.13."):
        sys.exit("run this with CPython 3.13")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--probe", help="source_probe, compiled; without it, it is compiled with $CXX or c++")
    parser.add_argument("--strings", type=int, default=400_000, help="random strings for NFKC")
    arguments = parser.parse_args()
    probe = probe_from(arguments.probe)
    wrong = 0
    for title, cases in (
        ("properties", property_cases()),
        ("nfkc", nfkc_cases(arguments.strings)),
        ("names", name_cases()),
        ("utf-8", utf8_cases()),
    ):
        wrong += check(title, cases, lambda requests: ask(probe, requests))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
