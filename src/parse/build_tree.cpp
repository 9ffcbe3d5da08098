// From the parser's order to the tree's. In: nodes with children before parents, the root last. Out: `Tree`.
#include "parse/build_tree.h"

namespace graphmend {

Tree build_tree(const std::vector<Node>& children_first) {
  const auto count = static_cast<uint32_t>(children_first.size());
  std::vector<Node> nodes(count);
  std::vector<NodeId> parents(count);
  std::vector<uint32_t> place(count);
  if (count == 0) return {};
  place[count - 1] = 0;
  // From the root down: a node's place is known when it is reached, and gives its children theirs, last child first.
  for (uint32_t i = count; i-- > 0;) {
    const Node& node = children_first[i];
    const uint32_t at = place[i];
    nodes[at] = node;
    uint32_t end = at + node.size;
    uint32_t child = i;
    for (uint32_t left = node.size - 1; left > 0;) {
      --child;
      const uint32_t size = children_first[child].size;
      end -= size;
      place[child] = end;
      parents[end] = NodeId(at);
      left -= size;
      child -= size - 1;
    }
  }
  return Tree(std::move(nodes), std::move(parents));
}

}  // namespace graphmend
