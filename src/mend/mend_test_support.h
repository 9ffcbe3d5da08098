// A text and its mends, for tests. In: text, lines, names of what only talks. Out: the mended text, made readable.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lex/lexer.h"
#include "mend/mend.h"
#include "parse/parser.h"

namespace graphmend {

struct MendCase {
  std::string text;
  LexResult lexed;
  ParseResult parsed;
  Mended mended;

  MendCase(std::string source, std::vector<uint32_t> lines, std::vector<std::string> talkers = {"print", "logger.*"},
           bool ahead = false, bool speculates = false)
      : text(std::move(source)), lexed(lex(text)), parsed(parse(text, lexed.tokens)) {
    MendRequest request;
    request.file_name = "f.py";
    request.lines = std::move(lines);
    request.talkers = std::move(talkers);
    request.ahead = ahead;
    request.speculates = speculates;
    mended = mend(text, lexed.tokens, parsed.tree, request);
  }

  // The mended text with the sites' names, which are hashes, made readable.
  std::string shown() const {
    std::string result = mended.text;
    for (const Mend& one : mended.mends) {
      for (size_t at = result.find(one.site); at != std::string::npos; at = result.find(one.site)) {
        result.replace(at, one.site.size(), "S");
      }
    }
    return result;
  }

  bool shows(std::string_view part) const { return shown().find(part) != std::string::npos; }
  std::string reason() const { return mended.declined.empty() ? "" : mended.declined[0].reason; }
};

}  // namespace graphmend
