"""Write src/source/encoding_tables.inc: the encodings that CPython knows, by all of their names.

Run it with CPython 3.13 on a system with glibc:

    python3.13 tools/generate_encoding_tables.py

Encodings of one byte per character are written out whole. Those of several bytes are left to iconv, and the characters
in which CPython's tables are not iconv's are listed. Not in the tables, so refused: UTF-16, UTF-32 and the EBCDIC
family, in which no file can hold a readable cookie; idna, punycode and the escape codecs, which are no encodings of
source text.
"""

import codecs
import ctypes
import encodings
import pkgutil
import platform
import sys
from collections.abc import Iterator
from encodings.aliases import aliases
from pathlib import Path

UNDEFINED = "\ufffd"
ASCII = bytes(range(1, 128))

# CPython's codec, its kind in encoding.h, iconv's name for it (empty: iconv has none).
MULTI_BYTE = {
    "big5": ("TwoBytes", "BIG5"),
    "big5hkscs": ("TwoBytes", "BIG5-HKSCS"),
    "cp932": ("ShiftJis", "CP932"),
    "cp949": ("TwoBytes", "CP949"),
    "cp950": ("TwoBytes", "CP950"),
    "euc_jis_2004": ("EucJp", "EUC-JISX0213"),
    "euc_jisx0213": ("EucJp", "EUC-JISX0213"),
    "euc_jp": ("EucJp", "EUC-JP"),
    "euc_kr": ("TwoBytes", "EUC-KR"),
    "gb18030": ("Gb18030", "GB18030"),
    "gb2312": ("TwoBytes", "GB2312"),
    "gbk": ("TwoBytes", "GBK"),
    "hz": ("Stateful", ""),
    "iso2022_jp": ("Stateful", "ISO-2022-JP"),
    "iso2022_jp_1": ("Stateful", "ISO-2022-JP-2"),
    "iso2022_jp_2": ("Stateful", "ISO-2022-JP-2"),
    "iso2022_jp_2004": ("Stateful", ""),
    "iso2022_jp_3": ("Stateful", "ISO-2022-JP-3"),
    "iso2022_jp_ext": ("Stateful", ""),
    "iso2022_kr": ("Stateful", "ISO-2022-KR"),
    "johab": ("TwoBytes", "JOHAB"),
    "shift_jis": ("ShiftJis", "SHIFT_JIS"),
    "shift_jis_2004": ("ShiftJis", "SHIFT_JISX0213"),
    "shift_jisx0213": ("ShiftJis", "SHIFT_JISX0213"),
}
BY_HAND = {
    "ascii": ("ascii", "Ascii"),
    "latin_1": ("iso-8859-1", "Latin1"),
    "iso8859_1": ("iso-8859-1", "Latin1"),
    "charmap": ("iso-8859-1", "Latin1"),
    "utf_8": ("utf-8", "Utf8"),
    "utf_8_sig": ("utf-8", "Utf8"),
    "utf_7": ("utf-7", "Utf7"),
}
REFUSED = {
    *("utf_16", "utf_16_be", "utf_16_le", "utf_32", "utf_32_be", "utf_32_le"),
    *("cp037", "cp1026", "cp1140", "cp273", "cp424", "cp500", "cp875"),
    *("idna", "punycode", "raw_unicode_escape", "unicode_escape", "undefined"),
}

HEADER = """\
// Encodings and their names; encoding.h says what the fields are.
// Made by tools/generate_encoding_tables.py from CPython {version}; do not edit.
// clang-format off

"""


class Iconv:
    """One of glibc's decoders."""

    def __init__(self, name: str) -> None:
        self.libc = ctypes.CDLL("libc.so.6")
        self.libc.iconv_open.restype = ctypes.c_void_p
        self.libc.iconv.restype = ctypes.c_size_t
        self.libc.iconv.argtypes = [ctypes.c_void_p] * 5
        self.handle = self.libc.iconv_open(b"UTF-8", name.encode())
        if self.handle == ctypes.c_void_p(-1).value:
            raise ValueError(f"iconv does not know {name}")

    def decode(self, data: bytes) -> str | None:
        """Nothing when the bytes are not exactly some characters of the encoding."""
        self.libc.iconv(self.handle, None, None, None, None)
        room = 64
        source = ctypes.create_string_buffer(data, len(data))
        target = ctypes.create_string_buffer(room)
        source_at = ctypes.c_void_p(ctypes.addressof(source))
        source_left = ctypes.c_size_t(len(data))
        target_at = ctypes.c_void_p(ctypes.addressof(target))
        target_left = ctypes.c_size_t(room)
        output = (ctypes.byref(target_at), ctypes.byref(target_left))
        result = self.libc.iconv(self.handle, ctypes.byref(source_at), ctypes.byref(source_left), *output)
        if result == ctypes.c_size_t(-1).value or source_left.value:
            return None
        self.libc.iconv(self.handle, None, None, *output)
        return target.raw[: room - target_left.value].decode()


def decode(data: bytes, codec: str) -> str | None:
    try:
        return data.decode(codec)
    except UnicodeDecodeError:
        return None


def characters(kind: str) -> Iterator[bytes]:
    """Every sequence of bytes that is read as one character; as character_length in iconv_encoding.cpp has it."""
    for lead in range(0x80, 0x100):
        if kind == "ShiftJis" and (lead == 0x80 or 0xA0 <= lead <= 0xDF or lead >= 0xFD):
            yield bytes([lead])
            continue
        for second in range(0x100):
            if kind == "EucJp" and lead == 0x8F:
                yield from (bytes([lead, second, third]) for third in range(0x100))
            elif kind == "Gb18030" and 0x30 <= second <= 0x39:
                # Above this, code points follow from the bytes by arithmetic.
                if lead <= 0x84:
                    for third in range(0x81, 0xFF):
                        yield from (bytes([lead, second, third, fourth]) for fourth in range(0x30, 0x3A))
            else:
                yield bytes([lead, second])


