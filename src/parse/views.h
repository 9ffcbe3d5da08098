// Typed views of nodes. In: Tree, Tokens, text. Out: the named parts of a node, and the names that are tokens.
// A part that is not there is `NodeId()`; views of incomplete nodes (after syntax errors) lack parts but never overrun.
// Kinds with one child or one list need no view: `first_child` and `children` of the tree say it all.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "lex/token.h"
#include "parse/tree.h"

namespace graphmend {

// Hands out the children of a node from first to last.
class ChildCursor {
 public:
  ChildCursor(const Tree& tree, NodeId id) : tree_(tree), next_(id + 1), end_(tree.end_of(id)) {}

  bool done() const { return next_ >= end_; }
  NodeId peek() const { return done() ? NodeId() : next_; }
  bool at(NodeKind kind) const { return !done() && tree_.kind(next_) == kind; }
  NodeId take() {
    if (done()) return NodeId();
    NodeId id = next_;
    next_ = tree_.next_sibling(id);
    return id;
  }
  NodeId take_if(bool present) { return present ? take() : NodeId(); }
  NodeId take_if(NodeKind kind) { return at(kind) ? take() : NodeId(); }
  // The longest run of children of that kind from here on.
  ChildRange take_run(NodeKind kind) {
    NodeId first = next_;
    while (at(kind)) take();
    return {tree_.nodes().data(), first, next_};
  }
  // All that remain but the last one, which stays.
  ChildRange take_all_but_last() {
    NodeId first = next_;
    while (!done() && tree_.next_sibling(next_) < end_) take();
    return {tree_.nodes().data(), first, next_};
  }
  ChildRange take_rest() {
    NodeId first = next_;
    next_ = end_;
    return {tree_.nodes().data(), first, end_};
  }

 private:
  const Tree& tree_;
  NodeId next_;
  NodeId end_;
};

// Statements.

struct FunctionView {
  ChildRange decorators;  // Decorator
  NodeId type_params;
  NodeId parameters;
  NodeId returns;
  NodeId body;

  FunctionView(const Tree& tree, NodeId id) : FunctionView(tree, id, ChildCursor(tree, id)) {}

 private:
  FunctionView(const Tree& tree, NodeId id, ChildCursor cursor)
      : decorators(cursor.take_run(NodeKind::Decorator)),
        type_params(cursor.take_if(tree[id].has_optional(0))),
        parameters(cursor.take_if(NodeKind::Parameters)),
        returns(cursor.take_if(tree[id].has_optional(1))),
        body(cursor.take()) {}
};

struct ClassView {
  ChildRange decorators;  // Decorator
  NodeId type_params;
  NodeId arguments;
  NodeId body;

  ClassView(const Tree& tree, NodeId id) : ClassView(tree, id, ChildCursor(tree, id)) {}

 private:
  ClassView(const Tree& tree, NodeId id, ChildCursor cursor)
      : decorators(cursor.take_run(NodeKind::Decorator)),
        type_params(cursor.take_if(tree[id].has_optional(0))),
        arguments(cursor.take_if(tree[id].has_optional(1))),
        body(cursor.take()) {}
};

struct AssignView {
  ChildRange targets;
  NodeId value;

  AssignView(const Tree& tree, NodeId id) : AssignView(ChildCursor(tree, id)) {}

 private:
  explicit AssignView(ChildCursor cursor) : targets(cursor.take_all_but_last()), value(cursor.take()) {}
};

struct TypeAliasView {
  NodeId name;
  NodeId type_params;
  NodeId value;

  TypeAliasView(const Tree& tree, NodeId id) {
    ChildCursor cursor(tree, id);
    name = cursor.take();
    type_params = cursor.take_if(tree[id].has_optional(0));
    value = cursor.take();
  }
};

struct AugAssignView {
  NodeId target;
  NodeId value;

  AugAssignView(const Tree& tree, NodeId id) {
    ChildCursor cursor(tree, id);
    target = cursor.take();
    value = cursor.take();
  }
};

struct AnnAssignView {
  NodeId target;
  NodeId annotation;
  NodeId value;

  AnnAssignView(const Tree& tree, NodeId id) {
    ChildCursor cursor(tree, id);
    target = cursor.take();
    annotation = cursor.take();
    value = cursor.take_if(tree[id].has_optional(0));
  }
};

struct ForView {
  NodeId target;
  NodeId iterable;
  NodeId body;
  NodeId orelse;  // Else

  ForView(const Tree& tree, NodeId id) {
    ChildCursor cursor(tree, id);
    target = cursor.take();
    iterable = cursor.take();
    body = cursor.take();
    orelse = cursor.take_if(tree[id].has_optional(0));
  }
};

struct WhileView {
  NodeId test;
  NodeId body;
  NodeId orelse;  // Else

  WhileView(const Tree& tree, NodeId id) {
    ChildCursor cursor(tree, id);
    test = cursor.take();
    body = cursor.take();
    orelse = cursor.take_if(tree[id].has_optional(0));
  }
};

struct IfView {
  NodeId test;
  NodeId body;
  ChildRange elifs;  // Elif
  NodeId orelse;     // Else

