// Declarations `global` and `nonlocal`. In: the names of the scopes around them. Out: errors.
// Names are collected only in the module's statements that hold a declaration, as CPython's symbol table does: by
// scope, in order, so that a declaration sees what came before it. Nonlocal names are resolved at the end.
#include <functional>

#include "facts/later_check.h"
#include "parse/views.h"

namespace graphmend {

namespace {

enum NameUse : uint16_t {
  kUsed = 1,
  kAssigned = 2,
  kParameter = 4,
  kImported = 8,
  kAnnotated = 16,
  kGlobal = 32,
  kNonlocal = 64,
  kTypeParam = 128,
};
constexpr uint16_t kBound = kAssigned | kParameter | kImported;

struct ScopedName {
  uint32_t scope;
  std::string_view name;
  bool operator==(const ScopedName&) const = default;
};

struct ScopedNameHash {
  size_t operator()(const ScopedName& key) const {
    return std::hash<std::string_view>()(key.name) ^ (key.scope * size_t{0x9E3779B97F4A7C15});
  }
};

using Symbols = std::unordered_map<ScopedName, uint16_t, ScopedNameHash>;

struct Nonlocal {
  uint32_t scope;
  std::string_view name;
  TokenId token;
};

// Scopes that statements can stand in or under; the names of the others can be seen by no declaration.
bool keeps_names(ScopeKind kind) {
  return kind == ScopeKind::Module || kind == ScopeKind::Class || kind == ScopeKind::Function ||
         kind == ScopeKind::TypeParams;
}

class Declarations {
 public:
  Declarations(const Tree& tree, const Tokens& tokens, Version target, bool future_annotations, NameTexts& names,
               Diagnostics& errors)
      : tree_(tree),
        tokens_(tokens),
        target_(target),
        names_(names),
        errors_(errors),
        walk_(tree, tokens, target, future_annotations, true) {}

  void read(NodeId statement) {
    for (NodeId id = statement; id < tree_.end_of(statement); ++id) {
      walk_.advance(id);
      walk_.enter(id);
      read_node(id);
    }
  }

  void resolve() {
    for (const Nonlocal& nonlocal : nonlocals_) resolve(nonlocal);
  }

 private:
  void read_node(NodeId id);
  void add(uint32_t scope, TokenId token, uint16_t use) {
    if (token && keeps_names(walk_.scope(scope).kind)) symbols_[key(scope, token)] |= use;
  }
  void add_here(TokenId token, uint16_t use) { add(walk_.scope_index(), token, use); }
  ScopedName key(uint32_t scope, TokenId token) {
    return {scope, names_.mangled(token, walk_.scope(scope).class_name)};
  }
  uint16_t uses(const ScopedName& name) const {
    auto found = symbols_.find(name);
    return found == symbols_.end() ? uint16_t{0} : found->second;
  }
  void add_parameters(NodeId function);
  void add_type_param(NodeId id);
  void add_alias(NodeId id);
  void add_name(NodeId id);
  void add_annotated(NodeId id);
  void add_named_expr(NodeId id);
  void declare(NodeId statement);
  void resolve(const Nonlocal& nonlocal);
  void report(TokenId token, std::string message) { errors_.push_back({tokens_[token].span(), std::move(message)}); }

