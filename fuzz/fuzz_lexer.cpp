// Fuzzer of the lexer. In: any bytes. Out: nothing; a crash or a trap when tokens and gaps are not the text.
#include <cstddef>
#include <cstdint>
#include <string>

#include "checks.h"
#include "lex/dump_tokens.h"
#include "lex/lexer.h"
#include "lex/literal.h"
#include "source/source.h"

namespace {

using namespace graphmend;

// The values of literals are read by others, much later: they must be readable whatever the lexer took for one.
void read_values(const std::string& text, const Tokens& tokens) {
  for (const Token& token : tokens.all) {
    const std::string_view spelling = token.span().in(text);
    if (token.kind == TokenKind::Int) check_int(spelling);
    if (token.kind == TokenKind::FStringMiddle) decode_string(spelling, token.flags);
  }
}

void check_lexer(const std::string& text) {
  const LexResult lexed = lex(text);
  fuzz::check_tokens(text, lexed.tokens);
  fuzz::check_errors(text, lexed.errors);
  read_values(text, lexed.tokens);
  dump_tokens(text, lexed.tokens);
}

// What was decoded can be encoded, and says the same again.
void check_decoding(std::string bytes) {
  const Source source = decode_source(std::move(bytes));
  fuzz::check_errors(source.text, source.errors);
  check_lexer(source.text);
  if (!source.errors.empty()) return;
  if (const auto encoded = encode_source(source, source.text)) {
    fuzz::require(decode_source(*encoded).text == source.text, "encoded text reads differently", 0);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  check_lexer(bytes);
  check_decoding(std::move(bytes));
  return 0;
}