  IfView(const Tree& tree, NodeId id) : IfView(tree, id, ChildCursor(tree, id)) {}

 private:
  IfView(const Tree& tree, NodeId id, ChildCursor cursor)
      : test(cursor.take()),
        body(cursor.take()),
        elifs(cursor.take_run(NodeKind::Elif)),
        orelse(cursor.take_if(tree[id].has_optional(0))) {}
};

struct ElifView {
  NodeId test;
  NodeId body;

  ElifView(const Tree& tree, NodeId id) {
    ChildCursor cursor(tree, id);
    test = cursor.take();
    body = cursor.take();
  }
};

struct WithView {
  ChildRange items;  // WithItem
  NodeId body;

  WithView(const Tree& tree, NodeId id) : WithView(ChildCursor(tree, id)) {}

 private:
  explicit WithView(ChildCursor cursor) : items(cursor.take_run(NodeKind::WithItem)), body(cursor.take()) {}
};

struct WithItemView {
  NodeId expression;
  NodeId target;

  WithItemView(const Tree& tree, NodeId id) {
    ChildCursor cursor(tree, id);
    expression = cursor.take();
    target = cursor.take_if(tree[id].has_optional(0));
  }
};

struct MatchView {
  NodeId subject;
  ChildRange cases;  // MatchCase

  MatchView(const Tree& tree, NodeId id) : MatchView(ChildCursor(tree, id)) {}

 private:
  explicit MatchView(ChildCursor cursor) : subject(cursor.take()), cases(cursor.take_rest()) {}
};

struct MatchCaseView {
  NodeId pattern;
  NodeId guard;
  NodeId body;

  MatchCaseView(const Tree& tree, NodeId id) {
    ChildCursor cursor(tree, id);
    pattern = cursor.take();
    guard = cursor.take_if(tree[id].has_optional(0));
    body = cursor.take();
  }
};

struct RaiseView {
  NodeId exception;
  NodeId cause;

  RaiseView(const Tree& tree, NodeId id) {
    ChildCursor cursor(tree, id);
    exception = cursor.take_if(tree[id].has_optional(0));
    cause = cursor.take_if(tree[id].has_optional(1));
  }
};

struct TryView {
  NodeId body;
  ChildRange handlers;  // ExceptHandler
  NodeId orelse;        // Else
  NodeId final_clause;  // Finally

  TryView(const Tree& tree, NodeId id) : TryView(tree, id, ChildCursor(tree, id)) {}

 private:
  TryView(const Tree& tree, NodeId id, ChildCursor cursor)
      : body(cursor.take()),
        handlers(cursor.take_run(NodeKind::ExceptHandler)),
        orelse(cursor.take_if(tree[id].has_optional(0))),
        final_clause(cursor.take_if(tree[id].has_optional(1))) {}
};

struct ExceptHandlerView {
  NodeId type;
  NodeId body;

  ExceptHandlerView(const Tree& tree, NodeId id) {
    ChildCursor cursor(tree, id);
    type = cursor.take_if(tree[id].has_optional(0));
    body = cursor.take();
  }
};

struct AssertView {
  NodeId test;
  NodeId message;

  AssertView(const Tree& tree, NodeId id) {
    ChildCursor cursor(tree, id);
    test = cursor.take();
    message = cursor.take_if(tree[id].has_optional(0));
  }
};

// Parameters and type parameters.

struct ParameterView {
  ParameterSection section;
  NodeId annotation;
  // A child of Parameters that follows the Parameter.
  NodeId default_value;

  ParameterView(const Tree& tree, NodeId id) : section(static_cast<ParameterSection>(tree[id].op)) {
    if (tree[id].has_optional(0)) annotation = tree.first_child(id);
    NodeId parent = tree.parent(id);
    NodeId next = tree.next_sibling(id);
    if (tree[id].has_optional(1) && parent && next < tree.end_of(parent)) default_value = next;
  }
};

struct TypeVarView {
  NodeId bound;
  NodeId default_value;

  TypeVarView(const Tree& tree, NodeId id) {
    ChildCursor cursor(tree, id);
    bound = cursor.take_if(tree[id].has_optional(0));
    default_value = cursor.take_if(tree[id].has_optional(1));
  }
};

// Expressions.

struct NamedExprView {
  NodeId target;
  NodeId value;

  NamedExprView(const Tree& tree, NodeId id) {
    ChildCursor cursor(tree, id);
    target = cursor.take();
    value = cursor.take();
  }
};

struct BinOpView {
  NodeId left;
  NodeId right;

  BinOpView(const Tree& tree, NodeId id) {
    ChildCursor cursor(tree, id);
    left = cursor.take();
    right = cursor.take();
  }
};

struct LambdaView {
  NodeId parameters;
  NodeId body;

  LambdaView(const Tree& tree, NodeId id) {
    ChildCursor cursor(tree, id);
    parameters = cursor.take_if(NodeKind::Parameters);
    body = cursor.take();
  }
};

struct IfExpView {
  NodeId body;
  NodeId test;
  NodeId orelse;

