// The front end in one call. In: a file's bytes. Out: text, tokens, tree, errors.
// A stage reports only when those before it were content: undecodable bytes would make every later message noise.
#include "driver/front_end.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "facts/later_errors.h"
#include "lex/lexer.h"
#include "parse/parser.h"
#include "source/utf8.h"

namespace graphmend {
namespace {

void append(Diagnostics& to, Diagnostics&& from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

// Of several errors at one place the first found is nearest to the cause: the lexer's before the parser's.
Diagnostics sorted_and_thinned(Diagnostics&& errors) {
  // Place, and order of discovery. (std::stable_sort of libstdc++ warns under clang.)
  std::vector<std::pair<uint32_t, size_t>> order;
  order.reserve(errors.size());
  for (const Diagnostic& error : errors) order.emplace_back(error.span.start, order.size());
  std::sort(order.begin(), order.end());
  Diagnostics thinned;
  for (const auto& [start, index] : order) {
    if (thinned.empty() || thinned.back().span.start != start) thinned.push_back(std::move(errors[index]));
  }
  return thinned;
}

void refuse_at(Source& source, size_t offset, std::string message) {
  if (offset == std::string::npos) return;
  const auto start = static_cast<uint32_t>(offset);
  source.errors.push_back({{start, start + 1}, std::move(message)});
}

FrontEnd read_decoded(Source source, Version target) {
  FrontEnd front;
  front.source = std::move(source);
  const std::string& text = front.source.text;
  LexResult lexed = lex(text, target);
  front.tokens = std::move(lexed.tokens);
  ParseResult parsed = parse(text, front.tokens, target);
  front.tree = std::move(parsed.tree);

  front.errors = front.source.errors;
  if (front.errors.empty()) {
    append(front.errors, std::move(lexed.errors));
    append(front.errors, std::move(parsed.errors));
  }
  if (front.errors.empty()) append(front.errors, find_later_errors(text, front.tokens, front.tree, target));
  front.errors = sorted_and_thinned(std::move(front.errors));
  return front;
}

}  // namespace

FrontEnd read_python(std::string bytes, Version target) {
  return read_decoded(decode_source(std::move(bytes)), target);
}

FrontEnd read_python_text(std::string text, Version target) {
  Source source;
  source.text = std::move(text);
  refuse_at(source, find_invalid_utf8(source.text), "text is not UTF-8 from here on");
  refuse_at(source, source.text.find('\0'), "NUL byte in source text; Python refuses it");
  return read_decoded(std::move(source), target);
}

}  // namespace graphmend
