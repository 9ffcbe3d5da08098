// A test as tracing sees it. In: a condition. Out: text with calls in the place of `and`, `or` and `not`.
// What is neither of these is copied.
#include "mend/traced_condition.h"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "parse/views.h"

namespace graphmend {

namespace {

constexpr uint32_t kMaxDepth = 100;

class TracedTest {
 public:
  TracedTest(const MendContext& context, const Scopes& scopes, PieceText& out, Span serves)
      : context_(context), scopes_(scopes), out_(out), serves_(serves) {}

  bool write(NodeId id, uint32_t depth) {
    if (depth > kMaxDepth) return false;
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
      return write_joined(values, 0, tree[id].operation() == Operator::And ? "both" : "either", depth);
    }
    if (tree.kind(id) == NodeKind::Compare) {
      std::vector<NodeId> parts;
      for (NodeId part : tree.children(id)) parts.push_back(part);
      if (parts.size() > 3) return write_chain(parts, depth);
    }
    write_operand(id);
    return true;
  }

 private:
  // A comparison or what is tested itself. Calls that make a Python value of a tensor have a form that keeps the
  // tensor.
  void write_operand(NodeId id) {
    const Tree& tree = context_.tree;
    if (tree.kind(id) != NodeKind::Compare) {
      write_value(id);
      return;
    }
    std::vector<NodeId> parts;
    for (NodeId part : tree.children(id)) parts.push_back(part);
    if (const std::optional<bool> is_in = membership(tree, id)) {
      out_.add(*is_in ? "__graphmend__.holds(True, " : "__graphmend__.holds(False, ", serves_);
      write_side(parts[0], false);
      out_.add(", ", serves_);
      write_side(parts[2], false);
      return out_.add(")", serves_);
    }
    write_compared(parts.data(), {}, {});
  }

  // A left side, an operator and a right side; the left one may have a name already, the right one be given one.
  void write_compared(const NodeId* parts, const std::string& left, const std::string& right) {
    const std::string_view by = context_.text_of(parts[1]);
    const bool orders = by.find_first_of("<>=") != std::string_view::npos;
    const std::string numbers = std::string(is_number(parts[0]) ? "l" : "") + (is_number(parts[2]) ? "r" : "");
    // What a number is compared with says in which precision.
    const bool is_mixed = orders && !numbers.empty() && !is_integer(parts[0]) && !is_integer(parts[2]);
    out_.add(is_mixed ? "__graphmend__.compared('" + numbers + "', '" + std::string(by) + "', " : "(", serves_);
    if (left.empty()) {
      write_side(parts[0], orders);
    } else {
      out_.add(left, serves_);
    }
    if (is_mixed) {
      out_.add(", ", serves_);
    } else {
      out_.add(" ", serves_);
      out_.copy(context_.span(parts[1]));
      out_.add(" ", serves_);
    }
    // What has a name stays in a cell, which leaves the graph; no history goes with it.
    if (!right.empty()) out_.add("(" + right + " := __graphmend__.middle(", serves_);
    write_side(parts[2], orders);
    out_.add(right.empty() ? ")" : ")))", serves_);
  }

  // `is` and `in` are asked of Python's own values.
  void write_side(NodeId id, bool orders) {
    if (orders) return write_value(id);
    out_.add("(", serves_);
    out_.copy(context_.span(id));
    out_.add(")", serves_);
  }

  // Whether it is a whole number that is the same in every precision.
  bool is_integer(NodeId id) const {
    constexpr size_t kExactDigits = 15;
    const Tree& tree = context_.tree;
    if (tree.kind(id) == NodeKind::UnaryOp) id = tree.first_child(id);
    const std::string_view text = context_.text_of(id);
    const bool is_whole = text.find_first_of(".eEjJ") == std::string_view::npos;
    return tree.kind(id) == NodeKind::Number && is_whole && text.size() <= kExactDigits;
  }

  // Whether it is `x.item()`, `float(x)` or `int(x)`, of which the tensor is kept.
  bool is_number(NodeId id) const {
    const Tree& tree = context_.tree;
    if (tree.kind(id) != NodeKind::Call) return false;
    NodeId callee = tree.first_child(id);
    if (tree.kind(callee) == NodeKind::Name) {
      const std::string_view name = context_.text_of(callee);
      return (name == "float" || name == "int") && !scopes_.binding(callee) && has_plain_arguments(id, 1);
    }
    const bool is_method = tree.kind(callee) == NodeKind::Attribute;
    return is_method && context_.token_at(tree[callee].last_token) == "item" && has_plain_arguments(id, 0);
  }

