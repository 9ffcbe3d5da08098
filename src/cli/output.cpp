// A file descriptor with a large buffer. In: text. Out: few, large writes.
// No iostreams: their start costs more than reading a small file.
#include "cli/output.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

namespace graphmend {
namespace {

constexpr size_t kBufferSize = size_t{256} << 10;
constexpr size_t kMostPerWrite = size_t{1} << 30;

bool is_set(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

}  // namespace

Output::Output(int descriptor) : descriptor_(descriptor), is_terminal_(isatty(descriptor) != 0) {}

void Output::write(std::string_view text) {
  if (!is_open()) return;
  if (buffer_.size() + text.size() <= kBufferSize) {
    buffer_ += text;
    return;
  }
  flush();
  if (text.size() >= kBufferSize) {
    write_now(text);
  } else {
    buffer_ += text;
  }
}

void Output::flush() {
  write_now(buffer_);
  buffer_.clear();
}

void Output::write_now(std::string_view text) {
  while (!text.empty() && is_open()) {
    const ssize_t written = ::write(descriptor_, text.data(), std::min(text.size(), kMostPerWrite));
    if (written >= 0) {
      text.remove_prefix(static_cast<size_t>(written));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      // Somebody made our end of a pipe non-blocking: wait until there is room.
      pollfd ready{descriptor_, POLLOUT, 0};
      poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      error_number_ = errno;
    }
  }
}

bool wants_colour(const Output& output) {
  if (is_set("NO_COLOR")) return false;
  if (is_set("FORCE_COLOR")) return true;
  const char* terminal = std::getenv("TERM");
  return output.is_terminal() && terminal != nullptr && std::string_view(terminal) != "dumb";
}

}  // namespace graphmend
