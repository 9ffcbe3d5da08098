#include "mend/speculated.h"

#include <algorithm>

#include "mend/traced_condition.h"
#include "parse/views.h"

namespace graphmend {

SpeculatedParts::SpeculatedParts(const MendContext& given, const ModuleFacts& known)
    : context(given), tree(given.tree), facts(known) {}

void SpeculatedParts::wrap_two(NodeId whole, std::string_view mark, const std::string& before, NodeId one,
                               NodeId other) {
  if (binds_or_waits(tree, one) || binds_or_waits(tree, other)) return;
  const Span span = context.span(whole);
  Speculated made{PieceText(context.text), span, context.site(whole, mark)};
  made.text.add("__graphmend__." + std::string(mark) + "('" + made.site + "', " + before + "(", span);
  made.text.copy(context.span(one));
  made.text.add("), (", span);
  made.text.copy(context.span(other));
  made.text.add("))", span);
  found.push_back(std::move(made));
}

void SpeculatedParts::wrap(NodeId whole, std::string_view mark, const std::string& before, NodeId value, NodeId size) {
  if (binds_or_waits(tree, value)) return;
  const Span span = context.span(whole);
  Speculated made{PieceText(context.text), span, context.site(whole, mark), false, size};
  made.text.add("__graphmend__." + std::string(mark) + "('" + made.site + "', " + before + "(", span);
  made.text.copy(context.span(value));
  made.text.add("))", span);
  found.push_back(std::move(made));
}

void SpeculatedParts::made_call(NodeId id, std::string_view mark, std::string_view method, NodeId receiver,
                                const std::vector<NodeId>& arguments) {
  // A generator without parentheses of its own can only stand alone.
  const auto alone = [this](NodeId each) { return tree.kind(each) == NodeKind::GeneratorExp; };
  if (std::any_of(arguments.begin(), arguments.end(), alone) || binds_or_waits(tree, id)) return;
  const Span span = context.span(id);
  Speculated made{PieceText(context.text), span, context.site(id, mark)};
  made.text.add("__graphmend__." + std::string(mark) + "('" + made.site + "', '" + std::string(method) + "', (", span);
  made.text.copy(context.span(receiver));
  made.text.add("), ", span);
  if (!arguments.empty()) {
    made.text.copy({context.span(arguments.front()).start, context.span(arguments.back()).end});
  }
  made.text.add(")", span);
  found.push_back(std::move(made));
}

std::vector<NodeId> SpeculatedParts::sizes_in(NodeId argument) const {
  if (tree.kind(argument) == NodeKind::Starred) return {};
  const NodeId value = tree.kind(argument) == NodeKind::Keyword ? tree.first_child(argument) : argument;
  if (tree.kind(value) != NodeKind::Tuple && tree.kind(value) != NodeKind::List) return {value};
  std::vector<NodeId> elements;
  for (NodeId element : tree.children(value)) elements.push_back(element);
  return elements;
}

bool SpeculatedParts::may_be_tensor(NodeId value) const {
  switch (tree.kind(value)) {
    case NodeKind::Name:
    case NodeKind::BinOp:
    case NodeKind::Attribute:
    case NodeKind::Subscript:
    case NodeKind::Call:
      return true;
    default:
      return false;
  }
}

}  // namespace graphmend
