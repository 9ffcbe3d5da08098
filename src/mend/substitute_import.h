// An import that may fail. In: the statement. Out: a call before it that raises while tracing what the import would
// raise.
#pragma once

#include <optional>

#include "mend/substitute.h"

namespace graphmend {

// Nothing where the exception could be looked at: what is raised in the trace is not the import's own.
std::optional<Substituted> substitute_import(const MendContext& context, NodeId statement);

}  // namespace graphmend
