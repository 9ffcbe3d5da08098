// Scopes and bindings of a module. In: text, Tokens, Tree, version. Out: `Scopes`.
// Here are the steps' order, the tables they share, and the numbering of the result.
#include "facts/scopes.h"

#include <algorithm>

#include "facts/future_imports.h"
#include "facts/scope_builder.h"
#include "facts/scope_order.h"
#include "parse/views.h"

namespace graphmend {

using namespace symbol_flag;

Scopes compute_scopes(std::string_view text, const Tokens& tokens, const Tree& tree, Version target) {
  return ScopeBuilder(text, tokens, tree, target == kAnyVersion ? Version{13} : target).run();
}

SymbolId Scopes::find(ScopeId scope, std::string_view name) const {
  const ScopeInfo& info = scopes_[scope.index];
  for (uint32_t i = 0; i < info.symbol_count; ++i) {
    if (this->name(info.first_symbol + i) == name) return info.first_symbol + i;
  }
  return SymbolId();
}

ScopeId Scopes::scope_of(NodeId node) const {
  auto after =
      std::upper_bound(runs_.begin(), runs_.end(), node, [](NodeId id, const Run& run) { return id < run.begin; });
  return after == runs_.begin() ? module() : std::prev(after)->scope;
}

ScopeBuilder::ScopeBuilder(std::string_view text, const Tokens& tokens, const Tree& tree, Version target)
    : text_(text),
      tokens_(tokens),
      tree_(tree),
      target_(target),
      texts_(text, tokens),
      walk_(tree, tokens, target, tree.size() > 0 && has_future_annotations(text, tokens, tree, target), true),
      positions_(visit_positions(tree, target)),
      node_entries_(tree.size(), kNone),
      class_name_(intern("__class__")),
      class_dict_name_(intern("__classdict__")) {}

Scopes ScopeBuilder::run() {
  collect();
  order_scopes();
  resolve();
  close();
  mark_namespaces();
  return finish();
}

uint32_t ScopeBuilder::entry_of(uint32_t scope, uint32_t name) {
  uint32_t& place = table_.at(scope, name);
  if (place != kNone) return place;
  const auto index = static_cast<uint32_t>(entries_.size());
  place = index;
  Entry entry;
  entry.name = name;
  entry.scope = scope;
  entries_.push_back(entry);
  State& state = states_[scope];
  if (state.last_symbol == kNone) {
    state.first_symbol = index;
  } else {
    entries_[state.last_symbol].next = index;
  }
  state.last_symbol = index;
  return index;
}

uint32_t ScopeBuilder::add(uint32_t scope, uint32_t name, uint16_t flags, NodeId node) {
  const uint32_t index = entry_of(scope, name);
  if (node) {
    if (node.index < states_[scope].target_end) flags |= kComprehensionTarget;
    node_entries_[node.index] = index;
    if (flags & ~(kReferenced | kComprehensionTarget)) sites_.emplace_back(node, index);
  }
  entries_[index].flags |= flags;
  return index;
}

uint32_t ScopeBuilder::add_token(uint32_t scope, TokenId token, uint16_t flags, NodeId node) {
  return token ? add(scope, mangled(token, scope), flags, node) : kNone;
}

uint32_t ScopeBuilder::mangled(TokenId token, uint32_t scope) {
  const std::string_view plain = texts_.plain(token);
  if (!plain.starts_with("__")) return intern(plain);
  const uint32_t generic = states_[scope].mangles_only;
  if (generic == kNone) return intern(texts_.mangle(plain, walk_.scope(scope).class_name));
  // Only the type parameters seen so far are private to the generic class.
  const uint32_t name = intern(texts_.mangle(plain, name_token(tree_, tokens_, walk_.scope(generic).node)));
  const uint32_t entry = table_.get(generic, name);
  const bool is_parameter = entry != kNone && (entries_[entry].flags & kTypeParameter) != 0;
  return is_parameter ? name : intern(plain);
}

// Sorted by position, and parents before children whatever the positions of a broken tree are.
void ScopeBuilder::order_scopes() {
  const auto count = static_cast<uint32_t>(states_.size());
  std::vector<uint32_t> sorted(count);
  for (uint32_t scope = 0; scope < count; ++scope) {
    sorted[scope] = scope;
    // Never reached: the tree is broken, or there is none.
    if (states_[scope].position == kNone && !positions_.empty()) {
      states_[scope].position = positions_[walk_.scope(scope).node.index];
    }
  }
  // Last first: children are taken from a stack.
  std::sort(sorted.begin(), sorted.end(), [this](uint32_t a, uint32_t b) {
    return states_[a].position != states_[b].position ? states_[a].position > states_[b].position : a > b;
  });
  std::vector<uint32_t> first_child(count, kNone);
  std::vector<uint32_t> next_child(count, kNone);
  for (uint32_t scope : sorted) {
    if (scope == 0) continue;
    next_child[scope] = first_child[parent_of(scope)];
    first_child[parent_of(scope)] = scope;
  }
  order_.reserve(count);
  std::vector<uint32_t> stack = {0};
  while (!stack.empty()) {
    const uint32_t scope = stack.back();
    stack.pop_back();
    states_[scope].rank = static_cast<uint32_t>(order_.size());
    order_.push_back(scope);
    if (next_child[scope] != kNone) stack.push_back(next_child[scope]);
    if (first_child[scope] != kNone) stack.push_back(first_child[scope]);
  }
  for (uint32_t rank = count; rank-- > 1;) states_[parent_of(order_[rank])].size += states_[order_[rank]].size;
}

// As `symtable` does, by name alone: a generator expression makes a namespace of a variable called `genexpr`.
void ScopeBuilder::mark_namespaces() {
  for (uint32_t scope = 1; scope < states_.size(); ++scope) {
    if (states_[scope].inlined || states_[scope].hidden) continue;
    uint32_t parent = parent_of(scope);
    while (states_[parent].inlined) parent = parent_of(parent);
    const uint32_t index = table_.get(parent, states_[scope].name);
    if (index != kNone) entries_[index].flags |= kNamespace;
  }
}

Scopes ScopeBuilder::finish() {
  Scopes scopes;
  scopes.target_ = target_;
  const std::vector<SymbolId> symbol_ids = finish_symbols(scopes);
  finish_nodes(scopes, symbol_ids);
  scopes.name_text_ = std::move(names_.text());
  scopes.name_starts_ = std::move(names_.starts());
  return scopes;
}

std::vector<SymbolId> ScopeBuilder::finish_symbols(Scopes& scopes) {
  std::vector<SymbolId> ids(entries_.size());
  scopes.scopes_.reserve(order_.size());
  scopes.symbols_.reserve(entries_.size());
  for (uint32_t rank = 0; rank < order_.size(); ++rank) {
    const uint32_t scope = order_[rank];
    const State& state = states_[scope];
    ScopeInfo info;
    info.node = state.node;
    if (scope != 0) info.parent = ScopeId(states_[parent_of(scope)].rank);
    info.size = state.size;
    info.name = NameId(state.name);
    info.first_symbol = SymbolId(static_cast<uint32_t>(scopes.symbols_.size()));
    info.kind = kind_of(scope);
    info.nested = state.nested;
    info.inlined = state.inlined;
    info.hidden = state.hidden;
    for (uint32_t index = state.first_symbol; index != kNone; index = entries_[index].next) {
      const Entry& entry = entries_[index];
      ids[index] = info.first_symbol + info.symbol_count++;
      scopes.symbols_.push_back({NameId(entry.name), ScopeId(rank), SymbolId(entry.binding), entry.flags, entry.kind});
    }
    scopes.scopes_.push_back(info);
  }
  for (Symbol& symbol : scopes.symbols_) {
    if (symbol.binding) symbol.binding = ids[symbol.binding.index];
  }
  return ids;
}

void ScopeBuilder::finish_nodes(Scopes& scopes, const std::vector<SymbolId>& symbol_ids) {
  scopes.node_symbols_.resize(node_entries_.size());
  for (size_t node = 0; node < node_entries_.size(); ++node) {
    if (node_entries_[node] != kNone) scopes.node_symbols_[node] = symbol_ids[node_entries_[node]];
  }
  scopes.runs_.reserve(runs_.size());
  for (const auto& [begin, scope] : runs_) scopes.runs_.push_back({begin, ScopeId(states_[scope].rank)});

  // Counting sort by the symbol that is bound; the sites of one stay in source order.
  auto owner = [&](uint32_t entry) {
    const SymbolId id = symbol_ids[entry];
    const SymbolId binding = scopes.symbols_[id.index].binding;
    return binding ? binding : id;
  };
  std::sort(sites_.begin(), sites_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  scopes.site_starts_.assign(scopes.symbols_.size() + 1, 0);
  for (const auto& site : sites_) ++scopes.site_starts_[owner(site.second).index + 1];
  for (size_t i = 1; i < scopes.site_starts_.size(); ++i) scopes.site_starts_[i] += scopes.site_starts_[i - 1];
  std::vector<uint32_t> next(scopes.site_starts_.begin(), scopes.site_starts_.end() - 1);
  scopes.sites_.resize(sites_.size());
  for (const auto& site : sites_) scopes.sites_[next[owner(site.second).index]++] = site.first;
}

}  // namespace graphmend