def differences(codec: str, kind: str, iconv_name: str) -> list[tuple[int, int, int]]:
    """first and last bytes, and the code point of the first, 0 where CPython has none."""
    iconv = Iconv(iconv_name)
    found = []
    for data in characters(kind):
        ours, theirs = decode(data, codec), iconv.decode(data)
        # The two JIS X 0213 encodings fall back to JIS X 0212 in CPython. Too many to list, and hardly used.
        if ours == theirs or (theirs is None and "jis" in codec and data[0] == 0x8F):
            continue
        found.append((int.from_bytes(data, "big"), ord(ours) if ours else 0))
    # Bytes below 80 mean themselves or stand here, too.
    for byte in ASCII:
        ours, theirs = decode(bytes([byte]), codec), iconv.decode(bytes([byte]))
        if ours != theirs and ours != chr(byte):
            raise ValueError(f"{codec}: {byte}")
    ranges: list[tuple[int, int, int]] = []
    for key, code in sorted(found):
        if ranges:
            first, last, start = ranges[-1]
            if key == last + 1 and (code == start == 0 or (code and start and code == start + key - first)):
                ranges[-1] = (first, key, start)
                continue
        ranges.append((key, key, code))
    return ranges


def not_plain(codec: str, kind: str) -> str:
    """The ASCII characters that do not mean themselves, as the inside of a C++ literal."""
    special = {byte for byte in ASCII if decode(bytes([97, byte, 97]), codec) != f"a{chr(byte)}a"}
    if kind == "Stateful" and codec != "hz":
        # It begins escape sequences; alone, as above, it may pass.
        special.add(0x1B)
    # Octal, three digits: unlike a hexadecimal escape it cannot swallow what follows.
    return "".join(f"\\{byte:03o}" for byte in sorted(special))


def single_byte_table(codec: str) -> str:
    first = 0x80 if decode(ASCII, codec) == ASCII.decode() else 0
    chars = [decode(bytes([byte]), codec) or UNDEFINED for byte in range(first, 0x100)]
    if first == 0:
        # NUL is refused before; it would end the literal.
        chars[0] = UNDEFINED
    spelled = [f"\\u{ord(c):04X}" if ord(c) >= 0x80 else f"\\{ord(c):03o}" for c in chars]
    return "\n".join('    u"' + "".join(spelled[start : start + 16]) + '"' for start in range(0, len(spelled), 16))


def main() -> None:
    if not platform.python_version().startswith("3.13."):
        sys.exit("run this with CPython 3.13, whose encodings the front end follows")
    modules = sorted(module.name for module in pkgutil.iter_modules(encodings.__path__) if module.name != "aliases")
    rows: list[str] = []
    arrays: list[str] = []
    index_of_name: dict[str, int] = {}
    index_of_module: dict[str, int] = {}

    def add(module: str, name: str, row: str) -> None:
        if name not in index_of_name:
            index_of_name[name] = len(rows)
            rows.append(row)
        index_of_module[module] = index_of_name[name]

    for module in modules:
        try:
            info = codecs.lookup(module)
        except LookupError:
            # Those of Windows.
            continue
        if module in REFUSED or not info._is_text_encoding:
            continue
        if module in BY_HAND:
            name, kind = BY_HAND[module]
            special = "\\053" if kind == "Utf7" else ""
            add(module, name, f'{{"{name}", EncodingKind::{kind}, "{special}", {{}}, "", {{}}}},')
        elif module in MULTI_BYTE:
            kind, iconv_name = MULTI_BYTE[module]
            listed = differences(module, kind, iconv_name) if kind != "Stateful" else []
            spelled = "{}"
            if listed:
                spelled = "k" + module.replace("_", " ").title().replace(" ", "") + "Differences"
                lines = [""]
                for first, last, code in listed:
                    text = f"{{0x{first:X},0x{last:X},0x{code:X}}},"
                    if len(lines[-1]) + len(text) > 120:
                        lines.append("")
                    lines[-1] += text
                arrays.append(f"constexpr EncodingDifference {spelled}[] = {{\n" + "\n".join(lines) + "\n};\n")
            special = not_plain(module, kind)
            row = f'{{"{info.name}", EncodingKind::{kind}, "{special}", {{}}, "{iconv_name}", {spelled}}},'
            add(module, info.name, row)
        else:
            special = not_plain(module, "SingleByte")
            row = f'{{"{info.name}", EncodingKind::SingleByte, "{special}",\n{single_byte_table(module)}, "", {{}}}},'
            add(module, info.name, row)

    names = {module: (index, False) for module, index in index_of_module.items()}
    for alias, module in aliases.items():
        if module in index_of_module:
            names[alias] = (index_of_module[module], True)
    text = HEADER.format(version=sys.version.split()[0])
    text += "\n".join(arrays)
    text += "\nconstexpr Encoding kEncodings[] = {\n" + "\n".join(rows) + "\n};\n"
    text += "\nconstexpr EncodingName kNames[] = {\n"
    for name, (index, is_alias) in sorted(names.items()):
        text += f'{{"{name}", {index}, {str(is_alias).lower()}}},\n'
    text += "};\n"
    path = Path(__file__).resolve().parent.parent / "src" / "source" / "encoding_tables.inc"
    path.write_text(text, encoding="ascii")


if __name__ == "__main__":
    main()
