// The front end in one call. In: a file's bytes. Out: `FrontEnd`: text, tokens, tree, and everything wrong with them.
// Errors are those that help: what follows only from an earlier error is left out. No files are touched here.
#pragma once

#include <string>

#include "base/diagnostic.h"
#include "base/version.h"
#include "lex/token.h"
#include "parse/tree.h"
#include "source/source.h"

namespace graphmend {

struct FrontEnd {
  Source source;
  Tokens tokens;
  Tree tree;
  // Sorted by place, one for each place.
  Diagnostics errors;

  bool ok() const { return errors.empty(); }
};

// Bytes of a file: a byte-order mark or a coding cookie decides how they are read.
FrontEnd read_python(std::string bytes, Version target = kAnyVersion);

// Text that is UTF-8 already, such as a Python `str`: cookies mean nothing, a byte-order mark is a wrong character.
FrontEnd read_python_text(std::string text, Version target = kAnyVersion);

}  // namespace graphmend
