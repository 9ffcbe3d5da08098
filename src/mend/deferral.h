// What of a postponed statement is left to its function, which runs after the graph: what Dynamo cannot trace, and what
// may stand around that.
#pragma once

#include "facts/scopes.h"
#include "mend/context.h"

namespace graphmend {

class Deferral {
 public:
  Deferral(const MendContext& context, const Scopes& scopes) : context_(context), scopes_(scopes) {}

  // Whether something in the expression cannot be traced: `.item()`, formatting.
  bool contains(NodeId id) const;
  // Whether the function may do this to the values it is given.
  bool may_stay(NodeId id) const;
  // `math.exp`, of the module that the file imports: a function of numbers.
  bool is_of_math(NodeId function) const;

 private:
  bool forces(NodeId id) const;
  // A method of a string literal: "…".format, ", ".join.
  bool on_text(NodeId attribute) const;

  const MendContext& context_;
  const Scopes& scopes_;
};

}  // namespace graphmend
