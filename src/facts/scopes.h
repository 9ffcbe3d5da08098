// Scopes and bindings of a module. In: text, Tokens, Tree, version. Out: `Scopes`: every scope, every symbol, and what
// every name in the tree stands for; the same as CPython's `symtable` (see `ScopeInfo` for inlined comprehensions).
// What a module's `import *`, `exec` or another module does to its names is not known here.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/id.h"
#include "base/version.h"
#include "facts/later_scopes.h"
#include "lex/token.h"
#include "parse/tree.h"

namespace graphmend {

using ScopeId = Id<struct ScopeTag>;
using SymbolId = Id<struct SymbolTag>;
// Equal names of one module have equal ids.
using NameId = Id<struct NameTag>;

// What is done to a name in one scope; the bits are those of CPython.
namespace symbol_flag {
inline constexpr uint16_t kGlobal = 1;  // declared; also the module's symbol of a name declared so anywhere
inline constexpr uint16_t kAssigned = 2;
inline constexpr uint16_t kParameter = 4;
inline constexpr uint16_t kNonlocal = 8;  // declared, or assigned by `:=` in a comprehension
inline constexpr uint16_t kReferenced = 16;
inline constexpr uint16_t kFreeInClass = 64;  // a method uses a variable of that name of a function around the class
inline constexpr uint16_t kImported = 128;
inline constexpr uint16_t kAnnotated = 256;
inline constexpr uint16_t kComprehensionTarget = 512;
inline constexpr uint16_t kTypeParameter = 1024;
inline constexpr uint16_t kComprehensionCell = 2048;  // an inlined comprehension needs it to be a cell
// Not CPython's: a definition of that name makes a scope (`is_namespace`).
inline constexpr uint16_t kNamespace = 4096;
// Not CPython's: the symbol is here only because comprehensions are compiled into the scope around them. It is no
// variable of this scope as a reader sees it; names in the tree stand for the comprehension's own symbol.
inline constexpr uint16_t kFromComprehension = 8192;

inline constexpr uint16_t kBound = kAssigned | kParameter | kImported | kTypeParameter;
}  // namespace symbol_flag

// Where a name lives, with CPython's numbers.
enum class SymbolScope : uint8_t { Unknown, Local, GlobalExplicit, GlobalImplicit, Free, Cell };

struct Symbol {
  // After mangling (`__x` in class C is `_C__x`).
  NameId name;
  ScopeId scope;
  // The symbol whose variable this is: itself for locals and cells, that of the function around for free names, that
  // of the module for globals, that of the class for names of a class used in its annotation scopes. None for a name
  // that the module does not bind (a builtin, or never bound), and for the `__class__` and `__classdict__` that a class
  // provides.
  SymbolId binding;
  uint16_t flags = 0;
  SymbolScope kind = SymbolScope::Unknown;

