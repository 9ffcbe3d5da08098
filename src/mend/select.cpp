// Select. In: a branch whose test is a tensor. Out: text that, while tracing, computes all sides and joins them.
//
//   if may_select(site) and is_plain(site, (what tests and sides work on,), …) and selects(site, (c1 := T1,)):
//     old = (names,); BODY; side1 = (names,); names = old; ORELSE; names = join(site, (c1,), (side1, …, (names,)))
//   elif T1:              ← from here on it is the user's own text
#include "mend/select.h"

#include <algorithm>
#include <set>

#include "mend/in_vain.h"
#include "mend/sides.h"
#include "mend/traced_condition.h"
#include "parse/views.h"

namespace graphmend {

namespace {

std::vector<NodeId> listed(ChildRange range) {
  std::vector<NodeId> all;
  for (NodeId id : range) all.push_back(id);
  return all;
}

Side side_of(const MendContext& context, NodeId test, std::vector<NodeId> statements) {
  Side side{test, std::move(statements), {}};
  if (!side.statements.empty() && context.tree.kind(side.statements.back()) == NodeKind::Return) {
    side.returned = side.statements.back();
    side.statements.pop_back();
  }
  return side;
}

std::string may_select(const std::string& site, const WorkedOn& worked) {
  return "__graphmend__.may_select('" + site + "')" + and_is_plain(site, worked);
}

class BranchSelect {
 public:
  BranchSelect(const MendContext& context, const ModuleFacts& module, NodeId branch)
      : context_(context), tree_(context.tree), module_(module), branch_(branch), out_(context.text) {
    statement_ = tree_.kind(branch) == NodeKind::Elif ? tree_.parent(branch) : branch;
    serves_ = context.span(tree_.first_child(branch));
  }

  std::optional<Selected> run(std::string& reason) {
    if (!gather(reason) || !allowed(reason) || !indents(reason)) return std::nullopt;
    NodeId function = context_.enclosing(statement_, NodeKind::FunctionDef);
    const FunctionFacts facts(context_, module_, function);
    if (!names(facts, reason)) return std::nullopt;
    Selected result{PieceText(context_.text), {}, context_.site(branch_, "select")};
    if (!write(result.site, reason)) return std::nullopt;
    // The keyword `if` becomes `elif`; an `elif` stays one.
    const uint32_t start = context_.span(branch_).start;
    result.replaced = {start, start};
    result.text = std::move(out_);
    return result;
  }

 private:
  // The sides in order: that of the branch, those behind it, and what happens when all tests fail.
  bool gather(std::string& reason) {
    NodeId function = context_.enclosing(statement_, NodeKind::FunctionDef);
    NodeId in_class = context_.enclosing(statement_, NodeKind::ClassDef);
    if (!function || (in_class && in_class > function)) {
      reason = "it stands outside of a function";
      return false;
    }
    const IfView view(tree_, statement_);
    if (branch_ == statement_) sides_.push_back(side_of(context_, view.test, listed(tree_.children(view.body))));
    for (NodeId elif : view.elifs) {
      if (elif < branch_) continue;
      const ElifView each(tree_, elif);
      sides_.push_back(side_of(context_, each.test, listed(tree_.children(each.body))));
    }
    const bool returns = sides_.front().returns();
    if (view.orelse) {
      sides_.push_back(side_of(context_, {}, listed(tree_.children(tree_.first_child(view.orelse)))));
    } else {
      // Without an `else`, the rest of the block is the other side of a `return`.
      std::vector<NodeId> rest;
      NodeId block = tree_.parent(statement_);
      for (NodeId each : tree_.children(block)) {
        if (returns && each > statement_) rest.push_back(each);
      }
      sides_.push_back(side_of(context_, {}, std::move(rest)));
    }
    for (const Side& side : sides_) {
      if (side.returns() == returns) continue;
      reason = "one side returns and another does not";
      return false;
    }
    return true;
  }

