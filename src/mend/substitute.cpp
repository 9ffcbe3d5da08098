// Substitute. In: a statement. Out: `x.name(a)` as `method(site, 'name', x, a)`, `name(a)` as `function(site, 'name',
// name, a)`, and so on, beside the user's own text, which runs in eager.
#include "mend/substitute.h"

#include <algorithm>

#include "mend/traced_condition.h"

namespace graphmend {

namespace {

class Substitution {
 public:
  explicit Substitution(const MendContext& context) : context_(context), tree_(context.tree) {}

  void header(NodeId statement) {
    const NodeKind kind = tree_.kind(statement);
    if (kind == NodeKind::Import || kind == NodeKind::ImportFrom) return import(statement);
    if (kind == NodeKind::Assign) {
      assignment(statement);
      exchange(statement);
    }
    if (kind == NodeKind::Raise) raised(statement);
    if (kind == NodeKind::ExprStatement && output(statement)) return;
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
      // What runs at another time is another statement's concern; fields of f-strings may show their own text.
      if (kind == NodeKind::FString || kind == NodeKind::Lambda || kind == NodeKind::GeneratorExp ||
          kind == NodeKind::ListComp || kind == NodeKind::SetComp || kind == NodeKind::DictComp) {
        id = tree_.end_of(id);
        continue;
      }
      if (kind == NodeKind::Call) call(id);
      if (kind == NodeKind::Attribute) attribute(id);
      ++id;
    }
  }

  void call(NodeId id) {
    NodeId callee = tree_.first_child(id);
    const bool is_method = tree_.kind(callee) == NodeKind::Attribute;
    if (!is_method && tree_.kind(callee) != NodeKind::Name) return;
    const std::string name(context_.token_at(tree_[callee].last_token));
    // What is made to be entered does not show as another object where nothing else is done with it.
    const bool is_entered = tree_.kind(tree_.parent(id)) == NodeKind::WithItem && tree_.parent(id) + 1 == id;
    if (!is_asked_for(name) && !(is_entered && is_asked_for("with " + name)) &&
        !(has_output(id) && is_asked_for("out= " + name))) {
      return;
    }
    wrap_call(id, name);
  }

  bool wrap_call(NodeId id, const std::string& name, std::string_view mark = "") {
    NodeId callee = tree_.first_child(id);
    const bool is_method = tree_.kind(callee) == NodeKind::Attribute;
    const TokenId open = tree_[callee].last_token + 1;
    // A callee in parentheses is nobody's habit.
    if (context_.token_at(open) != "(" || binds_or_waits(tree_, id)) return false;
    for (NodeId argument : tree_.children(id)) {
      if (tree_.kind(argument) == NodeKind::GeneratorExp) return false;
    }
    NodeId value = is_method ? tree_.first_child(callee) : callee;
    if (mark.empty()) mark = is_method ? "method" : "function";
    Substituted made = begin(id, mark, name, value);
    const Span span = context_.span(id);
    made.text.add(", ", span);
    made.text.copy({context_.tokens[open].end, context_.tokens[tree_[id].last_token].start});
    made.text.add("))", span);
    found_.push_back(std::move(made));
    return true;
  }

  void attribute(NodeId id) {
    const std::string name(context_.token_at(tree_[id].last_token));
    if (!is_asked_for("." + name) || binds_or_waits(tree_, id) || is_callee(id) || is_target(id)) return;
    Substituted made = begin(id, "attribute", name, tree_.first_child(id));
    made.text.add("))", context_.span(id));
    found_.push_back(std::move(made));
  }

  // `x.name = constant`: the target is one that takes no notice, where x has that value already.
  void assignment(NodeId id) {
    const AssignView view(tree_, id);
    const std::string_view value = context_.text_of(view.value);
    if (value != "True" && value != "False") return;
    for (NodeId target : view.targets) {
      if (tree_.kind(target) != NodeKind::Attribute) continue;
      const std::string name(context_.token_at(tree_[target].last_token));
      NodeId owner = tree_.first_child(target);
      if (!is_asked_for("." + name + " =") || binds_or_waits(tree_, owner)) continue;
      Substituted made{PieceText(context_.text), context_.span(owner), context_.site(target, "substitute")};
      made.text.add("(", made.replaced);
      made.text.copy(made.replaced);
      made.text.add(" if not __graphmend__.tracing() else __graphmend__.target('" + made.site + "', '" + name + "', ",
                    made.replaced);
      made.text.copy(made.replaced);
      made.text.add(", " + std::string(value) + "))", made.replaced);
      found_.push_back(std::move(made));
    }
  }

