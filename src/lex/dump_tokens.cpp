// Tokens for people. In: text and its tokens. Out: one line for each token.
#include "lex/dump_tokens.h"

#include "lex/python_repr.h"
#include "source/line_index.h"

namespace graphmend {

namespace {

constexpr std::string_view kStringFlagNames[] = {"raw",    "bytes",     "unicode",       "template",
                                                 "triple", "backslash", "doubled-brace", "carriage-return"};

bool is_string_kind(TokenKind kind) { return kind >= TokenKind::String && kind <= TokenKind::FStringEnd; }

void append_flags(std::string& out, const Token& token) {
  if (token.kind == TokenKind::Name && (token.flags & name_flag::kNotAscii) != 0) out += " not-ascii";
  if (!is_string_kind(token.kind)) return;
  for (size_t bit = 0; bit < std::size(kStringFlagNames); ++bit) {
    if ((token.flags >> bit & 1) == 0) continue;
    out += ' ';
    out += kStringFlagNames[bit];
  }
  if (token.prefix_length != 0) out += " prefix=" + std::to_string(token.prefix_length);
}

}  // namespace

std::string dump_tokens(std::string_view text, const Tokens& tokens) {
  const LineIndex lines(text);
  std::string out;
  for (const Token& token : tokens.all) {
    const Position position = lines.position(token.start);
    out += std::to_string(token.start) + ".." + std::to_string(token.end) + ' ' + std::to_string(position.line) + ':' +
           std::to_string(position.column) + ' ';
    out += token_name(token.kind);
    append_flags(out, token);
    if (token.start != token.end) out += ' ' + str_repr(token.span().in(text));
    out += '\n';
  }
  return out;
}

}  // namespace graphmend