  // Whether a call has so many arguments, all by position.
  bool has_plain_arguments(NodeId call, uint32_t wanted) const {
    const Tree& tree = context_.tree;
    uint32_t count = 0;
    for (NodeId argument : tree.children(call)) {
      if (argument == tree.first_child(call)) continue;
      const NodeKind kind = tree.kind(argument);
      if (kind == NodeKind::Keyword || kind == NodeKind::Starred || kind == NodeKind::GeneratorExp) return false;
      ++count;
    }
    return count == wanted;
  }

  void write_value(NodeId id) {
    // Parentheses, because the text of an expression may go over several lines.
    if (!write_kept(id)) {
      out_.add("(", serves_);
      out_.copy_computed(context_.span(id));
      out_.add(")", serves_);
    }
  }

  // `x.item()`, `float(x)`, `int(x)`, `bool(x)`, `torch.equal(x, y)`, `x.allclose(y)`.
  bool write_kept(NodeId id) {
    const Tree& tree = context_.tree;
    if (tree.kind(id) != NodeKind::Call) return false;
    NodeId callee = tree.first_child(id);
    const Span call = context_.span(id);
    const Span named = context_.span(callee);
    if (tree.kind(callee) == NodeKind::Name) {
      const std::string_view name = context_.text_of(callee);
      if (name != "float" && name != "int" && name != "bool") return false;
      // The program may have one of its own.
      if (scopes_.binding(callee) || !has_plain_arguments(id, 1)) return false;
      if (name == "int") {
        out_.add("__graphmend__.whole('" + context_.site(id, "value") + "', ", serves_);
        out_.copy(context_.span(tree.next_sibling(callee)));
        out_.add(")", serves_);
        return true;
      }
      out_.add(name == "float" ? "__graphmend__.real" : "__graphmend__.truth", serves_);
      out_.copy({named.end, call.end});
      return true;
    }
    if (tree.kind(callee) != NodeKind::Attribute) return false;
    NodeId receiver = tree.first_child(callee);
    const std::string_view method = context_.token_at(tree[callee].last_token);
    if (method != "item" && method != "equal" && method != "allclose") return false;
    const bool of_torch = context_.text_of(receiver) == "torch";
    // The program may call something else so.
    if (of_torch && !is_import(receiver)) return false;
    if (method == "item" && (of_torch || !has_plain_arguments(id, 0))) return false;
    if (method == "equal" && !has_plain_arguments(id, of_torch ? 2 : 1)) return false;
    out_.add("__graphmend__." + std::string(method == "item" ? "number" : method), serves_);
    if (of_torch) {
      out_.copy({named.end, call.end});
      return true;
    }
    // The receiver becomes the first argument.
    out_.add("((", serves_);
    out_.copy(context_.span(receiver));
    out_.add("), *(", serves_);
    const bool has_keywords = writes_arguments(id, false);
    out_.add("), **dict(", serves_);
    if (has_keywords) writes_arguments(id, true);
    out_.add("))", serves_);
    return true;
  }

  // Whether a name stands for nothing but the module of that name.
  bool is_import(NodeId name) const {
    const SymbolId variable = scopes_.binding(name);
    const auto sites = variable ? scopes_.sites(variable) : std::span<const NodeId>();
    return std::all_of(sites.begin(), sites.end(), [&](NodeId site) {
      return context_.tree.kind(site) == NodeKind::Alias && context_.text_of(site) == context_.text_of(name);
    });
  }

  // Those by position, or those by keyword; whether there are any of the latter.
  bool writes_arguments(NodeId call, bool keywords) {
    const Tree& tree = context_.tree;
    bool found = false;
    for (NodeId argument : tree.children(call)) {
      if (argument == tree.first_child(call)) continue;
      const bool is_keyword = tree.kind(argument) == NodeKind::Keyword;
      found = found || is_keyword;
      if (is_keyword != keywords) continue;
      out_.copy(context_.span(argument));
      out_.add(", ", serves_);
    }
    return found;
  }

  bool write_joined(const std::vector<NodeId>& values, size_t from, std::string_view join, uint32_t depth) {
    if (from + 1 == values.size()) return write(values[from], depth + 1);
    out_.add("__graphmend__." + std::string(join) + "(", serves_);
    if (!write(values[from], depth + 1)) return false;
    out_.add(", lambda: ", serves_);
    if (!write_joined(values, from + 1, join, depth + 1)) return false;
    out_.add(")", serves_);
    return true;
  }

