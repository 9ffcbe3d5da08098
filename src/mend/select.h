// Select: both sides of a branch are computed, and each name gets the value of the side that was meant.
// In: an `if`, `elif` or an expression with `… if … else …`. Out: text that stands before it, or in its place.
// Source decides that the sides do nothing but compute; shapes, dtypes and gradients are looked at while tracing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mend/context.h"
#include "mend/function_facts.h"
#include "mend/piece_text.h"

namespace graphmend {

struct Selected {
  PieceText text;
  // Empty where the text is put in.
  Span replaced;
  std::string site;
};

// `branch` is an If or an Elif. Nothing, with the reason, when its sides may do more than compute.
std::optional<Selected> select_branch(const MendContext& context, const ModuleFacts& facts, NodeId branch,
                                      std::string& reason);

// `choice` is an IfExp.
std::optional<Selected> select_choice(const MendContext& context, const ModuleFacts& facts, NodeId choice,
                                      std::string& reason);

}  // namespace graphmend
