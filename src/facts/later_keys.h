// Values of literal keys. In: an expression node. Out: a text that is equal for keys that Python holds equal.
#pragma once

#include <string>
#include <string_view>

#include "lex/token.h"
#include "parse/tree.h"

namespace graphmend {

// Strings, bytes, numbers (also negative and complex), True, False, None; empty for everything else. As in Python,
// 1, 1.0, True and 1+0j are one key.
std::string literal_key(std::string_view text, const Tree& tree, const Tokens& tokens, NodeId id);

}  // namespace graphmend