  // `a < b < c` is `a < b and b < c`, with `b` evaluated once.
  bool write_chain(const std::vector<NodeId>& parts, uint32_t depth) {
    if (depth + parts.size() / 2 > kMaxDepth) return false;
    std::string left;
    for (size_t i = 0; i + 2 < parts.size(); i += 2) {
      const bool is_last = i + 3 == parts.size();
      if (!is_last) out_.add("__graphmend__.both(", serves_);
      const std::string right = is_last ? "" : "graphmend_b" + std::to_string(context_.span(parts[i + 2]).start) + "_";
      write_compared(&parts[i], left, right);
      if (!is_last) out_.add(", lambda: ", serves_);
      left = right;
    }
    out_.add(std::string(parts.size() / 2 - 1, ')'), serves_);
    return true;
  }

  const MendContext& context_;
  const Scopes& scopes_;
  PieceText& out_;
  const Span serves_;
};

}  // namespace

bool write_traced_condition(const MendContext& context, const Scopes& scopes, NodeId test, Span serves,
                            PieceText& out) {
  return TracedTest(context, scopes, out, serves).write(test, 0);
}

namespace {

bool waits(NodeKind kind) { return kind == NodeKind::Await || kind == NodeKind::Yield || kind == NodeKind::YieldFrom; }

// Whether it may be `super()`, which finds out by the frame that it is called in.
bool may_ask_for_frame(const Tree& tree, NodeId id) {
  if (tree.kind(id) != NodeKind::Call) return false;
  const NodeId callee = tree.first_child(id);
  return tree.kind(callee) == NodeKind::Name && tree.end_of(callee) == tree.end_of(id);
}

// `a is None`: never a tensor.
bool compares_identity(const Tree& tree, NodeId id) {
  if (tree.kind(id) != NodeKind::Compare) return false;
  ChildCursor cursor(tree, id);
  cursor.take();
  const Operator by = tree[cursor.take()].operation();
  cursor.take();
  return !cursor.take() && (by == Operator::Is || by == Operator::IsNot);
}

}  // namespace

bool binds_or_waits(const Tree& tree, NodeId test) {
  for (NodeId inner = test; inner < tree.end_of(test); ++inner) {
    if (tree.kind(inner) == NodeKind::NamedExpr || waits(tree.kind(inner))) return true;
  }
  return false;
}

std::optional<bool> membership(const Tree& tree, NodeId id) {
  if (tree.kind(id) != NodeKind::Compare) return std::nullopt;
  std::vector<NodeId> rest;
  for (NodeId each : CompareView(tree, id).rest) rest.push_back(each);
  const Operator by = tree[rest[0]].operation();
  if (rest.size() != 2 || (by != Operator::In && by != Operator::NotIn)) return std::nullopt;
  constexpr std::array<NodeKind, 4> kMayBeTensor = {NodeKind::Name, NodeKind::Attribute, NodeKind::Subscript,
                                                    NodeKind::Call};
  if (std::ranges::find(kMayBeTensor, tree.kind(rest[1])) == kMayBeTensor.end()) return std::nullopt;
  return by == Operator::In;
}

std::vector<NodeId> later_operands(const Tree& tree, NodeId id) {
  std::vector<NodeId> found;
  if (tree.kind(id) != NodeKind::BoolOp && tree.kind(id) != NodeKind::Compare) return found;
  // The first is evaluated in any case, of a comparison the first two.
  uint32_t certain = tree.kind(id) == NodeKind::BoolOp ? 1 : 2;
  for (NodeId operand : tree.children(id)) {
    if (tree.kind(operand) == NodeKind::CompareOp) continue;
    if (certain == 0) found.push_back(operand);
    certain -= certain != 0;
  }
  return found;
}

std::vector<NodeId> operands_in_vain(const Tree& tree, NodeId id) {
  std::vector<NodeId> found = later_operands(tree, id);
  if (tree.kind(id) != NodeKind::BoolOp) return found;
  size_t known = 0;
  for (NodeId operand : tree.children(id)) {
    if (!compares_identity(tree, operand)) break;
    ++known;
  }
  found.erase(found.begin(), found.begin() + static_cast<ptrdiff_t>(std::min(known, found.size())));
  return found;
}

bool binds_late_or_waits(const Tree& tree, NodeId test) {
  for (NodeId inner = test; inner < tree.end_of(test); ++inner) {
    if (waits(tree.kind(inner))) return true;
    for (NodeId operand : later_operands(tree, inner)) {
      if (binds_or_waits(tree, operand)) return true;
      for (NodeId each = operand; each < tree.end_of(operand); ++each) {
        if (may_ask_for_frame(tree, each)) return true;
      }
    }
  }
  return false;
}

}  // namespace graphmend
