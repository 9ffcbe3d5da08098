// Tokens. In: nothing. Out: `Token`, `TokenKind`, `Tokens`, the array that holds a file's tokens, comments included.
// White space, line continuations and blank lines are no tokens: they are the gaps, so tokens plus gaps are the text.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"
#include "base/id.h"
#include "base/span.h"

namespace graphmend {

enum class TokenKind : uint8_t {
#define TOKEN(name, text) name,
#include "lex/token_kinds.def"
};

// How messages name a kind: the spelling of an operator or keyword, else a noun.
std::string_view token_text(TokenKind kind);
std::string_view token_name(TokenKind kind);

constexpr bool is_keyword(TokenKind kind) { return kind >= TokenKind::False; }
constexpr bool is_operator(TokenKind kind) { return kind >= TokenKind::LeftParen && kind < TokenKind::False; }

// Bits of Token::flags. For String, FStringStart, FStringMiddle and FStringEnd:
namespace string_flag {
inline constexpr uint8_t kRaw = 1;
inline constexpr uint8_t kBytes = 2;
inline constexpr uint8_t kUnicode = 4;   // the prefix `u`
inline constexpr uint8_t kTemplate = 8;  // a t-string
inline constexpr uint8_t kTriple = 16;
inline constexpr uint8_t kHasBackslash = 32;
inline constexpr uint8_t kHasDoubledBrace = 64;  // FStringMiddle with `{{` or `}}`
inline constexpr uint8_t kHasCarriageReturn = 128;
}  // namespace string_flag
// For Name:
namespace name_flag {
inline constexpr uint8_t kNotAscii = 1;  // normalise (NFKC) before comparing
}  // namespace name_flag

struct Token {
  uint32_t start = 0;
  uint32_t end = 0;
  TokenKind kind = TokenKind::EndOfFile;
  uint8_t flags = 0;
  // String tokens: the length of the prefix (`rb` is 2). Names and others: unused.
  uint8_t prefix_length = 0;
  uint8_t unused = 0;

  constexpr Span span() const { return {start, end}; }
};
static_assert(sizeof(Token) == 12, "a token for every five bytes of source: keep it small");

using TokenId = Id<struct TokenTag>;

struct Tokens {
  std::vector<Token> all;

  const Token& operator[](TokenId id) const { return all[id.index]; }
  uint32_t size() const { return static_cast<uint32_t>(all.size()); }
};

}  // namespace graphmend
