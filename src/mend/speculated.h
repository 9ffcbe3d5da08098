// What speculate collects: expressions of a statement as calls of marks, and what their arguments look like.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "mend/speculate.h"

namespace graphmend {

class SpeculatedParts {
 public:
  SpeculatedParts(const MendContext& context, const ModuleFacts& facts);

  // `value` as `mark(site, before (value))`, in the place of all of `whole`; `size` is the size that it says, if any.
  void wrap(NodeId whole, std::string_view mark, const std::string& before, NodeId value, NodeId size = {});
  void wrap_two(NodeId whole, std::string_view mark, const std::string& before, NodeId one, NodeId other);
  // A method's call as `mark(site, 'method', receiver, arguments)`.
  void made_call(NodeId id, std::string_view mark, std::string_view method, NodeId receiver,
                 const std::vector<NodeId>& arguments);
  void size(NodeId value, const std::string& owner) { wrap(value, "index", owner + ", ", value, value); }

  // What an argument says about sizes: itself, or the elements of a tuple or a list.
  std::vector<NodeId> sizes_in(NodeId argument) const;
  bool may_be_tensor(NodeId value) const;

  const MendContext& context;
  const Tree& tree;
  const ModuleFacts& facts;
  std::vector<Speculated> found;
};

}  // namespace graphmend