  // `y = torch.empty(0)` and next `y.data = x`: nobody else knows the tensor, so that it may be another.
  void exchange(NodeId id) {
    const AssignView view(tree_, id);
    NodeId target = *view.targets.begin();
    if (!is_asked_for(".data =") || tree_.kind(target) != NodeKind::Attribute ||
        tree_.next_sibling(target) != view.value)
      return;
    NodeId owner = tree_.first_child(target);
    if (context_.token_at(tree_[target].last_token) != "data" || tree_.kind(owner) != NodeKind::Name) return;
    const std::string name(context_.text_of(owner));
    if (!is_new(id, name) || binds_or_waits(tree_, view.value)) return;
    for (NodeId each = view.value; each < tree_.end_of(view.value); ++each) {
      if (tree_.kind(each) == NodeKind::Name && context_.text_of(each) == name) return;
    }
    const Span span = context_.span(id);
    const std::string site = context_.site(id, "substitute");
    Substituted before{PieceText(context_.text), {span.start, span.start}, site};
    before.text.add(name + " = " + name + " if not __graphmend__.tracing() else __graphmend__.Holder(" + name + "); ",
                    span);
    // Asked in eager too: what was begun in a trace may go on behind a break.
    Substituted after{PieceText(context_.text), {span.end, span.end}, site};
    after.text.add("; " + name + " = __graphmend__.held('" + site + "', " + name + ")", span);
    found_.push_back(std::move(before));
    found_.push_back(std::move(after));
  }

  // Whether a statement stands in a `try` whose handlers catch this exception, do not look at it, and raise nothing:
  // then one is as good as another.
  bool is_caught(NodeId statement, std::string_view exception, std::string_view base) const {
    NodeId inner = statement;
    for (NodeId outer = tree_.parent(inner); outer; inner = outer, outer = tree_.parent(outer)) {
      const NodeKind kind = tree_.kind(outer);
      // What is entered may look at the exceptions that pass.
      if (kind == NodeKind::FunctionDef || kind == NodeKind::ClassDef || kind == NodeKind::With) return false;
      if (kind != NodeKind::Try || tree_.first_child(outer) != inner) continue;
      bool catches = false;
      for (NodeId clause : tree_.children(outer)) {
        if (tree_.kind(clause) != NodeKind::ExceptHandler) continue;
        if (tree_[clause].flags & node_flag::kHasName) return false;
        for (NodeId id = clause; id < tree_.end_of(clause); ++id) {
          if (tree_.kind(id) == NodeKind::Raise) return false;
        }
        const std::string_view type = context_.text_of(tree_.first_child(clause));
        catches = catches || type == exception || type == base || type == "Exception";
      }
      return catches;
    }
    return false;
  }

  // `import a`: where the module is missing, the trace is told.
  void import(NodeId id) {
    if (!is_asked_for("import") || tree_.kind(id) != NodeKind::Import) return;
    if (!is_caught(id, "ModuleNotFoundError", "ImportError")) return;
    const Span span = context_.span(id);
    NodeId alias;
    for (NodeId each : tree_.children(id)) {
      if (alias) return;
      alias = each;
    }
    std::string name;
    for (TokenId token = tree_[alias].first_token; token <= tree_[alias].last_token; ++token) {
      if (context_.token_at(token) == "as") break;
      name += context_.token_at(token);
    }
    Substituted made{PieceText(context_.text), {span.start, span.start}, context_.site(id, "substitute")};
    made.text.add("__graphmend__.tracing() and __graphmend__.imports('" + made.site + "', '" + name + "'); ", span);
    found_.push_back(std::move(made));
  }