  IfExpView(const Tree& tree, NodeId id) {
    ChildCursor cursor(tree, id);
    body = cursor.take();
    test = cursor.take();
    orelse = cursor.take();
  }
};

// ListComp, SetComp and GeneratorExp.
struct ElementComprehensionView {
  NodeId element;
  ChildRange generators;  // Comprehension

  ElementComprehensionView(const Tree& tree, NodeId id) : ElementComprehensionView(ChildCursor(tree, id)) {}

 private:
  explicit ElementComprehensionView(ChildCursor cursor) : element(cursor.take()), generators(cursor.take_rest()) {}
};

// `{**d for …}` has no key and its value is the DictUnpack.
struct DictComprehensionView {
  NodeId key;
  NodeId value;
  ChildRange generators;  // Comprehension

  DictComprehensionView(const Tree& tree, NodeId id) : DictComprehensionView(ChildCursor(tree, id)) {}

 private:
  explicit DictComprehensionView(ChildCursor cursor)
      : key(cursor.take_if(!cursor.at(NodeKind::DictUnpack))), value(cursor.take()), generators(cursor.take_rest()) {}
};

struct ComprehensionView {
  NodeId target;
  NodeId iterable;
  ChildRange conditions;

  ComprehensionView(const Tree& tree, NodeId id) : ComprehensionView(ChildCursor(tree, id)) {}

 private:
  explicit ComprehensionView(ChildCursor cursor)
      : target(cursor.take()), iterable(cursor.take()), conditions(cursor.take_rest()) {}
};

struct CompareView {
  NodeId left;
  ChildRange rest;  // CompareOp and operand by turns

  CompareView(const Tree& tree, NodeId id) : CompareView(ChildCursor(tree, id)) {}

 private:
  explicit CompareView(ChildCursor cursor) : left(cursor.take()), rest(cursor.take_rest()) {}
};

struct CallView {
  NodeId function;
  ChildRange arguments;  // expressions, Starred and Keyword in source order

  CallView(const Tree& tree, NodeId id) : CallView(ChildCursor(tree, id)) {}

 private:
  explicit CallView(ChildCursor cursor) : function(cursor.take()), arguments(cursor.take_rest()) {}
};

struct InterpolationView {
  NodeId expression;
  NodeId format_spec;

  InterpolationView(const Tree& tree, NodeId id) {
    ChildCursor cursor(tree, id);
    expression = cursor.take();
    format_spec = cursor.take_if(tree[id].has_optional(0));
  }
};

struct SubscriptView {
  NodeId value;
  NodeId slice;

  SubscriptView(const Tree& tree, NodeId id) {
    ChildCursor cursor(tree, id);
    value = cursor.take();
    slice = cursor.take();
  }
};

struct SliceView {
  NodeId lower;
  NodeId upper;
  NodeId step;

  SliceView(const Tree& tree, NodeId id) {
    ChildCursor cursor(tree, id);
    lower = cursor.take_if(tree[id].has_optional(0));
    upper = cursor.take_if(tree[id].has_optional(1));
    step = cursor.take_if(tree[id].has_optional(2));
  }
};

// Patterns.

struct MatchMappingView {
  ChildRange entries;  // key and pattern by turns
  NodeId rest;         // MatchRest

  MatchMappingView(const Tree& tree, NodeId id) : MatchMappingView(tree, id, ChildCursor(tree, id)) {}

 private:
  MatchMappingView(const Tree& tree, NodeId id, ChildCursor cursor)
      : entries(tree[id].has_optional(0) ? cursor.take_all_but_last() : cursor.take_rest()), rest(cursor.take()) {}
};

struct MatchClassView {
  NodeId class_name;
  ChildRange arguments;  // patterns, then KeywordPattern

  MatchClassView(const Tree& tree, NodeId id) : MatchClassView(ChildCursor(tree, id)) {}

 private:
  explicit MatchClassView(ChildCursor cursor) : class_name(cursor.take()), arguments(cursor.take_rest()) {}
};

// Names that are tokens.

// The token after `token` that is no comment; the last token of the file is its own successor.
TokenId next_code_token(const Tokens& tokens, TokenId token);

// `def`, `class` or `async`: where a definition starts for CPython, its decorators left out.
TokenId definition_token(const Tree& tree, const Tokens& tokens, NodeId id);

// The token that is the name of the node, as node_kinds.def says for its kind. `TokenId()` when the node has no name
// (a Keyword of `**`, a handler or alias without `as`, a kind that never has one) or the name is missing.
TokenId name_token(const Tree& tree, const Tokens& tokens, NodeId id);

// The identifier as Python compares it: NFKC-normalised.
std::string identifier_text(std::string_view text, const Token& token);

// The dotted name of an Alias before `as`, or `*`.
std::string alias_name(std::string_view text, const Tree& tree, const Tokens& tokens, NodeId id);

struct ImportModule {
  // Empty for `from . import x`.
  std::string name;
  // Number of leading dots.
  uint32_t level = 0;
};

// What an ImportFrom imports from.
ImportModule import_module(std::string_view text, const Tree& tree, const Tokens& tokens, NodeId id);

}  // namespace graphmend
