"""Write the Unicode tables of src/source from the unicodedata module of the running CPython.

Run it with CPython 3.13 (Unicode 15.1), the version whose verdicts the front end follows:

    python3.13 tools/generate_unicode_tables.py

It writes src/source/unicode_tables.inc (identifiers, printable characters, NFKC) and
src/source/unicode_names.inc (names for the escape `\\N{...}`).
"""

import ctypes
import platform
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

CODE_POINTS = range(0x110000)
HANGUL_SYLLABLES = range(0xAC00, 0xD7A4)
SURROGATES = range(0xD800, 0xE000)

# 64 characters in ASCII order, so that comparing encoded numbers as bytes compares the numbers.
DIGITS = "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"
HASH_DIGITS = 8
CODE_DIGITS = 3

HEADER = """\
// {title}
// Made by tools/generate_unicode_tables.py from Unicode {version}; do not edit.
// clang-format off
"""


def array(kind: str, name: str, values: Iterable[int | tuple[int, ...]]) -> str:
    lines = [""]
    for value in values:
        text = f"{value}," if isinstance(value, int) else "{" + ",".join(map(str, value)) + "},"
        if len(lines[-1]) + len(text) > 120:
            lines.append("")
        lines[-1] += text
    return f"constexpr {kind} {name}[] = {{\n" + "\n".join(lines) + "\n};\n"


def edges(holds: Callable[[str], bool]) -> list[int]:
    """The code points at which the property begins or ends to hold."""
    result = []
    inside = False
    for code in CODE_POINTS:
        if holds(chr(code)) != inside:
            inside = not inside
            result.append(code)
    if inside:
        result.append(CODE_POINTS.stop)
    return result


def combining_class_ranges() -> Iterator[tuple[int, int, int]]:
    """first, last, class of each run of code points with the same class other than 0."""
    first, current = 0, 0
    for code in CODE_POINTS:
        value = unicodedata.combining(chr(code))
        if value != current:
            if current:
                yield first, code - 1, current
            first, current = code, value


def decompositions() -> dict[int, str]:
    """Full compatibility decompositions, Hangul syllables left out: those are computed."""
    result = {}
    for code in CODE_POINTS:
        if code in HANGUL_SYLLABLES or code in SURROGATES:
            continue
        text = unicodedata.normalize("NFKD", chr(code))
        if text != chr(code):
            result[code] = text
    return result


def compositions() -> list[tuple[int, int, int]]:
    """first, second, composed for the pairs that NFC puts together, sorted."""
    result = []
    for code in CODE_POINTS:
        parts = unicodedata.decomposition(chr(code)).split()
        # A tag such as `<compat>` is no hexadecimal number: only canonical pairs have two numbers.
        if len(parts) == 2 and not parts[0].startswith("<"):
            first, second = (int(part, 16) for part in parts)
            if unicodedata.normalize("NFC", chr(first) + chr(second)) == chr(code):
                result.append((first, second, code))
    return sorted(result)


def tables() -> str:
    decomposed = decompositions()
    starts = [0]
    for text in decomposed.values():
        starts.append(starts[-1] + len(text))
    parts = [
        HEADER.format(
            title="Properties and decompositions of characters; unicode.cpp says how they are read.",
            version=unicodedata.unidata_version,
        ),
        array("uint32_t", "kXidStartEdges", edges(str.isidentifier)),
        array("uint32_t", "kXidContinueEdges", edges(lambda char: ("a" + char).isidentifier())),
        array("uint32_t", "kPrintableEdges", edges(str.isprintable)),
        array("CombiningClassRange", "kCombiningClasses", combining_class_ranges()),
        array("uint32_t", "kDecomposedCodes", decomposed),
        array("uint16_t", "kDecompositionStarts", starts),
        array("uint32_t", "kDecompositions", (ord(char) for text in decomposed.values() for char in text)),
        array("Composition", "kCompositions", compositions()),
    ]
    return "\n".join(parts)


def alias_and_sequence_names() -> Iterator[str]:
    """Aliases such as `LINE FEED` and named sequences, which CPython knows but unicodedata.name() does not tell.

    CPython keeps them under private-use code points, and its C API gives them away when the last argument is 1.
    """
    get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    get_pointer.restype = ctypes.c_void_p
    get_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    api = get_pointer(unicodedata._ucnhash_CAPI, b"unicodedata._ucnhash_CAPI")  # type: ignore[attr-defined]
    prototype = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_int, ctypes.c_int)
    get_name = prototype(ctypes.c_size_t.from_address(api).value)
    buffer = ctypes.create_string_buffer(512)
    for code in range(0xF0000, 0xF1000):
        if get_name(code, ctypes.addressof(buffer), len(buffer), 1):
            yield buffer.value.decode("ascii")


def name_hash(name: str) -> int:
    """As name_hash in unicode_names.cpp: FNV-1a, stirred once so that the upper 48 bits depend on everything."""
    value = 0xCBF29CE484222325
    for byte in name.encode("ascii"):
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    value ^= value >> 32
    value = value * 0x9E3779B97F4A7C15 & 0xFFFFFFFFFFFFFFFF
    return value >> 16


def encode(number: int, length: int) -> str:
    return "".join(DIGITS[number >> 6 * place & 63] for place in reversed(range(length)))


def folded_code(code: int) -> int:
    """18 bits: planes 0 to 2 as they are, plane 14 as 3. No other plane has names of its own."""
    plane = code >> 16
    if plane not in (0, 1, 2, 14):
        raise ValueError(f"no room for U+{code:04X}")
    return 0x30000 | (code & 0xFFFF) if plane == 14 else code


def names() -> str:
    ideographs = edges(lambda char: unicodedata.name(char, "").startswith("CJK UNIFIED IDEOGRAPH-"))
    computed = ("CJK UNIFIED IDEOGRAPH-", "HANGUL SYLLABLE ")
    code_of = {}
    for code in CODE_POINTS:
        name = unicodedata.name(chr(code), "")
        if name and not name.startswith(computed):
            code_of[name] = code
    for name in alias_and_sequence_names():
        value = unicodedata.lookup(name)
        # Named sequences, which have several characters, are not accepted in literals.
        if len(value) == 1:
            code_of[name] = ord(value)
    hashed = {name_hash(name): code for name, code in code_of.items()}
    if len(hashed) != len(code_of):
        raise ValueError("two names have the same hash: change name_hash")
    records = [
        encode(key, HASH_DIGITS) + encode(folded_code(code), CODE_DIGITS) for key, code in sorted(hashed.items())
    ]
    lines = ['"' + "".join(records[start : start + 10]) + '"' for start in range(0, len(records), 10)]
    parts = [
        HEADER.format(
            title="Names of characters and their aliases, hashed; unicode_names.cpp says how they are read.",
            version=unicodedata.unidata_version,
        ),
        f"constexpr size_t kNameCount = {len(records)};\n",
        array("uint32_t", "kUnifiedIdeographEdges", ideographs),
        "constexpr char kNameRecords[] =\n" + "\n".join(lines) + ";\n",
    ]
    return "\n".join(parts)


def main() -> None:
    if not platform.python_version().startswith("3.13."):
        sys.exit("run this with CPython 3.13, whose Unicode version the front end follows")
    folder = Path(__file__).resolve().parent.parent / "src" / "source"
    (folder / "unicode_tables.inc").write_text(tables(), encoding="ascii")
    (folder / "unicode_names.inc").write_text(names(), encoding="ascii")


if __name__ == "__main__":
    main()
