// From bytes to text. In: a file's bytes. Out: `Source`, its text as UTF-8 without a byte-order mark.
// Which encoding is as CPython 3.13 judges; a file in UTF-8 is checked, not copied.
#include "source/source.h"

#include <algorithm>
#include <utility>

#include "source/encoding.h"
#include "source/utf8.h"

namespace graphmend {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr size_t kNowhere = std::string_view::npos;
constexpr std::string_view kHexDigits = "0123456789abcdef";
// A cookie may be as long as its line; a message shows this much of it.
constexpr size_t kLongestName = 60;

constexpr bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
}

size_t skip_any_of(std::string_view text, std::string_view characters, size_t from) {
  return std::min(text.find_first_not_of(characters, from), text.size());
}

// The name in `# … coding: name` or `coding=name`; the first that has one wins.
std::optional<Span> find_cookie_in_comment(std::string_view text, size_t start, size_t end) {
  const std::string_view comment = text.substr(0, end);
  for (size_t at = comment.find("coding", start); at != kNowhere; at = comment.find("coding", at + 1)) {
    size_t name = at + 6;
    if (name >= end || (comment[name] != ':' && comment[name] != '=')) continue;
    name = skip_any_of(comment, " \t", name + 1);
    size_t name_end = name;
    while (name_end < end && is_name_character(comment[name_end])) ++name_end;
    if (name_end > name) return Span{static_cast<uint32_t>(name), static_cast<uint32_t>(name_end)};
  }
  return std::nullopt;
}

// A cookie stands in a comment on the first line, or on the second when the first is blank or a comment (PEP 263).
std::optional<Span> find_cookie(std::string_view text) {
  size_t at = 0;
  for (int line = 1; line <= 2; ++line) {
    at = skip_any_of(text, " \t\f", at);
    if (at == text.size()) return std::nullopt;
    if (text[at] == '#') {
      const size_t line_feed = std::min(text.find('\n', at), text.size());
      const size_t end = std::min(text.substr(0, line_feed).find('\r', at), line_feed);
      if (const auto cookie = find_cookie_in_comment(text, at, end)) return cookie;
      at = end;
    } else if (text[at] != '\n' && text[at] != '\r') {
      return std::nullopt;
    }
    at += text.substr(at, 2) == "\r\n" ? 2 : 1;
  }
  return std::nullopt;
}

// `utf-8` and `latin-1` with anything after a further `-`, such as `utf-8-unix`, are what editors write; CPython knows
// them before it asks its codecs. It looks at 12 characters, and in a file with a byte-order mark at this name only.
std::string editor_name(std::string_view cookie) {
  std::string name(cookie.substr(0, 12));
  for (char& c : name) {
    if (c == '_') c = '-';
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  const auto is = [&](std::string_view known) {
    return name.starts_with(known) && (name.size() == known.size() || name[known.size()] == '-');
  };
  if (is("utf-8")) return "utf-8";
  if (is("latin-1") || is("iso-8859-1") || is("iso-latin-1")) return "iso-8859-1";
  return std::string(cookie);
}

std::string quoted(std::string_view name) {
  if (name.size() <= kLongestName) return "`" + std::string(name) + "`";
  return "`" + std::string(name.substr(0, kLongestName)) + "…`";
}

std::string byte_in_hex(char byte) {
  const auto value = static_cast<uint8_t>(byte);
  return std::string("0x") + kHexDigits[value >> 4] + kHexDigits[value & 15];
}

void report(Source& source, size_t at, std::string message) {
  const auto start = static_cast<uint32_t>(at);
  source.errors.push_back({{start, start + 1}, std::move(message)});
}

void check_utf8(Source& source, bool has_cookie) {
  const size_t at = find_invalid_utf8(source.text);
  if (at == kNowhere) return;
  std::string message = "byte " + byte_in_hex(source.text[at]) + " is not UTF-8";
  message += has_cookie ? ", which the coding cookie promises; save the file as UTF-8 or correct the cookie"
                        : "; save the file as UTF-8 or name its encoding in the first line: `# coding: latin-1`";
  report(source, at, std::move(message));
}

// The text becomes UTF-8, or stays as it is when it cannot.
void decode_text(Source& source, const Encoding& encoding) {
  if (!is_plain(encoding, source.text)) {
    Decoded decoded = decode(encoding, source.text);
    if (decoded.invalid_at != kNowhere) {
      const std::string byte = byte_in_hex(source.text[decoded.invalid_at]);
      report(source, decoded.invalid_at,
             "byte " + byte + " is no character of the encoding " + quoted(encoding.name) +
                 "; correct the coding cookie or save the file as UTF-8");
      return;
    }
    if (decoded.text.size() > kMaxSourceBytes) {
      report(source, 0, "text is larger than 2 GB as UTF-8");
      return;
    }
    source.text = std::move(decoded.text);
  }
  source.encoding = encoding.name;
}

}  // namespace

Source decode_source(std::string bytes) {
  Source source;
  if (bytes.size() > kMaxSourceBytes) {
    report(source, 0, "file is larger than 2 GB");
    return source;
  }
  source.text = std::move(bytes);
  source.has_bom = source.text.starts_with(kByteOrderMark);
  if (source.has_bom) source.text.erase(0, kByteOrderMark.size());

  const std::optional<Span> cookie = find_cookie(source.text);
  const std::string name = cookie ? editor_name(cookie->in(source.text)) : "utf-8";
  const Encoding* const encoding = name == "utf-8" ? nullptr : find_encoding(name);
  if (source.has_bom && name != "utf-8") {
    source.errors.push_back({*cookie, "coding cookie " + quoted(name) +
                                          " in a file with the byte-order mark of UTF-8; write `utf-8` or remove it"});
  } else if (name != "utf-8" && !encoding) {
    source.errors.push_back({*cookie, "unknown encoding " + quoted(name) + " in the coding cookie"});
  } else if (!encoding || encoding->kind == EncodingKind::Utf8) {
    check_utf8(source, cookie.has_value());
  } else {
    decode_text(source, *encoding);
  }

  const size_t nul = source.text.find('\0');
  if (nul != kNowhere) report(source, nul, "NUL byte in source text; Python refuses the file");
  return source;
}

std::optional<std::string> encode_source(const Source& source, std::string_view text) {
  std::string bytes(source.has_bom ? kByteOrderMark : std::string_view());
  if (source.encoding == "utf-8") {
    bytes += text;
  } else {
    const Encoding* const encoding = find_encoding(source.encoding);
    std::optional<std::string> encoded = encoding ? encode(*encoding, text) : std::nullopt;
    if (!encoded) return std::nullopt;
    bytes += *encoded;
  }
  // An edit may have changed the cookie or left a character that reads back as another one.
  if (source.errors.empty()) {
    const Source again = decode_source(bytes);
    if (!again.errors.empty() || again.text != text) return std::nullopt;
  }
  return bytes;
}

}  // namespace graphmend
