// Why a system call failed, in the words of our messages. In: an error code. Out: one lower-case phrase.
#pragma once

#include <string>
#include <system_error>

namespace graphmend {

inline std::string system_reason(const std::error_code& error) {
  std::string reason = error.message();
  // "No such file or directory" becomes "no such file or directory"; "I/O error" stays.
  const bool is_word = reason.size() > 1 && reason[1] >= 'a' && reason[1] <= 'z';
  if (is_word && reason[0] >= 'A' && reason[0] <= 'Z') reason[0] = static_cast<char>(reason[0] | 0x20);
  return reason;
}

inline std::string system_reason(int error_number) {
  return system_reason(std::error_code(error_number, std::generic_category()));
}

}  // namespace graphmend
