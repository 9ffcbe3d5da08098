// A test as tracing sees it. In: a condition. Out: text in which `and`, `or` and `not` are calls that work on tensors
// and still do not evaluate what Python would not.
#pragma once

#include <optional>
#include <vector>

#include "facts/scopes.h"
#include "mend/context.h"
#include "mend/piece_text.h"

namespace graphmend {

// False when it is nested deeper than anybody writes. `serves` is the place that tracebacks show for what is added.
bool write_traced_condition(const MendContext& context, const Scopes& scopes, NodeId test, Span serves, PieceText& out);

// Of `a in b` true, of `a not in b` false, where b may be a tensor; of all else nothing.
std::optional<bool> membership(const Tree& tree, NodeId id);

// The operands of `and`, `or` or a comparison that Python may not come to, and that tracing evaluates all the same.
std::vector<NodeId> later_operands(const Tree& tree, NodeId id);

// Those of them that tracing may evaluate in vain: not behind comparisons by identity alone, whose truth Python knows.
std::vector<NodeId> operands_in_vain(const Tree& tree, NodeId id);

// Whether a test awaits or yields, or assigns in an operand that stands in a lambda when it is traced, or asks there
// who it is in: `super()`.
bool binds_late_or_waits(const Tree& tree, NodeId test);

// Whether evaluating it twice, or in a lambda, could mean something else: it assigns, awaits or yields.
bool binds_or_waits(const Tree& tree, NodeId test);

}  // namespace graphmend
