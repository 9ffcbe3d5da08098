// Check. In: an `if`, `elif` or `assert`. Out: the test for eager and, beside it, the test for tracing.
// Which outcome is predicted shows in the form: the one that does not raise.
#include "mend/check.h"

#include "mend/in_vain.h"
#include "mend/traced_condition.h"

namespace graphmend {

namespace {

bool raises_at_its_end(const MendContext& context, NodeId body) {
  NodeId last;
  for (NodeId statement : context.tree.children(body)) last = statement;
  return last && context.tree.kind(last) == NodeKind::Raise;
}

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

// Whether Python evaluates the later operands shows if more comes of them than a value.
bool operands_only_compute(const MendContext& context, const ModuleFacts& facts, NodeId test, WorkedOn& worked) {
  for (NodeId inner = test; inner < context.tree.end_of(test); ++inner) {
    for (NodeId operand : later_operands(context.tree, inner)) {
      if (!is_pure(context, facts, operand)) return false;
    }
    for (NodeId operand : operands_in_vain(context.tree, inner)) worked.merge(worked_on(context, facts, operand));
  }
  return true;
}

}  // namespace

std::optional<Checked> check(const MendContext& context, const ModuleFacts& facts, NodeId guard, std::string& reason) {
  const Tree& tree = context.tree;
  const std::optional<bool> truth = predicted_truth(context, guard);
  if (!truth) {
    reason = "branch on a tensor's value; neither side of it raises";
    return std::nullopt;
  }
  NodeId test = tree.first_child(guard);
  if (binds_late_or_waits(tree, test)) {
    reason = "the test assigns, awaits or yields";
    return std::nullopt;
  }
  WorkedOn worked;
  if (!operands_only_compute(context, facts, test, worked)) {
    reason = "the test does more than compute";
    return std::nullopt;
  }
  const Span span = context.span(test);
  Checked result{PieceText(context.text), span, context.site(guard, "check")};
  result.test.add("((", span);
  result.test.copy(span);
  result.test.add(") if " + not_traced(result.site, worked) + " else __graphmend__.check('" + result.site + "', ",
                  span);
  if (!write_traced_condition(context, facts.scopes, test, span, result.test)) {
    reason = "the test is nested too deeply";
    return std::nullopt;
  }
  result.test.add(*truth ? ", True))" : ", False))", span);
  return result;
}

}  // namespace graphmend
