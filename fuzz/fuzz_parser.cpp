// Fuzzer of the parser. In: any bytes, as text. Out: nothing; a crash or a trap when the tree is not well-formed.
// The version to read for hangs on the length of the input, so that corpus files stay plain Python.
#include <cstddef>
#include <cstdint>
#include <string>

#include "checks.h"
#include "facts/later_errors.h"
#include "lex/lexer.h"
#include "parse/dump_ast.h"
#include "parse/dump_tree.h"
#include "parse/parser.h"

namespace {

using namespace graphmend;

void check_parser(const std::string& text, const LexResult& lexed, Version target) {
  const ParseResult parsed = parse(text, lexed.tokens, target);
  fuzz::check_errors(text, parsed.errors);
  fuzz::check_tree(parsed.tree, lexed.tokens, lexed.errors.empty() && parsed.errors.empty());
  fuzz::check_errors(text, find_later_errors(text, lexed.tokens, parsed.tree, target));
  fuzz::require(!dump_ast(text, lexed.tokens, parsed.tree).empty(), "nothing to dump", 0);
  fuzz::require(!dump_tree(text, lexed.tokens, parsed.tree).empty(), "nothing to dump", 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const LexResult lexed = lex(text);
  check_parser(text, lexed, kAnyVersion);
  const auto versions = static_cast<size_t>(kNewestVersion.minor - kOldestVersion.minor + 1);
  check_parser(text, lexed, Version{static_cast<uint8_t>(kOldestVersion.minor + size % versions)});
  return 0;
}
