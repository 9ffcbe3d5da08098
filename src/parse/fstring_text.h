// The text in f-strings as CPython cuts and records it. In: text, Tokens, Tree. Out: parts of literal text, `=` texts.
// Where CPython 3.13.0 differs from what its documentation says, this follows 3.13.0; t-strings follow 3.14.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/span.h"
#include "lex/token.h"
#include "parse/tree.h"

namespace graphmend {

struct FStringPart {
  std::string value;
  Span span;
};

// The value of an FStringMiddle token, cut where CPython's tokenizer cuts it: behind doubled braces and behind
// `\N{…}`. Parts without a value (a line continuation) are left out.
std::vector<FStringPart> fstring_parts(std::string_view text, const Token& token, bool in_format_spec);

// The token that ends the expression of an Interpolation: its `!`, the colon of its format or its closing brace.
TokenId expression_end(const Tree& tree, const Tokens& tokens, NodeId interpolation);

// What `{x = }` puts before its value: the source from the opening brace to `expression_end`, comments removed, lines
// ended by LF. Escapes are not read.
std::string debug_text(std::string_view text, const Tree& tree, const Tokens& tokens, NodeId interpolation);

// `Interpolation.str` of a t-string's field: the source of the expression.
std::string interpolation_source(std::string_view text, const Tree& tree, const Tokens& tokens, NodeId interpolation);

}  // namespace graphmend