  const Tree& tree_;
  const Tokens& tokens_;
  Version target_;
  NameTexts& names_;
  Diagnostics& errors_;
  ScopeWalk walk_;
  Symbols symbols_;
  std::vector<Nonlocal> nonlocals_;
};

void Declarations::read_node(NodeId id) {
  switch (tree_.kind(id)) {
    case NodeKind::FunctionDef:
      add_here(name_token(tree_, tokens_, id), kAssigned);
      return add_parameters(id);
    case NodeKind::ClassDef:
      return add_here(name_token(tree_, tokens_, id), kAssigned);
    case NodeKind::TypeVar:
    case NodeKind::ParamSpec:
    case NodeKind::TypeVarTuple:
      return add_type_param(id);
    case NodeKind::Alias:
      return add_alias(id);
    case NodeKind::ExceptHandler:
      return add_here(name_token(tree_, tokens_, id), kAssigned);
    case NodeKind::MatchAs:
    case NodeKind::MatchStar:
    case NodeKind::MatchRest: {
      TokenId token = name_token(tree_, tokens_, id);
      if (token && names_.plain(token) != "_") add_here(token, kAssigned);
      return;
    }
    case NodeKind::Name:
      return add_name(id);
    case NodeKind::AnnAssign:
      return add_annotated(id);
    case NodeKind::NamedExpr:
      return add_named_expr(id);
    case NodeKind::Global:
    case NodeKind::Nonlocal:
      return declare(id);
    default:
      return;
  }
}

void Declarations::add_parameters(NodeId function) {
  NodeId parameters = FunctionView(tree_, function).parameters;
  if (!parameters) return;
  for (NodeId parameter : tree_.children(parameters)) {
    if (tree_.kind(parameter) != NodeKind::Parameter) continue;
    add(walk_.newest_scope(), name_token(tree_, tokens_, parameter), kParameter);
  }
}

void Declarations::add_type_param(NodeId id) {
  TokenId token = name_token(tree_, tokens_, id);
  if (!token) return;
  // Of a class's scopes, only the names of its type parameters are private to it.
  NodeId owner = tree_.parent(tree_.parent(id));
  const bool of_class = tree_.kind(owner) == NodeKind::ClassDef;
  TokenId class_name = of_class ? name_token(tree_, tokens_, owner) : walk_.scope().class_name;
  symbols_[{walk_.scope_index(), names_.mangled(token, class_name)}] |= kAssigned | kTypeParam;
}

void Declarations::add_alias(NodeId id) {
  const Node& alias = tree_[id];
  // `import a.b` binds `a`.
  TokenId token = alias.has(node_flag::kHasName) ? alias.last_token : alias.first_token;
  if (tokens_[token].kind == TokenKind::Name) add_here(token, kImported);
}

void Declarations::add_name(NodeId id) {
  NodeId parent = tree_.parent(id);
  // See add_annotated.
  if (tree_.kind(parent) == NodeKind::AnnAssign && tree_.first_child(parent) == id) return;
  TokenId token = tree_[id].first_token;
  const bool load = tree_[id].context() == Context::Load;
  add_here(token, load ? kUsed : kAssigned);
  // `super` stands for a use of `__class__`.
  if (load && walk_.scope().kind == ScopeKind::Function && names_.plain(token) == "super") {
    symbols_[{walk_.scope_index(), "__class__"}] |= kUsed;
  }
}

void Declarations::add_annotated(NodeId id) {
  NodeId target = tree_.first_child(id);
  if (!target || tree_.kind(target) != NodeKind::Name) return;
  TokenId token = tree_[target].first_token;
  const bool simple = tree_[id].has(node_flag::kSimple);
  const uint16_t before = uses(key(walk_.scope_index(), token));
  if (simple && (before & (kGlobal | kNonlocal)) && walk_.scope().kind != ScopeKind::Module) {
    std::string_view keyword = before & kGlobal ? "`global`" : "`nonlocal`";
    report(token, "annotation of " + quoted(names_.plain(token)) + ", which is declared " + std::string(keyword));
  }
  if (simple) {
    add_here(token, kAssigned | kAnnotated);
  } else if (tree_[id].has_optional(0)) {
    add_here(token, kAssigned);
  }
}

// In a comprehension the name is bound in the scope around it.
void Declarations::add_named_expr(NodeId id) {
  uint32_t scope = walk_.scope_index();
  if (!is_comprehension(walk_.scope(scope).kind)) return;
  NodeId target = tree_.first_child(id);
  if (!target || tree_.kind(target) != NodeKind::Name) return;
  while (is_comprehension(walk_.scope(scope).kind) || walk_.scope(scope).kind == ScopeKind::Annotation) {
    scope = walk_.scope(scope).parent;
  }
  add(scope, tree_[target].first_token, walk_.scope(scope).kind == ScopeKind::Module ? kGlobal : kAssigned);
}

void Declarations::declare(NodeId statement) {
  const bool global = tree_.kind(statement) == NodeKind::Global;
  const std::string keyword = global ? "`global`" : "`nonlocal`";
  const uint32_t scope = walk_.scope_index();
  if (!global && walk_.scope().kind == ScopeKind::Module) {
    return report(tree_[statement].first_token, "`nonlocal` at module level");
  }
  for (NodeId identifier : tree_.children(statement)) {
    TokenId token = name_token(tree_, tokens_, identifier);
    if (!token) continue;
    const ScopedName name = key(scope, token);
    const std::string spelled = quoted(names_.plain(token));
    const uint16_t before = uses(name);
    if (before & kParameter) {
      report(token, "parameter " + spelled + " declared " + keyword);
    } else if (before & kUsed) {
      report(token, spelled + " used before its " + keyword + " declaration");
    } else if (before & kAnnotated) {
      report(token, spelled + " annotated before its " + keyword + " declaration");
    } else if (before & kAssigned) {
      report(token, spelled + " assigned before its " + keyword + " declaration");
    } else if (before & (global ? kNonlocal : kGlobal)) {
      report(token, spelled + " declared both `global` and `nonlocal`");
    } else if (!global) {
      nonlocals_.push_back({scope, name.name, token});
    }
    symbols_[name] |= global ? kGlobal : kNonlocal;
  }
}

void Declarations::resolve(const Nonlocal& nonlocal) {
  bool rebound_in_class = false;
  uint32_t scope = nonlocal.scope;
  do {
    scope = walk_.scope(scope).parent;
    const ScopeKind kind = walk_.scope(scope).kind;
    const uint16_t use = uses({scope, nonlocal.name});
    if (kind == ScopeKind::Module) break;
    if (kind == ScopeKind::Class) {
      // The names of a class are not seen from inside it, but for the cells it makes.
      const std::string_view name = nonlocal.name;
      if (name == "__class__" || (name == "__classdict__" && target_.minor >= 12)) return;
      if (name == "__conditional_annotations__" && target_.minor >= 14) return;
      rebound_in_class = rebound_in_class || ((use & kBound) && !(use & (kGlobal | kNonlocal)));
      continue;
    }
    if (use & kGlobal) break;
    // That declaration is resolved, or reported, by itself.
    if (use & kNonlocal) return;
    if (!(use & kBound)) continue;
    if ((use & kTypeParam) && !rebound_in_class) {
      report(nonlocal.token, "`nonlocal` for the type parameter " + quoted(names_.plain(nonlocal.token)));
    }
    return;
  } while (scope != 0);
  report(nonlocal.token, "no enclosing function binds " + quoted(names_.plain(nonlocal.token)) + " for `nonlocal`");
}

}  // namespace

void LaterErrors::note_declaration(NodeId id) {
  NodeId statement = id;
  if (!with_declarations_.empty() && tree_.contains(with_declarations_.back(), id)) {
    statement = with_declarations_.back();
  } else {
    while (tree_.parent(statement) != Tree::root()) statement = tree_.parent(statement);
    with_declarations_.push_back(statement);
  }
  if (walk_.scope().kind == ScopeKind::Module) declares_in_module_ = true;
}

void LaterErrors::check_declarations() {
  Declarations declarations(tree_, tokens_, target_, future_annotations_, names_, errors_);
  if (declares_in_module_) {
    for (NodeId statement : tree_.children(Tree::root())) declarations.read(statement);
  } else {
    for (NodeId statement : with_declarations_) declarations.read(statement);
  }
  declarations.resolve();
}

}  // namespace graphmend