  // `raise AssertionError(…)`: another one, where nobody looks at it.
  void raised(NodeId id) {
    NodeId made_of = tree_.first_child(id);
    if (!made_of || !is_asked_for("raise AssertionError") || tree_.kind(made_of) != NodeKind::Call) return;
    if (context_.text_of(tree_.first_child(made_of)) != "AssertionError") return;
    if (is_caught(id, "AssertionError", "AssertionError")) wrap_call(made_of, "AssertionError");
  }

  // `out = torch.empty(0)` and next `torch.add(x, y, out=out)`: nobody else knows the tensor, so that it may be
  // another.
  bool output(NodeId id) {
    NodeId call = tree_.first_child(id);
    if (!is_asked_for("resized=") || tree_.kind(call) != NodeKind::Call) return false;
    NodeId callee = tree_.first_child(call);
    if (tree_.kind(callee) != NodeKind::Attribute || context_.text_of(tree_.first_child(callee)) != "torch")
      return false;
    NodeId outputs;
    for (NodeId argument : tree_.children(call)) {
      if (tree_.kind(argument) == NodeKind::Keyword && context_.token_at(tree_[argument].first_token) == "out") {
        outputs = tree_.first_child(argument);
      }
    }
    if (!outputs) return false;
    std::vector<NodeId> names;
    if (tree_.kind(outputs) == NodeKind::Name) names.push_back(outputs);
    if (tree_.kind(outputs) == NodeKind::Tuple) {
      for (NodeId each : tree_.children(outputs)) names.push_back(each);
    }
    if (names.empty() || (names.size() == 1 && names[0] != outputs)) return false;
    std::string targets;
    for (NodeId name : names) {
      if (tree_.kind(name) != NodeKind::Name || !is_new(id, context_.text_of(name))) return false;
      targets += (targets.empty() ? "" : ", ") + std::string(context_.text_of(name));
    }
    const Span span = context_.span(call);
    if (!wrap_call(call, std::string(context_.token_at(tree_[callee].last_token)), "resized")) return false;
    PieceText whole(context_.text);
    whole.add(targets + " = ", span);
    whole.append(found_.back().text);
    found_.back().text = std::move(whole);
    return true;
  }

  // Whether the statements right before this one bind the name to a tensor that was just made.
  bool is_new(NodeId statement, std::string_view name) const {
    std::vector<NodeId> before;
    for (NodeId each : tree_.children(tree_.parent(statement))) {
      if (each == statement) break;
      before.push_back(each);
    }
    for (; !before.empty() && tree_.kind(before.back()) == NodeKind::Assign; before.pop_back()) {
      const AssignView view(tree_, before.back());
      NodeId target = *view.targets.begin();
      if (tree_.next_sibling(target) != view.value) return false;
      std::vector<NodeId> targets{target};
      std::vector<NodeId> values{view.value};
      if (tree_.kind(target) == NodeKind::Tuple && tree_.kind(view.value) == NodeKind::Tuple) {
        targets.assign(tree_.children(target).begin(), tree_.children(target).end());
        values.assign(tree_.children(view.value).begin(), tree_.children(view.value).end());
      }
      if (targets.size() != values.size()) return false;
      for (size_t i = 0; i < targets.size(); ++i) {
        if (tree_.kind(targets[i]) != NodeKind::Name || !makes_a_tensor(values[i])) return false;
        if (context_.text_of(targets[i]) == name) return true;
      }
    }
    return false;
  }

  bool makes_a_tensor(NodeId value) const {
    if (tree_.kind(value) != NodeKind::Call) return false;
    const std::string_view maker = context_.text_of(tree_.first_child(value));
    return maker == "torch.empty" || maker == "torch.zeros" || maker == "torch.ones" || maker == "torch.tensor" ||
           maker == "torch.empty_like" || maker == "torch.zeros_like" || maker == "torch.ones_like";
  }

  bool has_output(NodeId call) const {
    for (NodeId argument : tree_.children(call)) {
      if (tree_.kind(argument) == NodeKind::Keyword && context_.token_at(tree_[argument].first_token) == "out")
        return true;
    }
    return false;
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