  bool allowed(std::string& reason) {
    for (const Side& side : sides_) {
      if (side.test && (binds_or_waits(tree_, side.test) || binds_late_or_waits(tree_, side.test))) {
        reason = "the test assigns, awaits or yields";
        return false;
      }
      // The first test runs in any case, the others only if those before them fail.
      const bool first = &side == &sides_.front();
      const Effects test = side.test ? module_.effects.of(side.test) : Effects{};
      if (side.test && (!test.pure() || (!first && !test.total()))) {
        reason = "the test does more than compute";
        return false;
      }
      for (NodeId statement : side.statements) {
        const NodeId code = assigns_attribute(statement) ? AssignView(tree_, statement).value : statement;
        if (!only_computes(context_, module_, code, reason)) return false;
      }
      if (NodeId value = returned_value(side)) {
        if (!only_computes(context_, module_, value, reason)) return false;
      }
    }
    return true;
  }

  // `self.scale = …`: the attribute is joined like a name. What it is an attribute of must be a plain local name.
  bool assigns_attribute(NodeId statement) {
    if (tree_.kind(statement) != NodeKind::Assign) return false;
    NodeId target = tree_.first_child(statement);
    const bool is_only_target = tree_.next_sibling(target) == AssignView(tree_, statement).value;
    if (!is_only_target || tree_.kind(target) != NodeKind::Attribute) return false;
    NodeId base = tree_.first_child(target);
    const SymbolId symbol = tree_.kind(base) == NodeKind::Name ? module_.scopes.symbol(base) : SymbolId();
    if (!symbol || !module_.scopes[symbol].is_local()) return false;
    attributes_.insert({std::string(context_.text_of(base)), std::string(context_.token_at(tree_[target].last_token))});
    return true;
  }

  NodeId returned_value(const Side& side) const { return side.returned ? tree_.first_child(side.returned) : NodeId(); }

  // Statements that span lines by indentation can only be repeated at their own depth.
  bool indents(std::string& reason) {
    indent_ = indent_of(context_.span(branch_).start);
    inner_ = indent_ + "    ";
    for (const Side& side : sides_) {
      for (NodeId statement : side.statements) {
        const NodeKind kind = tree_.kind(statement);
        if (kind != NodeKind::If && kind != NodeKind::For) continue;
        const std::string own = indent_of(context_.span(statement).start);
        if (fixed_ && own != inner_) {
          reason = "its sides are indented differently";
          return false;
        }
        fixed_ = true;
        inner_ = own;
      }
    }
    if (inner_.size() > indent_.size() && inner_.starts_with(indent_)) return true;
    reason = "its sides are indented differently";
    return false;
  }

  std::string indent_of(uint32_t offset) const {
    const size_t line = context_.text.substr(0, offset).find_last_of("\r\n\f");
    const size_t start = line == std::string_view::npos ? 0 : line + 1;
    std::string indent(context_.text.substr(start, offset - start));
    return indent.find_first_not_of(" \t") == std::string::npos ? indent : std::string();
  }

  static std::vector<NodeId> ends_of(const Side& side) {
    if (side.statements.empty()) return {};
    return {side.statements.front(), side.statements.back()};
  }

  bool names(const FunctionFacts& facts, std::string& reason) {
    std::set<SymbolId> assigned;
    std::set<SymbolId> needed;
    for (const Side& side : sides_) {
      const std::vector<NodeId> ends = ends_of(side);
      if (ends.empty()) continue;
      for (SymbolId id : facts.liveness.may_assign(ends[0], ends[1])) assigned.insert(id);
      for (SymbolId id : facts.liveness.needs(ends[0], ends[1])) needed.insert(id);
    }
    if (sides_.front().returns() && shows_when_it_returns(assigned)) {
      reason = "a side assigns a name that is seen after it has returned";
      return false;
    }
    const Variables live = facts.liveness.live_out(statement_);
    const auto entries = facts.cfg.entries(statement_);
    for (SymbolId id : assigned) {
      const bool is_out = !sides_.front().returns() && std::binary_search(live.begin(), live.end(), id);
      const bool bound = !entries.empty() && std::all_of(entries.begin(), entries.end(), [&](ElementId entry) {
        return facts.definitions.bound(entry, id) == Definitions::Bound::Yes;
      });
      const std::string name(module_.scopes.name(id));
      if (bound) old_.push_back(name);
      if (!is_out && !needed.contains(id)) continue;
      if (!bound && (needed.contains(id) || !assigned_on_all_sides(facts, id))) {
        reason = "`" + name + "` may have no value before the branch";
        return false;
      }
      if (is_out) out_names_.push_back(name);
    }
    gather_worked_on(assigned, needed);
    if (!attributes_.empty() && sides_.front().returns()) {
      reason = "a side assigns an attribute and returns";
      return false;
    }
    for (const auto& [base, attribute] : attributes_) {
      for (SymbolId id : assigned) {
        if (module_.scopes.name(id) != base) continue;
        reason = "`" + base + "`, whose attribute is assigned, is assigned too";
        return false;
      }
      old_.push_back(base + "." + attribute);
      out_names_.push_back(base + "." + attribute);
    }
    return true;
  }

