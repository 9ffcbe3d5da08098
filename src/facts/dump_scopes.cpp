// Scopes as text. In: text, Tokens, Tree, Scopes. Out: one line for each scope and each symbol, in CPython's order.
#include "facts/dump_scopes.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "parse/views.h"
#include "source/line_index.h"

namespace graphmend {

namespace {

// As in dump_tree: deeper lines show their depth as a number.
constexpr size_t kMaxIndentation = 64;

// The names that `SymbolTable.get_type` has for them.
std::string_view type_name(ScopeKind kind) {
  switch (kind) {
    case ScopeKind::Module:
      return "module";
    case ScopeKind::Class:
      return "class";
    case ScopeKind::Function:
    case ScopeKind::Lambda:
    case ScopeKind::ListComp:
    case ScopeKind::SetComp:
    case ScopeKind::DictComp:
    case ScopeKind::GeneratorExp:
      return "function";
    case ScopeKind::Annotation:
      return "annotation";
    case ScopeKind::TypeParams:
      return "type-parameters";
    case ScopeKind::TypeVariable:
      return "type-variable";
    case ScopeKind::TypeAlias:
      return "type-alias";
  }
  return {};
}

std::string_view symbol_kind_name(SymbolScope kind) {
  switch (kind) {
    case SymbolScope::Unknown:
      return "unknown";
    case SymbolScope::Local:
      return "local";
    case SymbolScope::GlobalExplicit:
      return "global-explicit";
    case SymbolScope::GlobalImplicit:
      return "global-implicit";
    case SymbolScope::Free:
      return "free";
    case SymbolScope::Cell:
      return "cell";
  }
  return {};
}

constexpr std::pair<uint16_t, std::string_view> kFlagNames[] = {
    {symbol_flag::kGlobal, "global"},
    {symbol_flag::kAssigned, "assigned"},
    {symbol_flag::kParameter, "parameter"},
    {symbol_flag::kNonlocal, "nonlocal"},
    {symbol_flag::kReferenced, "referenced"},
    {symbol_flag::kFreeInClass, "free-in-class"},
    {symbol_flag::kImported, "imported"},
    {symbol_flag::kAnnotated, "annotated"},
    {symbol_flag::kComprehensionTarget, "comprehension-target"},
    {symbol_flag::kTypeParameter, "type-parameter"},
    {symbol_flag::kComprehensionCell, "comprehension-cell"},
    {symbol_flag::kNamespace, "namespace"},
};

class ScopeDump {
 public:
  ScopeDump(std::string_view text, const Tokens& tokens, const Tree& tree, const Scopes& scopes)
      : tokens_(tokens), tree_(tree), scopes_(scopes), lines_(text) {}

  std::string run() {
    std::vector<uint32_t> ends;
    for (ScopeId id = Scopes::module(); id.index < scopes_.scope_count(); ++id) {
      while (!ends.empty() && ends.back() <= id.index) ends.pop_back();
      depth_ = ends.size();
      ends.push_back(id.index + scopes_[id].size);
      write_scope(id);
    }
    return std::move(out_);
  }

 private:
  void write_scope(ScopeId id) {
    const ScopeInfo& scope = scopes_[id];
    write_indentation(depth_);
    out_ += type_name(scope.kind);
    out_ += ' ';
    write_place(id);
    if (scope.nested) out_ += " nested";
    if (scope.inlined) out_ += " inlined";
    if (scope.hidden) out_ += " hidden";
    out_ += '\n';
    for (uint32_t i = 0; i < scope.symbol_count; ++i) write_symbol(scope.first_symbol + i);
  }

  void write_indentation(size_t depth) {
    out_.append(2 * std::min(depth, kMaxIndentation), ' ');
    if (depth > kMaxIndentation) out_ += '(' + std::to_string(depth) + ") ";
  }

  void write_place(ScopeId id) {
    const std::string_view name = scopes_.name(id);
    out_ += name.empty() ? "-" : name;
    out_ += " line ";
    out_ += std::to_string(line_of(id));
  }

  uint32_t line_of(ScopeId id) const {
    const ScopeInfo& scope = scopes_[id];
    if (scope.kind == ScopeKind::Module) return 0;
    const NodeKind kind = tree_.kind(scope.node);
    const bool defined = kind == NodeKind::FunctionDef || kind == NodeKind::ClassDef;
    TokenId token = defined ? definition_token(tree_, tokens_, scope.node) : tree_[scope.node].first_token;
    // 3.12 took the line of the type variable.
    if (scope.kind == ScopeKind::TypeVariable && scopes_.target().minor < 13) {
      token = tree_[tree_.parent(scope.node)].first_token;
    }
    return lines_.position(tokens_[token].start).line;
  }

  void write_symbol(SymbolId id) {
    const Symbol& symbol = scopes_[id];
    write_indentation(depth_ + 1);
    out_ += scopes_.name(id);
    out_ += ": ";
    out_ += symbol_kind_name(symbol.kind);
    out_ += ',';
    for (const auto& [flag, name] : kFlagNames) {
      if (!symbol.has(flag)) continue;
      out_ += ' ';
      out_ += name;
    }
    out_ += ';';
    if (symbol.has(symbol_flag::kFromComprehension)) out_ += " from-comprehension";
    if (symbol.binding && symbol.binding != id) {
      out_ += " of ";
      write_place(scopes_[symbol.binding].scope);
    }
    const std::span<const NodeId> sites = scopes_.sites(id);
    if (!sites.empty()) out_ += " at";
    for (NodeId site : sites) {
      const Position place = lines_.position(node_span(tree_, tokens_, site).start);
      out_ += ' ' + std::to_string(place.line) + ':' + std::to_string(place.column);
    }
    out_ += '\n';
  }

  const Tokens& tokens_;
  const Tree& tree_;
  const Scopes& scopes_;
  LineIndex lines_;
  size_t depth_ = 0;
  std::string out_;
};

}  // namespace

std::string dump_scopes(std::string_view text, const Tokens& tokens, const Tree& tree, const Scopes& scopes) {
  return ScopeDump(text, tokens, tree, scopes).run();
}

}  // namespace graphmend
