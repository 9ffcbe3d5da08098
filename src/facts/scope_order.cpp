// The order in which CPython's symbol table visits nodes. In: Tree, version. Out: a position for each node.
// A subtree keeps its length: where a node's children are visited in another order, each is moved as a whole.
#include "facts/scope_order.h"

#include <algorithm>

#include "parse/views.h"

namespace graphmend {

namespace {

class VisitOrder {
 public:
  VisitOrder(const Tree& tree, Version target) : tree_(tree), target_(target), positions_(tree.size(), 0) {}

  std::vector<uint32_t> run() {
    if (tree_.size() > 0 && places_children(tree_.kind(Tree::root()))) place_children(Tree::root());
    for (NodeId id(1); id.index < tree_.size(); ++id) {
      const NodeId parent = tree_.parent(id);
      if (!places_children(tree_.kind(parent))) {
        positions_[id.index] = positions_[parent.index] + (id.index - parent.index);
      }
      if (places_children(tree_.kind(id))) place_children(id);
    }
    return std::move(positions_);
  }

 private:
  static bool places_children(NodeKind kind) {
    switch (kind) {
      case NodeKind::FunctionDef:
      case NodeKind::Lambda:
      case NodeKind::Parameters:
      case NodeKind::Call:
      case NodeKind::Arguments:
      case NodeKind::IfExp:
      case NodeKind::Dict:
      case NodeKind::ListComp:
      case NodeKind::SetComp:
      case NodeKind::DictComp:
      case NodeKind::GeneratorExp:
      case NodeKind::Comprehension:
      case NodeKind::Try:
        return true;
      default:
        return false;
    }
  }

  void place_children(NodeId id) {
    // Those of a node cut short by a syntax error too.
    next_ = positions_[id.index] + 1;
    switch (tree_.kind(id)) {
      case NodeKind::FunctionDef:
        return place_function(id);
      case NodeKind::Lambda: {
        LambdaView lambda(tree_, id);
        if (lambda.parameters) place_parameters(lambda.parameters);
        return place(lambda.body);
      }
      case NodeKind::Call:
      case NodeKind::Arguments:
        return place_arguments(id);
      case NodeKind::IfExp: {
        IfExpView view(tree_, id);
        place(view.test);
        place(view.body);
        return place(view.orelse);
      }
      case NodeKind::Dict:
        return place_dict(id);
      case NodeKind::ListComp:
      case NodeKind::SetComp:
      case NodeKind::DictComp:
      case NodeKind::GeneratorExp:
        return place_comprehension(id);
      case NodeKind::Try: {
        TryView view(tree_, id);
        place(view.body);
        if (target_.minor < 13) place(view.orelse);
        for (NodeId handler : view.handlers) place(handler);
        if (target_.minor >= 13) place(view.orelse);
        return place(view.final_clause);
      }
      default:
        // Parameters and Comprehension: done with what they are part of.
        return;
    }
  }

  void place(NodeId id) {
    if (!id) return;
    positions_[id.index] = next_;
    next_ += tree_[id].size;
  }

  // Defaults, decorators, type parameters, annotations, body.
  void place_function(NodeId id) {
    FunctionView function(tree_, id);
    if (function.parameters) place_defaults(function.parameters);
    for (NodeId decorator : function.decorators) place(decorator);
    place(function.type_params);
    if (function.parameters) place_annotations(function.parameters);
    place(function.returns);
    place(function.body);
  }

  void place_parameters(NodeId parameters) {
    place_defaults(parameters);
    place_annotations(parameters);
  }

  void place_defaults(NodeId parameters) {
    positions_[parameters.index] = next_;
    for (bool keyword_only : {false, true}) {
      for (NodeId parameter : tree_.children(parameters)) {
        if (tree_.kind(parameter) != NodeKind::Parameter) continue;
        ParameterView view(tree_, parameter);
        if ((view.section == ParameterSection::KeywordOnly) == keyword_only) place(view.default_value);
      }
    }
  }

  // `**kwargs` comes before what follows a `*`.
  void place_annotations(NodeId parameters) {
    for (bool keyword_only : {false, true}) {
      for (NodeId parameter : tree_.children(parameters)) {
        if (tree_.kind(parameter) != NodeKind::Parameter) continue;
        const auto section = static_cast<ParameterSection>(tree_[parameter].op);
        if ((section == ParameterSection::KeywordOnly) == keyword_only) place(parameter);
      }
    }
  }

  void place_arguments(NodeId id) {
    bool has_keywords = false;
    for (NodeId child : tree_.children(id)) {
      const bool keyword = tree_.kind(child) == NodeKind::Keyword;
      has_keywords = has_keywords || keyword;
      if (!keyword) place(child);
    }
    if (!has_keywords) return;
    for (NodeId child : tree_.children(id)) {
      if (tree_.kind(child) == NodeKind::Keyword) place(child);
    }
  }

  // All keys, then all values.
  void place_dict(NodeId id) {
    for (bool values : {false, true}) {
      bool key = true;
      for (NodeId child : tree_.children(id)) {
        const bool unpacked = tree_.kind(child) == NodeKind::DictUnpack;
        if ((unpacked || !key) == values) place(child);
        if (!unpacked) key = !key;
      }
    }
  }

  // The first iterable, then the clauses, then the value before the key.
  void place_comprehension(NodeId id) {
    bool first = true;
    for (NodeId clause : tree_.children(id)) {
      if (tree_.kind(clause) != NodeKind::Comprehension) continue;
      ComprehensionView view(tree_, clause);
      if (first) place(view.iterable);
      positions_[clause.index] = next_;
      place(view.target);
      if (!first) place(view.iterable);
      for (NodeId condition : view.conditions) place(condition);
      first = false;
    }
    if (tree_.kind(id) == NodeKind::DictComp) {
      DictComprehensionView view(tree_, id);
      place(view.value);
      return place(view.key);
    }
    place(ElementComprehensionView(tree_, id).element);
  }

  const Tree& tree_;
  Version target_;
  std::vector<uint32_t> positions_;
  uint32_t next_ = 0;
};

}  // namespace

std::vector<uint32_t> visit_positions(const Tree& tree, Version target) { return VisitOrder(tree, target).run(); }

}  // namespace graphmend
