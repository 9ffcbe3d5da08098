// Check: a test whose one outcome raises is predicted to have the other, and the prediction is checked after the graph.
// In: an `if`, `elif` or `assert`. Out: the test for eager and, beside it, the test for tracing.
#pragma once

#include <optional>
#include <string>

#include "mend/context.h"
#include "mend/function_facts.h"
#include "mend/piece_text.h"

namespace graphmend {

struct Checked {
  // Stands in place of the test.
  PieceText test;
  Span replaced;
  std::string site;
};

// `guard` is an If, an Elif or an Assert. Nothing, with the reason, when no outcome is the one to predict.
std::optional<Checked> check(const MendContext& context, const ModuleFacts& facts, NodeId guard, std::string& reason);

}  // namespace graphmend
