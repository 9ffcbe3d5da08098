// Encodings of source files other than UTF-8. In: the name in a cookie, bytes. Out: UTF-8, and the bytes back.
// Here are names and the encodings of one byte per character; utf7.cpp and iconv_encoding.cpp have the others.
#include "source/encoding.h"

#include <algorithm>
#include <iterator>

#include "source/utf8.h"

namespace graphmend {
namespace {

struct EncodingName {
  std::string_view name;
  uint8_t index;
  // An entry of CPython's table of aliases; without it, the name of one of its codecs.
  bool is_alias;
};

#include "source/encoding_tables.inc"

constexpr char16_t kNoCharacter = 0xFFFD;

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
constexpr bool is_lower(char c) { return c >= 'a' && c <= 'z'; }

// `Latin-1` is `latin_1`: lower case, what stands between letters, digits and dots is one underscore.
std::string normalized(std::string_view name) {
  std::string result;
  bool is_separated = false;
  for (const char c : name) {
    if (!is_digit(c) && !is_upper(c) && !is_lower(c) && c != '.') {
      is_separated = true;
      continue;
    }
    if (is_separated && !result.empty()) result += '_';
    is_separated = false;
    result += is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return result;
}

const EncodingName* find_name(std::string_view name) {
  const auto* found = std::lower_bound(std::begin(kNames), std::end(kNames), name,
                                       [](const EncodingName& entry, std::string_view n) { return entry.name < n; });
  return found != std::end(kNames) && found->name == name ? found : nullptr;
}

Decoded decode_single_byte(const Encoding& encoding, std::string_view bytes) {
  const size_t first = 256 - encoding.table.size();
  Decoded result;
  result.text.reserve(bytes.size() + bytes.size() / 8);
  for (size_t at = 0; at < bytes.size(); ++at) {
    const auto byte = static_cast<uint8_t>(bytes[at]);
    const char32_t code = byte < first ? byte : encoding.table[byte - first];
    if (code == kNoCharacter) {
      result.invalid_at = at;
      break;
    }
    append_utf8(result.text, code);
  }
  return result;
}

std::optional<char> single_byte(const Encoding& encoding, char32_t code) {
  const size_t first = 256 - encoding.table.size();
  if (code < first) return static_cast<char>(code);
  if (code >= kNoCharacter) return std::nullopt;
  const size_t found = encoding.table.find(static_cast<char16_t>(code));
  if (found == std::u16string_view::npos) return std::nullopt;
  return static_cast<char>(first + found);
}

std::optional<std::string> encode_single_byte(const Encoding& encoding, std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const Utf8Char next = decode_utf8(text, at);
    const std::optional<char> byte = single_byte(encoding, next.code);
    if (next.length == 0 || !byte) return std::nullopt;
    bytes += *byte;
    at += next.length;
  }
  return bytes;
}

Decoded decode_latin1(std::string_view bytes) {
  Decoded result;
  result.text.reserve(bytes.size() + bytes.size() / 8);
  for (const char byte : bytes) append_utf8(result.text, static_cast<uint8_t>(byte));
  return result;
}

std::optional<std::string> encode_latin1(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const Utf8Char next = decode_utf8(text, at);
    if (next.length == 0 || next.code > 0xFF) return std::nullopt;
    bytes += static_cast<char>(next.code);
    at += next.length;
  }
  return bytes;
}

}  // namespace

const Encoding* find_encoding(std::string_view name) {
  const std::string key = normalized(name);
  const EncodingName* found = find_name(key);
  if (!found && key.find('.') != std::string::npos) {
    // A dot is as good as an underscore in an alias, but not in the name of a codec.
    std::string without_dots = key;
    std::replace(without_dots.begin(), without_dots.end(), '.', '_');
    found = find_name(without_dots);
    if (found && !found->is_alias) found = nullptr;
  }
  return found ? &kEncodings[found->index] : nullptr;
}

bool is_plain(const Encoding& encoding, std::string_view bytes) {
  if (find_not_ascii(bytes) != bytes.size()) return false;
  return encoding.not_plain.empty() || bytes.find_first_of(encoding.not_plain) == std::string_view::npos;
}

Decoded decode(const Encoding& encoding, std::string_view bytes) {
  switch (encoding.kind) {
    case EncodingKind::Ascii: {
      const size_t end = find_not_ascii(bytes);
      return {std::string(bytes.substr(0, end)), end == bytes.size() ? std::string_view::npos : end};
    }
    case EncodingKind::Utf8: {
      const size_t end = find_invalid_utf8(bytes);
      return {std::string(bytes.substr(0, end)), end};
    }
    case EncodingKind::Latin1:
      return decode_latin1(bytes);
    case EncodingKind::Utf7:
      return internal::decode_utf7(bytes);
    case EncodingKind::SingleByte:
      return decode_single_byte(encoding, bytes);
    case EncodingKind::TwoBytes:
    case EncodingKind::ShiftJis:
    case EncodingKind::EucJp:
    case EncodingKind::Gb18030:
    case EncodingKind::Stateful:
      break;
  }
  return internal::decode_by_iconv(encoding, bytes);
}

std::optional<std::string> encode(const Encoding& encoding, std::string_view text) {
  if (is_plain(encoding, text)) return std::string(text);
  switch (encoding.kind) {
    case EncodingKind::Ascii:
      return std::nullopt;
    case EncodingKind::Utf8:
      return std::string(text);
    case EncodingKind::Latin1:
      return encode_latin1(text);
    case EncodingKind::Utf7:
      return internal::encode_utf7(text);
    case EncodingKind::SingleByte:
      return encode_single_byte(encoding, text);
    case EncodingKind::TwoBytes:
    case EncodingKind::ShiftJis:
    case EncodingKind::EucJp:
    case EncodingKind::Gb18030:
    case EncodingKind::Stateful:
      break;
  }
  return internal::encode_by_iconv(encoding, text);
}

}  // namespace graphmend
