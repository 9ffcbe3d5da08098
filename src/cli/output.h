// A file descriptor with a large buffer. In: text. Out: few, large writes.
// A reader that went away (`graphmend dump ast FILE | head`) is no error: writing stops, and nobody is told.
#pragma once

#include <string>
#include <string_view>

namespace graphmend {

class Output {
 public:
  explicit Output(int descriptor);
  ~Output() { flush(); }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  void write(std::string_view text);
  void flush();

  bool is_terminal() const { return is_terminal_; }
  // False once a write has failed; whatever comes later is dropped.
  bool is_open() const { return error_number_ == 0; }
  // Why, as errno says it; EPIPE when the reader went away.
  int error_number() const { return error_number_; }

 private:
  void write_now(std::string_view text);

  int descriptor_;
  bool is_terminal_;
  int error_number_ = 0;
  std::string buffer_;
};

// Whether to write colours to it: NO_COLOR says no, FORCE_COLOR says yes, else only to a terminal that knows them.
bool wants_colour(const Output& output);

}  // namespace graphmend
