// Bytes from the file system. In: a path. Out: its bytes, or one line that says why not.
// Files over kMaxSourceBytes are refused before they are read; pipes and terminals are read up to that limit.
#pragma once

#include <string>

namespace graphmend {

struct FileContent {
  std::string bytes;
  // Empty when the bytes are there; else the reason, without the path.
  std::string error;
};

// Directories and devices are refused: only `/dev/null` and terminals end some day.
FileContent read_file(const std::string& path);

FileContent read_standard_input();

}  // namespace graphmend
