// What src/source says, for the checks in this folder. In: framed requests on standard input. Out: framed answers.
// A frame is its length (4 bytes, little-endian) and the bytes; requests begin with a letter that says what is asked.
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include "source/source.h"
#include "source/unicode.h"

namespace graphmend {
namespace {

std::optional<std::string> read_frame() {
  unsigned char size[4];
  if (std::fread(size, 1, 4, stdin) != 4) return std::nullopt;
  std::string frame(size[0] | size[1] << 8 | size[2] << 16 | static_cast<size_t>(size[3]) << 24, '\0');
  if (std::fread(frame.data(), 1, frame.size(), stdin) != frame.size()) return std::nullopt;
  return frame;
}

void write_frame(std::string_view frame) {
  const auto size = static_cast<uint32_t>(frame.size());
  for (int shift = 0; shift < 32; shift += 8) std::putc(static_cast<int>(size >> shift & 0xFF), stdout);
  std::fwrite(frame.data(), 1, frame.size(), stdout);
}

// One byte per code point, a bit per property.
std::string properties() {
  std::string result;
  for (char32_t code = 0; code < 0x110000; ++code) {
    result += static_cast<char>(is_xid_start(code) | is_xid_continue(code) << 1 | is_printable(code) << 2);
  }
  return result;
}

// `ok` or `error`, the encoding, whether encoding gives the bytes back, the text or the message.
std::string decode_answer(const std::string& bytes) {
  const Source source = decode_source(bytes);
  if (!source.errors.empty()) return "error\n" + source.encoding + "\n\n" + source.errors[0].message;
  const std::optional<std::string> again = encode_source(source, source.text);
  const std::string_view same = !again ? "lost" : *again == bytes ? "same" : "other";
  return "ok\n" + source.encoding + "\n" + std::string(same) + "\n" + source.text;
}

std::string answer(const std::string& request) {
  const std::string rest = request.substr(1);
  switch (request[0]) {
    case 'p':
      return properties();
    case 'n':
      return nfkc(rest);
    case 'c': {
      const std::optional<char32_t> found = find_character(rest);
      return found ? std::to_string(static_cast<uint32_t>(*found)) : "";
    }
    case 'u':
      return find_invalid_utf8(rest) == std::string_view::npos ? "ok" : "error";
    case 's':
      return decode_answer(rest);
    default:
      return "unknown request";
  }
}

}  // namespace
}  // namespace graphmend

int main() {
  while (const auto request = graphmend::read_frame()) {
    graphmend::write_frame(request->empty() ? std::string() : graphmend::answer(*request));
  }
}
