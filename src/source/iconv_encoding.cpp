// Encodings of several bytes per character, through iconv. In: bytes or text. Out: the other.
// iconv's tables are not CPython's everywhere: Encoding::differences is asked first.
#include <iconv.h>

#include <algorithm>
#include <cerrno>

#include "source/encoding.h"
#include "source/utf8.h"

namespace graphmend {
namespace {

class Iconv {
 public:
  Iconv(const char* to, const char* from) : handle_(iconv_open(to, from)) {}
  ~Iconv() {
    if (is_open()) iconv_close(handle_);
  }
  Iconv(const Iconv&) = delete;
  Iconv& operator=(const Iconv&) = delete;

  // NOLINTNEXTLINE(performance-no-int-to-ptr): POSIX says so.
  bool is_open() const { return handle_ != reinterpret_cast<iconv_t>(-1); }

  // Appends what `input` stands for to `output`; how many bytes of it were converted before one was refused.
  size_t convert(std::string_view input, std::string& output) {
    iconv(handle_, nullptr, nullptr, nullptr, nullptr);
    // iconv reads from where this points to; its type only lacks the const.
    char* from = const_cast<char*>(input.data());
    size_t left = input.size();
    while (left > 0) {
      // Some converters of glibc step over what they refuse.
      if (!convert_some(&from, &left, output)) return input.size() - std::max<size_t>(left, 1);
    }
    // Some converters hold the last character back until they know what follows.
    convert_some(nullptr, nullptr, output);
    return input.size();
  }

 private:
  // False when iconv refuses what comes next.
  bool convert_some(char** from, size_t* left, std::string& output) {
    char buffer[4096];
    char* to = buffer;
    size_t room = sizeof buffer;
    const bool is_done = iconv(handle_, from, left, &to, &room) != static_cast<size_t>(-1);
    const bool is_full = !is_done && errno == E2BIG;
    output.append(buffer, sizeof buffer - room);
    return is_done || is_full;
  }

  iconv_t handle_;
};

// As `characters` in tools/generate_encoding_tables.py: the two must agree for the differences to be found.
size_t character_length(EncodingKind kind, std::string_view bytes) {
  const auto lead = static_cast<uint8_t>(bytes[0]);
  if (lead < 0x80) return 1;
  if (kind == EncodingKind::ShiftJis && (lead == 0x80 || (lead >= 0xA0 && lead <= 0xDF) || lead >= 0xFD)) return 1;
  if (kind == EncodingKind::EucJp && lead == 0x8F) return 3;
  if (kind == EncodingKind::Gb18030 && bytes.size() > 1 && bytes[1] >= '0' && bytes[1] <= '9') return 4;
  return 2;
}

uint32_t as_number(std::string_view character) {
  uint32_t number = 0;
  for (const char byte : character) number = number << 8 | static_cast<uint8_t>(byte);
  return number;
}

const EncodingDifference* find_difference(const Encoding& encoding, uint32_t key) {
  for (const EncodingDifference& difference : encoding.differences) {
    if (key >= difference.first && key <= difference.last) return &difference;
  }
  return nullptr;
}

// False when the bytes stand for no character.
bool decode_character(const Encoding& encoding, Iconv& iconv_decoder, std::string_view character, std::string& text) {
  const uint32_t key = as_number(character);
  if (const EncodingDifference* difference = find_difference(encoding, key)) {
    if (difference->code == 0) return false;
    append_utf8(text, difference->code + (key - difference->first));
    return true;
  }
  return iconv_decoder.convert(character, text) == character.size();
}

void append_big_endian(std::string& bytes, uint32_t key) {
  for (int shift = 24; shift >= 0; shift -= 8) {
    if (key >> shift != 0) bytes += static_cast<char>(key >> shift & 0xFF);
  }
}

bool encode_character(const Encoding& encoding, Iconv& iconv_encoder, std::string_view character, char32_t code,
                      std::string& bytes) {
  for (const EncodingDifference& difference : encoding.differences) {
    if (difference.code == 0 || code < difference.code) continue;
    if (code - difference.code > difference.last - difference.first) continue;
    append_big_endian(bytes, difference.first + (code - difference.code));
    return true;
  }
  return iconv_encoder.convert(character, bytes) == character.size();
}

bool is_plain_character(const Encoding& encoding, char byte) {
  return static_cast<uint8_t>(byte) < 0x80 && encoding.not_plain.find(byte) == std::string_view::npos;
}

}  // namespace

Decoded internal::decode_by_iconv(const Encoding& encoding, std::string_view bytes) {
  Decoded result;
  Iconv iconv_decoder("UTF-8", encoding.iconv_name);
  if (encoding.iconv_name[0] == '\0' || !iconv_decoder.is_open()) {
    if (is_plain(encoding, bytes)) return {std::string(bytes)};
    const size_t not_plain = bytes.find_first_of(encoding.not_plain);
    result.invalid_at = std::min(find_not_ascii(bytes), not_plain);
    return result;
  }
  if (encoding.kind == EncodingKind::Stateful) {
    const size_t converted = iconv_decoder.convert(bytes, result.text);
    if (converted < bytes.size()) result.invalid_at = converted;
    return result;
  }
  result.text.reserve(bytes.size() + bytes.size() / 2);
  for (size_t at = 0; at < bytes.size();) {
    if (is_plain_character(encoding, bytes[at])) {
      result.text += bytes[at++];
      continue;
    }
    const std::string_view rest = bytes.substr(at);
    const size_t length = character_length(encoding.kind, rest);
    if (length > rest.size() || !decode_character(encoding, iconv_decoder, rest.substr(0, length), result.text)) {
      result.invalid_at = at;
      return result;
    }
    at += length;
  }
  return result;
}

std::optional<std::string> internal::encode_by_iconv(const Encoding& encoding, std::string_view text) {
  Iconv iconv_encoder(encoding.iconv_name, "UTF-8");
  if (encoding.iconv_name[0] == '\0' || !iconv_encoder.is_open()) return std::nullopt;
  std::string bytes;
  if (encoding.kind == EncodingKind::Stateful) {
    if (iconv_encoder.convert(text, bytes) < text.size()) return std::nullopt;
    return bytes;
  }
  bytes.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    if (is_plain_character(encoding, text[at])) {
      bytes += text[at++];
      continue;
    }
    const Utf8Char next = decode_utf8(text, at);
    const std::string_view character = text.substr(at, next.length);
    if (next.length == 0 || !encode_character(encoding, iconv_encoder, character, next.code, bytes)) {
      return std::nullopt;
    }
    at += next.length;
  }
  return bytes;
}

}  // namespace graphmend
