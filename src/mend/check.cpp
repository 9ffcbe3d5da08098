// Check. In: an `if`, `elif` or `assert`. Out: the test for eager and, beside it, the test for tracing.
// While tracing, `and`, `or` and `not` become calls that work on tensors and still do not evaluate what Python would
// not.
#include "mend/check.h"

#include <vector>

namespace graphmend {

namespace {

bool raises_at_its_end(const MendContext& context, NodeId body) {
  NodeId last;
  for (NodeId statement : context.tree.children(body)) last = statement;
  return last && context.tree.kind(last) == NodeKind::Raise;
}

// The test as tracing sees it. The depth is that of `and`, `or` and `not` around each other.
class TracedTest {
 public:
  TracedTest(const MendContext& context, PieceText& out, Span serves) : context_(context), out_(out), serves_(serves) {}

  bool write(NodeId id, uint32_t depth = 0) {
    // Deeper than anybody writes; recursion must end somewhere.
    if (depth > 100) return false;
    const Tree& tree = context_.tree;
    if (tree.kind(id) == NodeKind::UnaryOp && tree[id].operation() == Operator::Not) {
      out_.add("__graphmend__.negate(", serves_);
      if (!write(tree.first_child(id), depth + 1)) return false;
      out_.add(")", serves_);
      return true;
    }
    if (tree.kind(id) == NodeKind::BoolOp) {
      std::vector<NodeId> values;
      for (NodeId value : tree.children(id)) values.push_back(value);
      const std::string_view join = tree[id].operation() == Operator::And ? "both" : "either";
      return write_joined(values, 0, join, depth);
    }
    // Parentheses, because the text of an expression may go over several lines.
    out_.add("(", serves_);
    out_.copy(context_.span(id));
    out_.add(")", serves_);
    return true;
  }

 private:
  bool write_joined(const std::vector<NodeId>& values, size_t from, std::string_view join, uint32_t depth) {
    if (from + 1 == values.size()) return write(values[from], depth + 1);
    out_.add("__graphmend__." + std::string(join) + "(", serves_);
    if (!write(values[from], depth + 1)) return false;
    out_.add(", lambda: ", serves_);
    if (!write_joined(values, from + 1, join, depth + 1)) return false;
    out_.add(")", serves_);
    return true;
  }

  const MendContext& context_;
  PieceText& out_;
  const Span serves_;
};

// The truth to predict, or nothing when neither outcome ends in a raise.
std::optional<bool> predicted_truth(const MendContext& context, NodeId guard) {
  const Tree& tree = context.tree;
  if (tree.kind(guard) == NodeKind::Assert) return true;
  ChildCursor cursor(tree, guard);
  cursor.take();
  NodeId body = cursor.take();
  if (raises_at_its_end(context, body)) return false;
  // `if ok: … else: raise`; with an `elif` in between the other outcome is not the raise alone.
  NodeId other = cursor.take();
  if (other && tree.kind(other) == NodeKind::Else && raises_at_its_end(context, tree.first_child(other))) return true;
  return std::nullopt;
}

}  // namespace

std::optional<Checked> check(const MendContext& context, NodeId guard, std::string& reason) {
  const Tree& tree = context.tree;
  const std::optional<bool> truth = predicted_truth(context, guard);
  if (!truth) {
    reason = "branch on a tensor's value; neither side of it raises";
    return std::nullopt;
  }
  NodeId test = tree.first_child(guard);
  for (NodeId inner = test; inner < tree.end_of(test); ++inner) {
    switch (tree.kind(inner)) {
      case NodeKind::NamedExpr:
      case NodeKind::Await:
      case NodeKind::Yield:
      case NodeKind::YieldFrom:
        reason = "the test assigns, awaits or yields";
        return std::nullopt;
      default:
        break;
    }
  }
  const Span span = context.span(test);
  Checked result{PieceText(context.text), span, context.site(guard, "check")};
  result.test.add("((", span);
  result.test.copy(span);
  result.test.add(") if not __graphmend__.tracing() else __graphmend__.check('" + result.site + "', ", span);
  if (!TracedTest(context, result.test, span).write(test)) {
    reason = "the test is nested too deeply";
    return std::nullopt;
  }
  result.test.add(*truth ? ", True))" : ", False))", span);
  return result;
}

}  // namespace graphmend
