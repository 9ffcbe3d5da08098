// Postpone. In: an expression statement. Out: the call that carries its values, and the statement as a function of
// them. An argument is read where the statement stands, so that a later change does not show. Only what Dynamo cannot
// trace (`.item()`, formatting) is left to the function, which is given what it works on.
#include "mend/postpone.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "mend/traced_condition.h"
#include "parse/views.h"

namespace graphmend {

namespace {

constexpr std::array<std::string_view, 5> kForcingMethods = {"item", "tolist", "numpy", "__str__", "__repr__"};
// What Dynamo cannot do with a tensor, and what it makes that could not travel.
constexpr std::array<std::string_view, 15> kForcingBuiltins = {"str",
                                                               "repr",
                                                               "float",
                                                               "int",
                                                               "bool",
                                                               "format",
                                                               "complex",
                                                               "Warning",
                                                               "UserWarning",
                                                               "DeprecationWarning",
                                                               "PendingDeprecationWarning",
                                                               "RuntimeWarning",
                                                               "FutureWarning",
                                                               "ImportWarning",
                                                               "ResourceWarning"};
// Builtins that may stand around what is forced: pure functions of plain values.
constexpr std::array<std::string_view, 12> kPureBuiltins = {"round", "abs",   "min",  "max",    "sum", "len",
                                                            "list",  "tuple", "dict", "sorted", "zip", "enumerate"};
constexpr std::array<std::string_view, 12> kTextMethods = {"format", "join",   "strip",   "lower",  "upper",  "ljust",
                                                           "rjust",  "center", "replace", "rstrip", "lstrip", "title"};

template <size_t n>
bool is_one_of(std::string_view name, const std::array<std::string_view, n>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

class Splitter {
 public:
  Splitter(const MendContext& context, const ModuleFacts& facts, Span statement)
      : context_(context), facts_(facts), statement_(statement), body_(context.text) {
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
    return true;
  }

  const std::vector<PieceText>& values() const { return taken_.values; }
  PieceText& body() { return body_; }
  const std::vector<std::string>& parameters() const { return taken_.names; }
  const std::string& reason() const { return reason_; }

 private:
  // What is read in place, and the names that the function has for it.
  struct Taken {
    std::vector<PieceText> values;
    std::vector<std::string> names;
  };

  bool forces(NodeId id) const {
    const Tree& tree = context_.tree;
    switch (tree.kind(id)) {
      case NodeKind::FString:
        return true;
      case NodeKind::BinOp: {
        // "…" % values
        const NodeKind left = tree.kind(tree.first_child(id));
        return tree[id].operation() == Operator::Mod && (left == NodeKind::String || left == NodeKind::Strings);
      }
      case NodeKind::Call: {
        NodeId function = tree.first_child(id);
        if (tree.kind(function) == NodeKind::Attribute) {
          return is_one_of(context_.token_at(tree[function].last_token), kForcingMethods) || on_text(function);
        }
        return is_builtin(function, kForcingBuiltins);
      }
      default:
        return false;
    }
  }

  // One of these names, which nothing in the file binds: the statement and its function find the same under it.
  template <size_t n>
  bool is_builtin(NodeId function, const std::array<std::string_view, n>& names) const {
    return context_.tree.kind(function) == NodeKind::Name && is_one_of(context_.text_of(function), names) &&
           !facts_.scopes.binding(function);
  }

  // `math.exp`, of the module that the file imports: a function of numbers.
  bool is_of_math(NodeId function) const {
    const Tree& tree = context_.tree;
    if (tree.kind(function) != NodeKind::Attribute) return false;
    const NodeId module = tree.first_child(function);
    if (tree.kind(module) != NodeKind::Name || context_.text_of(module) != "math") return false;
    const Scopes& scopes = facts_.scopes;
    const SymbolId binding = scopes.binding(module);
    return binding && scopes[binding].scope == Scopes::module() &&
           (scopes[binding].flags & symbol_flag::kBound) == symbol_flag::kImported;
  }

  // A method of a string literal: "…".format, ", ".join.
  bool on_text(NodeId attribute) const {
    const Tree& tree = context_.tree;
    const NodeKind receiver = tree.kind(tree.first_child(attribute));
    const bool literal = receiver == NodeKind::String || receiver == NodeKind::Strings || receiver == NodeKind::FString;
    return literal && is_one_of(context_.token_at(tree[attribute].last_token), kTextMethods);
  }

  bool contains_forcing(NodeId id) const {
    for (NodeId inner = id; inner < context_.tree.end_of(id); ++inner) {
      if (forces(inner)) return true;
    }
    return false;
  }

  bool is_literal(NodeId id) const {
    const NodeKind kind = context_.tree.kind(id);
    return kind == NodeKind::Number || kind == NodeKind::Constant || kind == NodeKind::String;
  }

  // `sys.stderr`: no value of the graph, and found again by its name.
  bool is_standard_stream(NodeId id) const {
    const std::string name = context_.dotted_name(id);
    const auto& talkers = context_.request.talkers;
    return !name.empty() && std::find(talkers.begin(), talkers.end(), name + ".write") != talkers.end();
  }

  // True when the function may do this to the values it is given.
  bool may_stay(NodeId id) const {
    const Tree& tree = context_.tree;
    switch (tree.kind(id)) {
      case NodeKind::FString:
      case NodeKind::Strings:
      case NodeKind::String:
      case NodeKind::BinOp:
      case NodeKind::UnaryOp:
      case NodeKind::Compare:
      case NodeKind::CompareOp:
      case NodeKind::BoolOp:
      case NodeKind::IfExp:
      case NodeKind::Tuple:
      case NodeKind::List:
      case NodeKind::Set:
      case NodeKind::Dict:
      case NodeKind::DictUnpack:
      case NodeKind::Starred:
      case NodeKind::Keyword:
      case NodeKind::Subscript:
      case NodeKind::Slice:
      case NodeKind::Interpolation:
      case NodeKind::FormatSpec:
      case NodeKind::FStringText:
        return true;
      case NodeKind::Call: {
        if (forces(id)) return true;
        NodeId function = tree.first_child(id);
        return is_builtin(function, kPureBuiltins) || is_of_math(function);
      }
      default:
        return false;
    }
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
    if (tree.kind(id) == NodeKind::Strings && !contains_forcing(id)) return true;
    if (!contains_forcing(id)) return take(id);
    if (is_comprehension(id)) return split_comprehension(id);
    return may_stay(id) ? split_children(id) : cannot_be_read(id);
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
      if (waits || contains_forcing(loop) || binds_or_waits(tree, loop)) return cannot_be_read(id);
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

  bool split_children(NodeId id) {
    const Tree& tree = context_.tree;
    for (NodeId part : sometimes(id)) {
      if (!facts_.effects.of(part).pure()) return cannot_be_read(part);
    }
    for (NodeId child : tree.children(id)) {
      const NodeKind kind = tree.kind(child);
      if (kind == NodeKind::FStringText || kind == NodeKind::CompareOp) continue;
      if (is_callee(child)) {
        // A method stays, its receiver travels; a builtin is found again by its name.
        const bool is_method = kind == NodeKind::Attribute && !is_of_math(child);
        if (is_method && !split_receiver(tree.first_child(child))) return false;
        continue;
      }
      if (!split(child)) return false;
    }
    return true;
  }

  bool split_receiver(NodeId id) { return contains_forcing(id) || is_literal(id) ? split(id) : take(id); }

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
    taken_.values.emplace_back(context_.text).copy(span);
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
  const Span statement_;
  NodeId call_;
  Taken taken_;
  PieceText body_;
  uint32_t body_from_ = 0;
  uint32_t count_ = 0;
  std::string reason_;
};

// Whether a name, or that on which attributes are, is one of the module or a builtin, and not assigned here: that is
// written back after the graph.
bool is_global(const Tree& tree, const Scopes& scopes, NodeId id) {
  while (tree.kind(id) == NodeKind::Attribute) id = tree.first_child(id);
  const SymbolId symbol = scopes.symbol(id);
  if (!symbol) return false;
  const Symbol& found = scopes[symbol];
  return (found.is_global() && !found.has(symbol_flag::kBound)) || found.scope == Scopes::module();
}

// Whether it tells of the exception that is being handled where it stands, which is gone after the graph.
bool tells_of_exception(const MendContext& context, NodeId call) {
  const Tree& tree = context.tree;
  NodeId around = call;
  do {
    around = tree.parent(around);
  } while (around && tree.kind(around) != NodeKind::ExceptHandler && tree.kind(around) != NodeKind::FunctionDef);
  if (!around || tree.kind(around) != NodeKind::ExceptHandler) return false;
  NodeId callee = tree.first_child(call);
  if (context.token_at(tree[callee].last_token) == "exception") return true;
  for (NodeId argument : tree.children(call)) {
    if (tree.kind(argument) != NodeKind::Keyword) continue;
    const std::string_view text = context.text_of(argument);
    if (text.starts_with("exc_info") || text.starts_with("**")) return true;
  }
  return false;
}

bool matches(std::string_view name, std::string_view talker) {
  if (talker.ends_with(".*")) {
    talker.remove_suffix(1);
    return name.starts_with(talker) && name.find('.', talker.size()) == std::string_view::npos;
  }
  return name == talker;
}

}  // namespace

Talks talks(const MendContext& context, const Scopes& scopes, NodeId statement) {
  const Tree& tree = context.tree;
  if (tree.kind(statement) != NodeKind::ExprStatement) return Talks::No;
  NodeId call = tree.first_child(statement);
  if (tree.kind(call) != NodeKind::Call) return Talks::No;
  NodeId callee = tree.first_child(call);
  const std::string name = context.dotted_name(callee);
  if (name.empty()) return Talks::No;
  const std::vector<std::string>& talkers = context.request.talkers;
  const auto is_talker = [&](std::string_view asked) {
    return std::any_of(talkers.begin(), talkers.end(),
                       [asked](std::string_view talker) { return matches(asked, talker); });
  };
  if (is_talker("!" + name) || tells_of_exception(context, call)) return Talks::No;
  if (is_talker(name) && is_global(tree, scopes, callee)) return Talks::ByName;
  const size_t dot = name.rfind('.');
  const bool asks = dot != std::string::npos && is_talker(name.substr(dot));
  return asks ? Talks::ByReceiver : Talks::No;
}

std::optional<Postponed> postpone(const MendContext& context, const ModuleFacts& facts, NodeId statement, Talks how,
                                  std::string& reason) {
  const Span span = context.span(statement);
  NodeId call = context.tree.first_child(statement);
  const std::string site = context.site(statement, "postpone");
  Splitter splitter(context, facts, span);
  if (how == Talks::ByReceiver) splitter.take_receiver(context.tree.first_child(call), site);
  if (!splitter.run(call)) {
    reason = splitter.reason();
    return std::nullopt;
  }
  Postponed result{PieceText(context.text), {}, site};
  result.prefix.add("(__graphmend__.posts('" + result.site + "') and __graphmend__.post('" + result.site + "'", span);
  for (const PieceText& value : splitter.values()) {
    result.prefix.add(", ", span);
    result.prefix.append(value);
  }
  result.prefix.add(")) or ", span);

  NodeId function = context.enclosing(statement, NodeKind::FunctionDef);
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
  if (NodeId in_class = context.enclosing(statement, NodeKind::ClassDef)) {
    result.outlined.class_name = context.token_at(name_token(context.tree, context.tokens, in_class));
  }
  return result;
}

}  // namespace graphmend
