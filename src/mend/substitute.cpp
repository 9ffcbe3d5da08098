// Substitute. In: a statement. Out: `x.name(a)` as `method(site, 'name', x, a)`, `name(a)` as `function(site, 'name',
// name, a)`, and so on, beside the user's own text, which runs in eager. Imports are in substitute_import.cpp.
#include "mend/substitute.h"

#include <algorithm>

#include "mend/substitute_import.h"
#include "mend/traced_condition.h"

namespace graphmend {

namespace {

// Whether what is inside must stay as it is: it runs at another time, or is a field of an f-string, which may show its
// own text and before 3.12 takes no quotes.
bool stays_as_it_is(NodeKind kind) {
  switch (kind) {
    case NodeKind::FString:
    case NodeKind::Lambda:
    case NodeKind::GeneratorExp:
    case NodeKind::ListComp:
    case NodeKind::SetComp:
    case NodeKind::DictComp:
      return true;
    default:
      return false;
  }
}

class Substitution {
 public:
  explicit Substitution(const MendContext& context) : context_(context), tree_(context.tree) {}

  void header(NodeId statement) {
    const NodeKind kind = tree_.kind(statement);
    if (kind == NodeKind::Import || kind == NodeKind::ImportFrom) {
      if (!is_asked_for("import")) return;
      if (auto made = substitute_import(context_, statement)) found_.push_back(std::move(*made));
      return;
    }
    if (kind == NodeKind::Assign) assignment(statement);
    if (kind == NodeKind::For && (tree_[statement].flags & node_flag::kAsync) == 0) {
      iteration(tree_.end_of(tree_.first_child(statement)));
    }
    for (NodeId part : tree_.children(statement)) {
      const NodeGroup group = node_group(tree_.kind(part));
      if (group == NodeGroup::Clause && tree_.kind(part) != NodeKind::WithItem) continue;
      if (group == NodeGroup::Statement) continue;
      expressions(part);
    }
  }

  std::vector<Substituted> take() { return std::move(found_); }

 private:
  bool is_asked_for(std::string_view name) const {
    const std::vector<std::string>& names = context_.request.substitutes;
    return std::find(names.begin(), names.end(), name) != names.end();
  }

  void expressions(NodeId root) {
    for (NodeId id = root; id < tree_.end_of(root);) {
      const NodeKind kind = tree_.kind(id);
      if (stays_as_it_is(kind)) {
        // What is gone through first is evaluated where the whole stands.
        if (NodeId first = first_iterable(id)) {
          iteration(first);
          expressions(first);
        }
        id = tree_.end_of(id);
        continue;
      }
      if (kind == NodeKind::Call) call(id);
      if (kind == NodeKind::Attribute) attribute(id);
      ++id;
    }
  }

  // Of a comprehension or a generator.
  NodeId first_iterable(NodeId id) const {
    if (tree_.kind(id) == NodeKind::FString || tree_.kind(id) == NodeKind::Lambda) return NodeId();
    for (NodeId part : tree_.children(id)) {
      if (tree_.kind(part) != NodeKind::Comprehension) continue;
      if ((tree_[part].flags & node_flag::kAsync) != 0) return NodeId();
      return tree_.end_of(tree_.first_child(part));
    }
    return NodeId();
  }

  bool has_out(NodeId call) const {
    for (NodeId argument : tree_.children(call)) {
      if (tree_.kind(argument) == NodeKind::Keyword && context_.token_at(tree_[argument].first_token) == "out") {
        return true;
      }
    }
    return false;
  }

  void call(NodeId id) {
    NodeId callee = tree_.first_child(id);
    const bool is_method = tree_.kind(callee) == NodeKind::Attribute;
    if (!is_method && tree_.kind(callee) != NodeKind::Name) return;
    const std::string name(context_.token_at(tree_[callee].last_token));
    // What is made to be entered does not show as another object where nothing else is done with it.
    const bool is_entered = tree_.kind(tree_.parent(id)) == NodeKind::WithItem && tree_.parent(id) + 1 == id;
    const bool writes_out = is_asked_for("out=") && has_out(id);
    if (!is_asked_for(name) && !(is_entered && is_asked_for("with " + name)) && !writes_out) return;
    const TokenId open = tree_[callee].last_token + 1;
    // A callee in parentheses is nobody's habit.
    if (context_.token_at(open) != "(" || binds_or_waits(tree_, id)) return;
    for (NodeId argument : tree_.children(id)) {
      if (tree_.kind(argument) == NodeKind::GeneratorExp) return;
    }
    NodeId value = is_method && !writes_out ? tree_.first_child(callee) : callee;
    const bool is_unused = tree_.kind(tree_.parent(id)) == NodeKind::ExprStatement;
    const std::string_view mark = writes_out && is_unused ? "into" : value != callee ? "method" : "function";
    Substituted made = begin(id, mark, name, value);
    const Span span = context_.span(id);
    made.text.add(", ", span);
    made.text.copy({context_.tokens[open].end, context_.tokens[tree_[id].last_token].start});
    made.text.add("))", span);
    found_.push_back(std::move(made));
  }

