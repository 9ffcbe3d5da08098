// Encodings of source files other than UTF-8. In: the name in a cookie, bytes. Out: UTF-8, and the bytes back.
// Names and tables are CPython 3.13's; characters of several bytes come from iconv, corrected where CPython differs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace graphmend {

enum class EncodingKind : uint8_t {
  Ascii,
  Latin1,
  Utf8,
  Utf7,
  // A table of up to 256 characters.
  SingleByte,
  // Through iconv, a character at a time; they differ in how long a character is.
  TwoBytes,
  ShiftJis,
  EucJp,
  Gb18030,
  // Through iconv as a whole: escape sequences switch between character sets.
  Stateful,
};

// Bytes, read as one big-endian number, that CPython decodes in another way than iconv.
struct EncodingDifference {
  uint32_t first;
  uint32_t last;
  // What `first` stands for, the others count on from it; 0 when none of them stands for anything.
  char32_t code;
};

struct Encoding {
  std::string_view name;
  EncodingKind kind;
  // ASCII characters that do not, or not always, mean themselves.
  std::string_view not_plain;
  // SingleByte: the characters of the last 128 or 256 bytes, U+FFFD where there is none.
  std::u16string_view table;
  // Empty when iconv has no such encoding; then only plain text can be read.
  const char* iconv_name;
  std::span<const EncodingDifference> differences;
};

// By any of the names that CPython takes; null when it is unknown, or one that no source file can be written in.
const Encoding* find_encoding(std::string_view name);

// ASCII that means itself: such bytes are their own UTF-8.
bool is_plain(const Encoding& encoding, std::string_view bytes);

struct Decoded {
  std::string text;
  // The offset of the first bytes that stand for no character, or npos. The text ends before them.
  size_t invalid_at = std::string_view::npos;
};

Decoded decode(const Encoding& encoding, std::string_view bytes);

// Nothing when a character of the text (UTF-8) is not in the encoding.
std::optional<std::string> encode(const Encoding& encoding, std::string_view text);

namespace internal {
Decoded decode_utf7(std::string_view bytes);
std::string encode_utf7(std::string_view text);
Decoded decode_by_iconv(const Encoding& encoding, std::string_view bytes);
std::optional<std::string> encode_by_iconv(const Encoding& encoding, std::string_view text);
}  // namespace internal

}  // namespace graphmend