  // Whether a name that a side assigns is read when the function has returned: on the way out, or by a closure.
  bool shows_when_it_returns(const std::set<SymbolId>& assigned) const {
    if (assigned.empty()) return false;
    for (NodeId around = tree_.parent(statement_); tree_.kind(around) != NodeKind::FunctionDef;
         around = tree_.parent(around)) {
      if (tree_.kind(around) == NodeKind::Try || tree_.kind(around) == NodeKind::With) return true;
    }
    return std::any_of(assigned.begin(), assigned.end(),
                       [&](SymbolId id) { return module_.scopes[id].kind != SymbolScope::Local; });
  }

  void gather_worked_on(const std::set<SymbolId>& assigned, const std::set<SymbolId>& needed) {
    std::set<SymbolId> own;
    for (SymbolId id : assigned) {
      if (!needed.contains(id)) own.insert(id);
    }
    for (const Side& side : sides_) {
      if (side.test) worked_on_.merge(worked_on(context_, module_, side.test, {}));
      for (NodeId statement : side.statements) worked_on_.merge(worked_on(context_, module_, statement, own));
      if (NodeId value = returned_value(side)) worked_on_.merge(worked_on(context_, module_, value, own));
    }
  }

  bool assigned_on_all_sides(const FunctionFacts& facts, SymbolId id) const {
    return std::all_of(sides_.begin(), sides_.end(), [&](const Side& side) {
      const std::vector<NodeId> ends = ends_of(side);
      if (ends.empty()) return false;
      const Variables must = facts.liveness.must_assign(ends[0], ends[1]);
      return std::binary_search(must.begin(), must.end(), id);
    });
  }

  static std::string tuple_of(const std::vector<std::string>& names) {
    std::string text = "(";
    for (const std::string& name : names) text += name + ", ";
    if (names.size() > 1) text.resize(text.size() - 1);
    if (names.size() == 1) text.resize(text.size() - 1);
    return text + ")";
  }

  void line(const std::string& text) { out_.add(inner_ + text + "\n", serves_); }

  std::string local(const char* what) const {
    return "graphmend_" + std::string(what) + std::to_string(context_.span(branch_).start) + "_";
  }

