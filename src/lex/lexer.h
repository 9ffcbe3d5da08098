// From text to tokens. In: text (any bytes). Out: `Tokens` and what is wrong with them.
// Indentation becomes Indent and Dedent tokens; f-strings are tokenised through (PEP 701). Versions differ in nothing
// but how they judge a backslash at the start of a line and at the end of the file. Brackets that do not match are left
// to the parser, which knows what it expected.
#pragma once

#include <string>

#include "base/diagnostic.h"
#include "base/version.h"
#include "lex/token.h"

namespace graphmend {

// CPython's own limits; beyond them it refuses the file, and so do we.
inline constexpr unsigned kMaxIndentLevels = 100;
inline constexpr unsigned kMaxBracketDepth = 200;
inline constexpr unsigned kMaxFStringDepth = 150;
inline constexpr unsigned kMaxFStringFieldDepth = 3;

struct LexResult {
  Tokens tokens;
  Diagnostics errors;
};

// A `std::string`, because its terminating NUL lets the inner loops run without a bounds check.
LexResult lex(const std::string& text, Version target = kAnyVersion);

}  // namespace graphmend