  // `for item in values`
  void iteration(NodeId values) {
    if (!is_asked_for("for") || binds_or_waits(tree_, values)) return;
    const Span span = context_.span(values);
    Substituted made{PieceText(context_.text), span, context_.site(values, "iterate")};
    made.text.add("(__graphmend__.iterated('" + made.site + "', (", span);
    made.text.copy(span);
    made.text.add(")))", span);
    found_.push_back(std::move(made));
  }

  void attribute(NodeId id) {
    const std::string name(context_.token_at(tree_[id].last_token));
    if (!is_asked_for("." + name) || binds_or_waits(tree_, id) || is_callee(id) || is_target(id)) return;
    Substituted made = begin(id, "attribute", name, tree_.first_child(id));
    made.text.add("))", context_.span(id));
    found_.push_back(std::move(made));
  }

  // `x.name = constant`: the target is one that takes no notice, where x has that value already. `x.name = value`: it
  // is one that does what the assignment does.
  void assignment(NodeId id) {
    const AssignView view(tree_, id);
    const std::string_view value = context_.text_of(view.value);
    const bool is_constant = value == "True" || value == "False";
    for (NodeId target : view.targets) {
      if (tree_.kind(target) != NodeKind::Attribute) continue;
      const std::string name(context_.token_at(tree_[target].last_token));
      NodeId owner = tree_.first_child(target);
      const bool takes_any = is_asked_for("." + name + " = value");
      if (!takes_any && !(is_constant && is_asked_for("." + name + " ="))) continue;
      if (binds_or_waits(tree_, owner)) continue;
      Substituted made{PieceText(context_.text), context_.span(owner), context_.site(target, "substitute")};
      made.text.add("(", made.replaced);
      made.text.copy(made.replaced);
      made.text.add(" if not __graphmend__.tracing() else __graphmend__.target('" + made.site + "', '" + name + "', ",
                    made.replaced);
      made.text.copy(made.replaced);
      made.text.add(takes_any ? "))" : ", " + std::string(value) + "))", made.replaced);
      found_.push_back(std::move(made));
    }
  }

  bool is_callee(NodeId id) const {
    NodeId parent = tree_.parent(id);
    return parent && tree_.kind(parent) == NodeKind::Call && tree_.first_child(parent) == id;
  }

  bool is_target(NodeId id) const {
    NodeId parent = tree_.parent(id);
    if (!parent) return true;
    switch (tree_.kind(parent)) {
      case NodeKind::Assign:
        return AssignView(tree_, parent).value != id;
      case NodeKind::AugAssign:
      case NodeKind::AnnAssign:
      case NodeKind::For:
        return tree_.first_child(parent) == id;
      case NodeKind::Delete:
      case NodeKind::Tuple:
      case NodeKind::List:
      case NodeKind::Starred:
      case NodeKind::WithItem:
        return true;
      default:
        return false;
    }
  }

  // `(own text if not tracing() else mark(site, 'name', (value)`
  Substituted begin(NodeId whole, std::string_view mark, const std::string& name, NodeId value) const {
    const Span span = context_.span(whole);
    Substituted made{PieceText(context_.text), span, context_.site(whole, "substitute")};
    made.text.add("(", span);
    made.text.copy(span);
    made.text.add(" if not __graphmend__.tracing() else __graphmend__." + std::string(mark) + "('" + made.site +
                      "', '" + name + "', (",
                  span);
    made.text.copy(context_.span(value));
    made.text.add(")", span);
    return made;
  }

  const MendContext& context_;
  const Tree& tree_;
  std::vector<Substituted> found_;
};

}  // namespace

std::vector<Substituted> substitute(const MendContext& context, NodeId statement) {
  if (context.request.substitutes.empty()) return {};
  Substitution substitution(context);
  substitution.header(statement);
  return substitution.take();
}

}  // namespace graphmend
