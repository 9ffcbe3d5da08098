// From bytes to text. In: a file's bytes. Out: `Source`, its text as UTF-8 without a byte-order mark.
// A coding cookie (PEP 263) decides the encoding; line endings stay as they are, the lexer understands all of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/diagnostic.h"

namespace graphmend {

// Offsets are 32 bits; larger files are refused before they are read.
inline constexpr uint64_t kMaxSourceBytes = 0x7FFF'FFFF;

struct Source {
  // UTF-8. When the bytes could not be decoded, the bytes as they came, so that nothing is lost.
  std::string text;
  // Normalised name: "utf-8", "iso-8859-1", "cp1252", …; "utf-8" as well when the bytes could not be decoded.
  std::string encoding = "utf-8";
  bool has_bom = false;
  // Undecodable bytes, an unknown encoding, a cookie that contradicts the byte-order mark, a NUL byte.
  Diagnostics errors;
};

Source decode_source(std::string bytes);

// The bytes that `decode_source` would read back as `text`; for edits of files in any encoding. Nothing when there are
// none: a character that the encoding does not have, or a coding cookie that has been edited to say something else.
std::optional<std::string> encode_source(const Source& source, std::string_view text);

}  // namespace graphmend
