// Mends for given places. In: a file's text, tokens, tree, and the lines where Dynamo broke. Out: the mended text, the
// statements that were taken out of it as functions, where each piece of text came from, and why a place was left.
// Mends only add: a mended file in eager does what it did. The added calls are in python/graphmend/_mending/marks.py.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/span.h"
#include "lex/token.h"
#include "parse/tree.h"

namespace graphmend {

struct MendRequest {
  // Part of every site's name, so that sites of different files differ.
  std::string file_name;
  // Lines (from 1) at which a graph broke. One that comes twice broke again as it was mended: what the test of a guard
  // that is checked makes of tensors is predicted too.
  std::vector<uint32_t> lines;
  // First lines of functions to be mended wherever they may break; what cannot be mended there is not reported.
  std::vector<uint32_t> functions;
  // Whether what is like a place that broke, in the same function, is mended before it breaks.
  bool ahead = false;
  // Whether values that Python needs may be predicted.
  bool speculates = false;
  // What only talks to the outside in this file: dotted names of globals ("print", "warnings.warn", "logger.*"), and
  // methods (".info") of anything that turns out to talk when it is traced; "!logger.setLevel" is known to do more.
  std::vector<std::string> talkers;
  // Names of calls that are traced as others which do the same; `.name` of attributes, `.name =` of assignments to
  // them, `with name` of what is entered.
  std::vector<std::string> substitutes;
};

enum class MendKind : uint8_t { Postpone, Check, Select, Speculate, Substitute };

// A piece of mended text. Copied text has its own place in the original; added text stands for the place it serves.
struct Piece {
  uint32_t start = 0;
  uint32_t end = 0;
  Span original;
  bool copied = false;
  // Copied as a part of a condition that is computed: a tensor stays one, nobody asks for its truth.
  bool computed = false;
};

// A statement as a function of the values it needs, compiled apart from the file.
struct Outlined {
  std::string text;
  std::vector<Piece> pieces;
  // The class around it, for private names; empty if there is none.
  std::string class_name;
};

struct Mend {
  MendKind kind = MendKind::Postpone;
  uint32_t line = 0;
  Span statement;
  std::string site;
  // Of Postpone.
  Outlined outlined = {};
  // The line of the place that broke, of which this is the like; 0 if it is that place.
  uint32_t like = 0;
};

struct Declined {
  uint32_t line = 0;
  std::string reason;
};

struct Mended {
  std::string text;
  std::vector<Piece> pieces;
  std::vector<Mend> mends;
  std::vector<Declined> declined;
};

// The tree must be without errors. Lines that need the same mend get it once.
Mended mend(std::string_view text, const Tokens& tokens, const Tree& tree, const MendRequest& request);

}  // namespace graphmend
