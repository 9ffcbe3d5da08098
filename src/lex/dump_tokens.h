// Tokens for people. In: text and its tokens. Out: one line for each token.
// `4..7 1:4 Name 'foo'`: bytes, line and column, kind, flags if there are any, and the text as Python's `repr` shows
// it.
#pragma once

#include <string>
#include <string_view>

#include "lex/token.h"

namespace graphmend {

std::string dump_tokens(std::string_view text, const Tokens& tokens);

}  // namespace graphmend
