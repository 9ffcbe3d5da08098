// What the user asked for. In: the words of the command line. Out: one request, or one line that says what is wrong.
// Nothing is read, printed or run here.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/version.h"

namespace graphmend {

enum class OutputFormat : uint8_t { Text, Concise, Json };

struct ParseRequest {
  // Files, folders, or `-` for standard input.
  std::vector<std::string> paths;
  Version target = kAnyVersion;
  OutputFormat format = OutputFormat::Text;
  unsigned jobs = 1;
  bool quiet = false;
};

enum class DumpKind : uint8_t { Tokens, Tree, Ast, Scopes, Flow, Liveness, Effects };

struct DumpRequest {
  DumpKind kind = DumpKind::Tree;
  std::string path;
  Version target = kAnyVersion;
};

// What Python does: `run`, `explain`, `verify`, with all of their words.
struct PythonRequest {
  std::vector<std::string> words;
};

// Text to print: help, a version.
struct TextRequest {
  std::string text;
};

// One line for standard error.
struct UsageError {
  std::string message;
};

using Request = std::variant<ParseRequest, DumpRequest, PythonRequest, TextRequest, UsageError>;

// `words` without the name of the program.
Request read_command_line(const std::vector<std::string>& words);

}  // namespace graphmend