  bool write(const std::string& site, std::string& reason) {
    const std::string keyword = branch_ == statement_ ? "if " : "elif ";
    out_.add(keyword + may_select(site, worked_on_) + " and __graphmend__.selects('" + site + "', (", serves_);
    std::string tests;
    for (size_t i = 0; i + 1 < sides_.size(); ++i) {
      const std::string name = local(("c" + std::to_string(i) + "_").c_str());
      tests += name + ", ";
      out_.add("(" + name + " := ", serves_);
      if (!write_traced_condition(context_, module_.scopes, sides_[i].test, serves_, out_)) {
        reason = "the test is nested too deeply";
        return false;
      }
      out_.add("), ", serves_);
    }
    out_.add(")", serves_);
    for (const auto& [base, attribute] : attributes_) out_.add(", (" + base + ", '" + attribute + "')", serves_);
    out_.add("):\n", serves_);
    if (!old_.empty()) line(local("old") + " = " + tuple_of(old_));
    std::string values;
    for (size_t i = 0; i < sides_.size(); ++i) {
      if (i > 0 && !old_.empty()) line(tuple_of(old_) + " = " + local("old"));
      for (NodeId statement : sides_[i].statements) {
        out_.add(inner_, serves_);
        out_.copy(context_.span(statement));
        out_.add("\n", serves_);
      }
      const std::string name = local(("side" + std::to_string(i) + "_").c_str());
      values += name + ", ";
      if (!sides_[i].returns()) {
        line(name + " = " + tuple_of(out_names_));
        continue;
      }
      out_.add(inner_ + name + " = (", serves_);
      if (NodeId value = returned_value(sides_[i])) {
        out_.add("(", serves_);
        out_.copy(context_.span(value));
        out_.add(")", serves_);
      } else {
        out_.add("None", serves_);
      }
      out_.add(",)\n", serves_);
    }
    const std::string joined = "__graphmend__.join('" + site + "', (" + tests + "), (" + values + "))";
    if (sides_.front().returns()) {
      line("return " + joined + "[0]");
    } else if (out_names_.empty()) {
      line("pass");
    } else {
      line(tuple_of(out_names_) + " = " + joined);
    }
    out_.add(branch_ == statement_ ? indent_ + "el" : indent_, serves_);
    return true;
  }

  const MendContext& context_;
  const Tree& tree_;
  const ModuleFacts& module_;
  const NodeId branch_;
  NodeId statement_;
  Span serves_;
  std::vector<Side> sides_;
  // Names of variables: whose value the sides need as it was, those to join, those that the sides read.
  std::vector<std::string> old_;
  std::vector<std::string> out_names_;
  WorkedOn worked_on_;
  // Attributes that sides assign: of what, and which.
  std::set<std::pair<std::string, std::string>> attributes_;
  std::string indent_;
  std::string inner_;
  bool fixed_ = false;
  PieceText out_;
};

}  // namespace

std::optional<Selected> select_branch(const MendContext& context, const ModuleFacts& facts, NodeId branch,
                                      std::string& reason) {
  return BranchSelect(context, facts, branch).run(reason);
}

std::optional<Selected> select_choice(const MendContext& context, const ModuleFacts& facts, NodeId choice,
                                      std::string& reason) {
  const Tree& tree = context.tree;
  const IfExpView view(tree, choice);
  if (!facts.binds_in_function(tree, choice)) {
    reason = "it stands in a lambda or a comprehension";
    return std::nullopt;
  }
  if (binds_or_waits(tree, choice) || binds_late_or_waits(tree, view.test)) {
    reason = "it assigns, awaits or yields";
    return std::nullopt;
  }
  if (!facts.effects.of(view.test).pure()) {
    reason = "the test does more than compute";
    return std::nullopt;
  }
  for (NodeId side : {view.body, view.orelse}) {
    if (!only_computes(context, facts, side, reason)) return std::nullopt;
  }
  WorkedOn worked;
  for (NodeId part : {view.test, view.body, view.orelse}) worked.merge(worked_on(context, facts, part));
  const Span span = context.span(choice);
  Selected result{PieceText(context.text), span, context.site(choice, "select")};
  const std::string name = "graphmend_c" + std::to_string(span.start) + "_";
  result.text.add("(__graphmend__.join('" + result.site + "', (" + name + ",), ((", span);
  result.text.copy(context.span(view.body));
  result.text.add(",), (", span);
  result.text.copy(context.span(view.orelse));
  result.text.add(",)))[0] if " + may_select(result.site, worked) + " and __graphmend__.selects('" + result.site +
                      "', ((" + name + " := ",
                  span);
  if (!write_traced_condition(context, facts.scopes, view.test, context.span(view.test), result.text)) {
    reason = "the test is nested too deeply";
    return std::nullopt;
  }
  result.text.add("),)) else (", span);
  result.text.copy(span);
  result.text.add("))", span);
  return result;
}

}  // namespace graphmend
