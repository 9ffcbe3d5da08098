// Postpone. In: an expression statement. Out: the call that carries its values, and the statement as a function of
// them. An argument is read where the statement stands, so that a later change does not show. Only what Dynamo cannot
// trace (`.item()`, formatting) is left to the function, which is given what it works on.
#include "mend/postpone.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "mend/deferral.h"
#include "mend/in_vain.h"
#include "mend/traced_condition.h"
#include "parse/views.h"

namespace graphmend {

namespace {

class Splitter {
 public:
  Splitter(const MendContext& context, const ModuleFacts& facts, Span statement)
      : context_(context), facts_(facts), deferral_(context, facts.scopes), statement_(statement), body_(context.text) {
    body_from_ = statement_.start;
  }

  // What the method is called on becomes the first parameter.
  void take_receiver(NodeId callee, std::string_view site) {
    const Span span = context_.span(context_.tree.first_child(callee));
    const std::string asked = std::string(site) + "', '" + context_.dotted_name(callee);
    PieceText& value = taken_.values.emplace_back(context_.text);
    value.add("__graphmend__.talker('" + asked + "', ", statement_);
    value.copy(span);
    value.add(")", statement_);
    replace_in_body(span);
  }

  // Copies the statement into the function's body, with parameters for what is read in place.
  bool run(NodeId call) {
    call_ = call;
    NodeId function = context_.tree.first_child(call);
    for (NodeId argument : context_.tree.children(call)) {
      if (argument == function) continue;
      NodeId value = argument;
      const NodeKind kind = context_.tree.kind(argument);
      if (kind == NodeKind::Keyword || kind == NodeKind::Starred) value = context_.tree.first_child(argument);
      if (!split(value)) return false;
    }
    body_.copy({body_from_, statement_.end});
    return reads_before_changes();
  }

  const std::vector<PieceText>& values() const { return taken_.values; }
  PieceText& body() { return body_; }
  const std::vector<std::string>& parameters() const { return taken_.names; }
  // What is read though Python may not come to it works on this.
  const WorkedOn& works_on() const { return worked_on_; }
  const std::string& reason() const { return reason_; }

 private:
  // What is made into text or a number after the graph must not be changed by an argument that comes later.
  bool reads_before_changes() {
    const Tree& tree = context_.tree;
    for (NodeId id = call_; id < tree.end_of(call_); ++id) {
      if (id == call_ || is_callee(id) || is_literal(id) || !deferral_.contains(id)) continue;
      for (NodeId later = tree.end_of(id); later < tree.end_of(call_); ++later) {
        const bool is_call = tree.kind(later) == NodeKind::Call;
        if (is_call && !facts_.effects.of(later).pure()) return cannot_be_read(id);
      }
    }
    return true;
  }

  // What is read in place, and the names that the function has for it.
  struct Taken {
    std::vector<PieceText> values;
    std::vector<std::string> names;
  };

  bool is_literal(NodeId id) const {
    const NodeKind kind = context_.tree.kind(id);
    return kind == NodeKind::Number || kind == NodeKind::Constant || kind == NodeKind::String;
  }

  // `sys.stderr`: no value of the graph, and found again by its name.
  bool is_standard_stream(NodeId id) const {
    const std::string name = context_.dotted_name(id);
    const auto& talkers = context_.request.talkers;
    const bool is_stream = !name.empty() && std::find(talkers.begin(), talkers.end(), name + ".write") != talkers.end();
    return is_stream && is_fixed_global(context_.tree, facts_.scopes, id);
  }

  // Whether the parts of this node are its function rather than its operands.
  bool is_callee(NodeId id) const {
    NodeId parent = context_.tree.parent(id);
    return context_.tree.kind(parent) == NodeKind::Call && context_.tree.first_child(parent) == id;
  }

  bool split(NodeId id) {
    const Tree& tree = context_.tree;
    if (is_literal(id) || is_standard_stream(id)) return true;
    if (tree.kind(id) == NodeKind::Interpolation && (tree[id].flags & node_flag::kDebug)) return split_debug(id);
    if (is_structure(id)) return split_children(id);
    if (tree.kind(id) == NodeKind::Strings && !deferral_.contains(id)) return true;
    if (!deferral_.contains(id)) return take(id);
    if (is_comprehension(id)) return split_comprehension(id);
    return deferral_.may_stay(id) ? split_children(id) : cannot_be_read(id);
  }

