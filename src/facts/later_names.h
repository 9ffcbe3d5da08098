// Identifiers as CPython compares them. In: text, name tokens. Out: views that live as long as `NameTexts`.
// Names that are not ASCII are normalised (NFKC), private names in classes are mangled (`__x` in C is `_C__x`).
#pragma once

#include <deque>
#include <string>
#include <string_view>

#include "lex/token.h"
#include "parse/views.h"

namespace graphmend {

class NameTexts {
 public:
  NameTexts(std::string_view text, const Tokens& tokens) : text_(text), tokens_(tokens) {}

  std::string_view plain(TokenId id) {
    const Token& token = tokens_[id];
    if (token.kind != TokenKind::Name || !(token.flags & name_flag::kNotAscii)) return token.span().in(text_);
    return keep(identifier_text(text_, token));
  }

  // As it is known inside the class of that name; `class_name` may be none.
  std::string_view mangled(TokenId id, TokenId class_name) { return mangle(plain(id), class_name); }
  std::string_view mangle(std::string_view name, TokenId class_name);

 private:
  std::string_view keep(std::string&& name) { return kept_.emplace_back(std::move(name)); }

  std::string_view text_;
  const Tokens& tokens_;
  // A deque, because its strings do not move when it grows.
  std::deque<std::string> kept_;
};

}  // namespace graphmend