  bool has(uint16_t flag) const { return (flags & flag) != 0; }
  bool is_local() const { return kind == SymbolScope::Local || kind == SymbolScope::Cell; }
  bool is_global() const { return kind == SymbolScope::GlobalExplicit || kind == SymbolScope::GlobalImplicit; }
};
static_assert(sizeof(Symbol) == 16, "four symbols a cache line");

// Scopes stand in the order in which CPython meets them, parents before children: the scopes inside `s` are
// s+1 … s+size-1. That order is not always the source's: defaults come before decorators, `b` of `a if b else c` first.
struct ScopeInfo {
  // Module, FunctionDef, ClassDef, Lambda, a comprehension; TypeAlias, and for type parameters the definition they
  // belong to; the expression for a bound or a default.
  NodeId node;
  ScopeId parent;
  uint32_t size = 1;
  // As it is written: not mangled; `top`, `lambda`, `listcomp` and so on for those without one.
  NameId name;
  SymbolId first_symbol;
  uint32_t symbol_count = 0;
  ScopeKind kind = ScopeKind::Module;
  // Inside a function, at any depth.
  bool nested = false;
  // Since 3.12: compiled into the scope around. Python's `symtable` does not list it, but its children as its parent's.
  bool inlined = false;
  // In an annotation that is never evaluated (`from __future__ import annotations`). `symtable` does not list it; what
  // is free here makes no cell elsewhere.
  bool hidden = false;
};
static_assert(sizeof(ScopeInfo) == 28, "no padding");

// Functions, and all that behaves like one: lambdas, comprehensions, annotations, type parameters.
constexpr bool is_function_like(ScopeKind kind) { return kind != ScopeKind::Module && kind != ScopeKind::Class; }

class Scopes {
 public:
  static constexpr ScopeId module() { return ScopeId(0); }
  // For which they were made; never `kAnyVersion`.
  Version target() const { return target_; }
  uint32_t scope_count() const { return static_cast<uint32_t>(scopes_.size()); }
  uint32_t symbol_count() const { return static_cast<uint32_t>(symbols_.size()); }
  const ScopeInfo& operator[](ScopeId id) const { return scopes_[id.index]; }
  const Symbol& operator[](SymbolId id) const { return symbols_[id.index]; }
  std::string_view name(NameId id) const {
    const uint32_t start = name_starts_[id.index];
    return std::string_view(name_text_).substr(start, name_starts_[id.index + 1] - start);
  }
  std::string_view name(SymbolId id) const { return name(symbols_[id.index].name); }
  std::string_view name(ScopeId id) const { return name(scopes_[id.index].name); }

  // The symbols of one scope: first those that its own text names, then those that only pass through it.
  std::span<const Symbol> symbols(ScopeId id) const {
    const ScopeInfo& scope = scopes_[id.index];
    return std::span(symbols_).subspan(scope.first_symbol.index, scope.symbol_count);
  }
  // The symbol of that name in that scope; linear in the number of its symbols.
  SymbolId find(ScopeId scope, std::string_view name) const;

  // What a node names, in the scope where it stands (a Parameter: in its function): Name, Parameter, FunctionDef,
  // ClassDef, Alias, ExceptHandler, Identifier (of `global` and `nonlocal`), TypeVar, ParamSpec, TypeVarTuple, MatchAs,
  // MatchStar, MatchRest. None for other nodes, and where nothing is bound (`_` in patterns, `(x): int`).
  SymbolId symbol(NodeId node) const { return node_symbols_[node.index]; }
  // The symbol whose variable the node stands for; none as said at `Symbol::binding`.
  SymbolId binding(NodeId node) const {
    const SymbolId named = symbol(node);
    return named ? symbols_[named.index].binding : SymbolId();
  }
  // Where a variable is bound, deleted, annotated or declared, from whatever scope, in source order. Only symbols that
  // are their own binding have sites. The nodes are those of `symbol`; Names are stores or deletes.
  std::span<const NodeId> sites(SymbolId id) const {
    return std::span(sites_).subspan(site_starts_[id.index], site_starts_[id.index + 1] - site_starts_[id.index]);
  }
  // The scope that evaluates a node: for a definition, that in which it is defined.
  ScopeId scope_of(NodeId node) const;

 private:
  friend class ScopeBuilder;

  // From this node on, nodes lie in that scope.
  struct Run {
    NodeId begin;
    ScopeId scope;
  };

  Version target_;
  std::vector<ScopeInfo> scopes_;
  std::vector<Symbol> symbols_;
  std::vector<SymbolId> node_symbols_;
  std::vector<uint32_t> site_starts_;
  std::vector<NodeId> sites_;
  std::vector<Run> runs_;
  std::string name_text_;
  std::vector<uint32_t> name_starts_;
};

// Exact for targets up to 3.13; `kAnyVersion` is read as 3.13. Since 3.14 annotations have scopes of their own, whose
// implicit names are left out. A tree with errors is read as far as it goes.
Scopes compute_scopes(std::string_view text, const Tokens& tokens, const Tree& tree, Version target = kAnyVersion);

}  // namespace graphmend
