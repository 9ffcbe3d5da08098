// What a step has to say about a place in the text. In: nothing. Out: `Diagnostic`.
// Steps collect them in order of discovery; diag/ sorts and prints them. No step prints by itself.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/span.h"

namespace graphmend {

struct Diagnostic {
  Span span;
  // Lower case, what was seen, no full stop; code in backticks; a hint last after `;`.
  std::string message;
};

using Diagnostics = std::vector<Diagnostic>;

}  // namespace graphmend
