// From text to tokens. In: text (any bytes). Out: `Tokens` and what is wrong with them.
// Indentation becomes Indent and Dedent tokens; f-strings are tokenised through (PEP 701). Nothing is version-dependent.
#pragma once

#include <string_view>

#include "base/diagnostic.h"
#include "lex/token.h"

namespace graphmend {

struct LexResult {
  Tokens tokens;
  Diagnostics errors;
};

LexResult lex(std::string_view text);

}  // namespace graphmend