  // Syntax around expressions, no value by itself.
  bool is_structure(NodeId id) const {
    switch (context_.tree.kind(id)) {
      case NodeKind::Interpolation:
      case NodeKind::FormatSpec:
      case NodeKind::Keyword:
      case NodeKind::Starred:
      case NodeKind::DictUnpack:
      case NodeKind::Slice:
        return true;
      case NodeKind::Tuple:
        // In a subscript there may be slices among its parts.
        return context_.tree.kind(context_.tree.parent(id)) == NodeKind::Subscript;
      default:
        return false;
    }
  }

  // `{x + 1=}` shows the text of its expression, which travels beside its value: `{label}{value!r}`.
  bool split_debug(NodeId id) {
    const Tree& tree = context_.tree;
    const InterpolationView view(tree, id);
    const Span span = context_.span(id);
    const Span expression = context_.span(view.expression);
    uint32_t label_end = view.format_spec ? context_.span(view.format_spec).start : span.end - 1;
    const bool converts = tree[id].op != 0;
    if (converts) label_end = static_cast<uint32_t>(context_.text.rfind('!', label_end));
    body_.copy({body_from_, span.start});
    body_.add("{" + next_parameter() + "}{(", span);
    taken_.values.emplace_back(context_.text)
        .add(quoted(context_.text.substr(span.start + 1, label_end - span.start - 1)), statement_);
    body_from_ = expression.start;
    if (!split(view.expression)) return false;
    body_.copy({body_from_, expression.end});
    body_.add(converts || view.format_spec ? ")" : ")!r", span);
    body_from_ = label_end;
    return !view.format_spec || split(view.format_spec);
  }

  static std::string quoted(std::string_view text) {
    std::string literal = "'";
    for (char c : text) {
      if (c == '\\' || c == '\'') literal += '\\';
      if (c == '\n') {
        literal += "\\n";
      } else if (c != '\r') {
        literal += c;
      }
    }
    return literal + "'";
  }

  std::string next_parameter() { return taken_.names.emplace_back("__graphmend_" + std::to_string(count_++) + "__"); }

  bool is_comprehension(NodeId id) const {
    const Tree& tree = context_.tree;
    switch (tree.kind(id)) {
      case NodeKind::ListComp:
      case NodeKind::SetComp:
      case NodeKind::DictComp:
        return true;
      case NodeKind::GeneratorExp: {
        // One that is shown itself is an object, not what it gives.
        const NodeId parent = tree.parent(id);
        return parent != call_ && (tree.kind(parent) == NodeKind::Call || tree.kind(parent) == NodeKind::Starred);
      }
      default:
        return false;
    }
  }

  // `[round(v.mean().item()) for v in values]`: in place `[(v.mean(), ) for v in values]` is read, and the function
  // goes through that: `[round(a.item()) for (a, ) in taken]`.
  bool split_comprehension(NodeId id) {
    const Tree& tree = context_.tree;
    std::vector<NodeId> parts;
    std::vector<NodeId> loops;
    for (NodeId child : tree.children(id)) {
      (tree.kind(child) == NodeKind::Comprehension ? loops : parts).push_back(child);
    }
    for (NodeId loop : loops) {
      const bool waits = (tree[loop].flags & node_flag::kAsync) != 0;
      if (waits || deferral_.contains(loop) || binds_or_waits(tree, loop)) return cannot_be_read(id);
    }
    const Span around{context_.span(loops.front()).start, context_.span(loops.back()).end};
    Taken outer = std::exchange(taken_, Taken());
    for (NodeId part : parts) {
      if (!split(part)) return false;
    }
    const Taken element = std::exchange(taken_, std::move(outer));
    body_.copy({body_from_, around.start});
    std::string loop = "for (";
    for (const std::string& name : element.names) loop += name + ", ";
    body_.add(loop + ") in " + next_parameter(), around);
    body_from_ = around.end;
    PieceText& value = taken_.values.emplace_back(context_.text);
    value.add("[(", statement_);
    for (const PieceText& each : element.values) {
      value.append(each);
      value.add(", ", statement_);
    }
    value.add(") ", statement_);
    value.copy(around);
    value.add("]", statement_);
    return true;
  }

  bool cannot_be_read(NodeId id) {
    reason_ = "`" + std::string(context_.text_of(id).substr(0, 60)) + "` cannot be read after the graph";
    return false;
  }

  // What Python may not come to is read in any case.
  std::vector<NodeId> sometimes(NodeId id) const {
    if (context_.tree.kind(id) != NodeKind::IfExp) return later_operands(context_.tree, id);
    const IfExpView choice(context_.tree, id);
    return {choice.body, choice.orelse};
  }

