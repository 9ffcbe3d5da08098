// Names of token kinds. In: a kind. Out: how messages and dumps call it.
#include "lex/token.h"

namespace graphmend {

namespace {

constexpr std::string_view kTexts[] = {
#define TOKEN(name, text) text,
#include "lex/token_kinds.def"
};

constexpr std::string_view kNames[] = {
#define TOKEN(name, text) #name,
#include "lex/token_kinds.def"
};

}  // namespace

std::string_view token_text(TokenKind kind) { return kTexts[static_cast<size_t>(kind)]; }
std::string_view token_name(TokenKind kind) { return kNames[static_cast<size_t>(kind)]; }

}  // namespace graphmend
