// Bytes from the file system. In: a path. Out: its bytes, or one line that says why not.
// Plain POSIX calls: one fstat, one allocation and usually two reads for each file.
#include "driver/read_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <utility>

#include "driver/system_reason.h"
#include "source/source.h"

namespace graphmend {
namespace {

// Reads of more than this in one call are cut by the kernel anyway.
constexpr size_t kMostPerRead = size_t{1} << 30;
constexpr size_t kFirstRead = size_t{64} << 10;

FileContent refuse(std::string reason) { return {{}, std::move(reason)}; }

FileContent refuse_size() {
  return refuse("too large; files of at most " + std::to_string(kMaxSourceBytes) + " bytes are read");
}

// Why a file of this kind cannot be read to its end; empty when it can.
std::string reason_against(int fd, const struct stat& status) {
  if (S_ISDIR(status.st_mode)) return "is a directory";
  if (S_ISBLK(status.st_mode)) return "is a device, not a file";
  if (S_ISCHR(status.st_mode) && !isatty(fd)) {
    struct stat null_device;
    const bool is_null = stat("/dev/null", &null_device) == 0 && null_device.st_rdev == status.st_rdev;
    if (!is_null) return "is a device, not a file";
  }
  return {};
}

FileContent read_all(int fd) {
  struct stat status;
  if (fstat(fd, &status) != 0) return refuse(system_reason(errno));
  if (std::string reason = reason_against(fd, status); !reason.empty()) return refuse(std::move(reason));
  if (S_ISREG(status.st_mode) && static_cast<uint64_t>(status.st_size) > kMaxSourceBytes) return refuse_size();

  FileContent content;
  // One byte more than its size, so that a file that did not grow ends within the first buffer.
  std::string& bytes = content.bytes;
  bytes.resize(status.st_size > 0 ? static_cast<size_t>(status.st_size) + 1 : kFirstRead);
  size_t used = 0;
  for (;;) {
    if (used == bytes.size()) bytes.resize(bytes.size() * 2);
    const ssize_t got = read(fd, bytes.data() + used, std::min(bytes.size() - used, kMostPerRead));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return refuse(system_reason(errno));
    if (got == 0) break;
    used += static_cast<size_t>(got);
    if (used > kMaxSourceBytes) return refuse_size();
  }
  bytes.resize(used);
  return content;
}

}  // namespace

FileContent read_file(const std::string& path) {
  // A path with a NUL would be cut silently; it cannot come from a command line, only from a caller.
  if (path.find('\0') != std::string::npos) return refuse("the path has a NUL byte in it");
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (fd < 0) return refuse(system_reason(errno));
  FileContent content = read_all(fd);
  close(fd);
  return content;
}

FileContent read_standard_input() { return read_all(STDIN_FILENO); }

}  // namespace graphmend