  // What an expression in a comprehension works on is in its loops too.
  NodeId with_loops(NodeId part) const {
    NodeId whole = part;
    for (NodeId around = context_.tree.parent(part); around != call_; around = context_.tree.parent(around)) {
      if (is_comprehension(around)) whole = around;
    }
    return whole;
  }

  bool split_children(NodeId id) {
    const Tree& tree = context_.tree;
    for (NodeId part : sometimes(id)) {
      if (!is_pure(context_, facts_, part)) return cannot_be_read(part);
      worked_on_.merge(worked_on(context_, facts_, with_loops(part)));
    }
    for (NodeId child : tree.children(id)) {
      const NodeKind kind = tree.kind(child);
      if (kind == NodeKind::FStringText || kind == NodeKind::CompareOp) continue;
      if (is_callee(child)) {
        // A method stays, its receiver travels; a builtin is found again by its name.
        const bool is_method = kind == NodeKind::Attribute && !deferral_.is_of_math(child);
        if (is_method && !split_receiver(tree.first_child(child))) return false;
        continue;
      }
      if (!split(child)) return false;
    }
    return true;
  }

  bool split_receiver(NodeId id) { return deferral_.contains(id) || is_literal(id) ? split(id) : take(id); }

  // Read in place, and handed to the function as a parameter.
  bool take(NodeId id) {
    for (NodeId inner = id; inner < context_.tree.end_of(id); ++inner) {
      switch (context_.tree.kind(inner)) {
        case NodeKind::NamedExpr:
        case NodeKind::Await:
        case NodeKind::Yield:
        case NodeKind::YieldFrom:
          reason_ = "an argument assigns, awaits or yields";
          return false;
        default:
          break;
      }
    }
    const Span span = context_.span(id);
    PieceText& value = taken_.values.emplace_back(context_.text);
    // It may have no parentheses of its own: `f"{a, b}"`.
    const bool is_tuple = context_.tree.kind(id) == NodeKind::Tuple;
    if (is_tuple) value.add("(", span);
    value.copy(span);
    if (is_tuple) value.add(")", span);
    replace_in_body(span);
    return true;
  }

  void replace_in_body(Span span) {
    body_.copy({body_from_, span.start});
    body_.add(next_parameter(), span);
    body_from_ = span.end;
  }

  const MendContext& context_;
  const ModuleFacts& facts_;
  const Deferral deferral_;
  const Span statement_;
  NodeId call_;
  Taken taken_;
  PieceText body_;
  WorkedOn worked_on_;
  uint32_t body_from_ = 0;
  uint32_t count_ = 0;
  std::string reason_;
};

}  // namespace

std::optional<Postponed> postpone(const MendContext& context, const ModuleFacts& facts, NodeId place, Talks how,
                                  std::string& reason) {
  const Span span = context.span(place);
  // Its value is the lambda's.
  const bool is_value = context.tree.kind(place) == NodeKind::Call;
  const NodeId call = is_value ? place : context.tree.first_child(place);
  const std::string site = context.site(place, "postpone");
  Splitter splitter(context, facts, span);
  if (how == Talks::ByReceiver) splitter.take_receiver(context.tree.first_child(call), site);
  if (!splitter.run(call)) {
    reason = splitter.reason();
    return std::nullopt;
  }
  Postponed result{PieceText(context.text), {}, site};
  result.prefix.add(std::string(is_value ? "None if " : "") + "(__graphmend__.posts('" + site + "')" +
                        and_is_plain(site, splitter.works_on()) + " and __graphmend__.post('" + site + "'",
                    span);
  for (const PieceText& value : splitter.values()) {
    result.prefix.add(", ", span);
    result.prefix.append(value);
  }
  result.prefix.add(is_value ? ")) else " : ")) or ", span);

  NodeId function = context.enclosing(place, NodeKind::FunctionDef);
  const std::string name = function ? std::string(context.token_at(name_token(context.tree, context.tokens, function)))
                                    : std::string("__graphmend_module__");
  std::string head = "def " + name + "(";
  for (const std::string& parameter : splitter.parameters()) head += parameter + ", ";
  PieceText whole(context.text);
  // The statement may go over several lines, whose indentation means nothing inside its brackets.
  whole.add(head + "):\n ", span);
  whole.append(splitter.body());
  whole.add("\n", span);
  result.outlined.text = whole.take_text();
  result.outlined.pieces = whole.take_pieces();
  if (NodeId in_class = context.enclosing(place, NodeKind::ClassDef)) {
    result.outlined.class_name = context.token_at(name_token(context.tree, context.tokens, in_class));
  }
  return result;
}

}  // namespace graphmend
