// What the sides of a branch may be for select. In: statements, expressions. Out: yes, or the reason why not.
// Effects know what code may do; what it costs is known by name here.
#include "mend/sides.h"

#include <algorithm>
#include <array>

#include "base/one_of.h"
#include "mend/in_vain.h"

namespace graphmend {

namespace {

// Computing these for nothing costs more than a break saves.
constexpr std::array<std::string_view, 22> kCostly = {"matmul",
                                                      "mm",
                                                      "bmm",
                                                      "baddbmm",
                                                      "addmm",
                                                      "einsum",
                                                      "tensordot",
                                                      "linear",
                                                      "bilinear",
                                                      "conv1d",
                                                      "conv2d",
                                                      "conv3d",
                                                      "svd",
                                                      "qr",
                                                      "eigh",
                                                      "eig",
                                                      "inverse",
                                                      "pinverse",
                                                      "cholesky",
                                                      "lstsq",
                                                      "multi_head_attention_forward",
                                                      "scaled_dot_product_attention"};

std::string_view last_name(const MendContext& context, NodeId callee) {
  const NodeKind kind = context.tree.kind(callee);
  if (kind != NodeKind::Attribute && kind != NodeKind::Name) return "";
  return context.token_at(context.tree[callee].last_token);
}

// Statements whose meaning is in their expressions and in the names they bind.
bool is_plain_statement(NodeKind kind) {
  switch (kind) {
    case NodeKind::Assign:
    case NodeKind::AnnAssign:
    case NodeKind::ExprStatement:
    case NodeKind::Pass:
    case NodeKind::If:
    case NodeKind::For:
      return true;
    default:
      return false;
  }
}

std::string shown(std::string_view text) {
  std::string line(text.substr(0, text.find('\n')));
  if (line.size() > 60) line = line.substr(0, 57) + "...";
  return "`" + line + "`";
}

}  // namespace

bool only_computes(const MendContext& context, const ModuleFacts& facts, NodeId code, std::string& reason) {
  const Tree& tree = context.tree;
  const NodeKind clause = tree.kind(code);
  if (clause == NodeKind::If || clause == NodeKind::Body || clause == NodeKind::Elif || clause == NodeKind::Else) {
    // Its tests may be tensors again; that branch is mended as well, or breaks.
    for (NodeId part : tree.children(code)) {
      if (!only_computes(context, facts, part, reason)) return false;
    }
    return true;
  }
  const Effects effects = facts.effects.of(code);
  const std::string what = shown(context.text_of(code));
  if (effects.unknown()) {
    reason = "what " + what + " does is not known, so it cannot be computed in vain";
  } else if (!effects.pure()) {
    reason = what + " does more than compute, so it must run only on its own side";
  } else if (!is_pure(context, facts, code)) {
    reason = what + " calls a function that works on more than it is given";
  } else if (effects.syncs()) {
    reason = what + " needs a tensor's value in Python";
  } else if (!effects.total()) {
    reason = what + " may raise, so it must run only on its own side";
  } else if (effects.has(effect::kAssumesMethods)) {
    reason = what + " calls a method that a subclass may override";
  }
  if (!reason.empty()) return false;
  for (NodeId inner = code; inner < tree.end_of(code); ++inner) {
    const NodeKind kind = tree.kind(inner);
    if (node_group(kind) == NodeGroup::Statement && !is_plain_statement(kind)) {
      reason = what + " is a statement that cannot be computed in vain";
      return false;
    }
    if (kind == NodeKind::Await || kind == NodeKind::Yield || kind == NodeKind::YieldFrom || kind == NodeKind::Lambda) {
      reason = what + " has parts that run at another time";
      return false;
    }
    const bool matrix_product = kind == NodeKind::BinOp && tree[inner].operation() == Operator::MatMult;
    const bool costly_call = kind == NodeKind::Call && is_one_of(last_name(context, tree.first_child(inner)), kCostly);
    if (matrix_product || costly_call) {
      reason = what + " costs more in vain than the break does";
      return false;
    }
  }
  return true;
}

}  // namespace graphmend
