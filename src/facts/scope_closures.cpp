// Which variables closures share. In: resolved entries. Out: cells, free names passed through, inlined comprehensions.
// free(s) = free names of s | (union of free(children) - locals of s); innermost scopes first.
#include <algorithm>

#include "facts/scope_builder.h"

namespace graphmend {

using namespace symbol_flag;

void ScopeBuilder::close() {
  is_inside_.assign(names_.size(), 0);
  is_inlined_cell_.assign(names_.size(), 0);
  is_in_closure_.assign(names_.size(), 0);
  is_dropped_.assign(names_.size(), 0);
  for (size_t rank = order_.size(); rank-- > 0;) close_scope(order_[rank]);
}

void ScopeBuilder::close_scope(uint32_t scope) {
  const uint32_t rank = states_[scope].rank;
  inside_.clear();
  any_inlined_cell_ = false;
  for (uint32_t child = rank + 1; child < rank + states_[scope].size; child += states_[order_[child]].size) {
    const uint32_t inner = order_[child];
    if (kind_of(inner) == ScopeKind::Annotation && states_[inner].hidden) continue;
    if (states_[inner].inlined) inline_comprehension(scope, inner);
    merge_free(scope, inner);
  }
  if (is_function_like(kind_of(scope))) {
    make_cells(scope);
  } else if (kind_of(scope) == ScopeKind::Class) {
    is_inside_[class_name_] = 0;
    is_inside_[class_dict_name_] = 0;
  }
  note_free(scope);
  collect_free(scope);
}

// The symbols of the comprehension become symbols of the scope, where it has none of that name.
void ScopeBuilder::inline_comprehension(uint32_t scope, uint32_t inner) {
  ++inlined_count_;
  const uint32_t mark = states_[scope].rank + 1;
  const bool in_class = kind_of(scope) == ScopeKind::Class;
  for (uint32_t name : states_[inner].free_in_closures) is_in_closure_[name] = inlined_count_;
  for (uint32_t index = states_[inner].first_symbol; index != kNone; index = entries_[index].next) {
    // A copy: entries move when one is added.
    const Entry symbol = entries_[index];
    if (symbol.flags & kParameter) continue;
    SymbolScope kind = symbol.kind;
    if (kind == SymbolScope::Cell || (symbol.flags & kComprehensionCell)) {
      is_inlined_cell_[symbol.name] = mark;
      any_inlined_cell_ = true;
    }
    // No class passes `__class__` on from outside.
    if (kind == SymbolScope::Free && in_class && symbol.name == class_name_) {
      kind = SymbolScope::GlobalImplicit;
      is_dropped_[symbol.name] = inlined_count_;
    }
    const uint32_t existing = table_.get(scope, symbol.name);
    if (existing == kNone) {
      const uint32_t copy = entry_of(scope, symbol.name);
      entries_[copy].flags = symbol.flags | kFromComprehension;
      entries_[copy].kind = kind;
      entries_[copy].binding = kind == SymbolScope::Local || kind == SymbolScope::Cell ? copy : symbol.binding;
    } else if ((entries_[existing].flags & kBound) && !in_class && is_in_closure_[symbol.name] != inlined_count_) {
      // Both are the same function now: no cell is needed.
      is_dropped_[symbol.name] = inlined_count_;
    }
  }
}

void ScopeBuilder::merge_free(uint32_t scope, uint32_t inner) {
  const uint32_t mark = states_[scope].rank + 1;
  const bool inlined = states_[inner].inlined;
  for (const FreeName& free : states_[inner].free) {
    if (is_inside_[free.name] == mark) continue;
    if (inlined && is_dropped_[free.name] == inlined_count_) continue;
    is_inside_[free.name] = mark;
    inside_.push_back(free);
  }
  if (states_[scope].inlined) {
    std::vector<uint32_t>& closures = states_[scope].free_in_closures;
    if (inlined) {
      const std::vector<uint32_t>& more = states_[inner].free_in_closures;
      closures.insert(closures.end(), more.begin(), more.end());
    } else {
      for (const FreeName& free : states_[inner].free) closures.push_back(free.name);
    }
  }
}

void ScopeBuilder::make_cells(uint32_t scope) {
  const uint32_t mark = states_[scope].rank + 1;
  if (inside_.empty() && !any_inlined_cell_) return;
  for (uint32_t index = states_[scope].first_symbol; index != kNone; index = entries_[index].next) {
    Entry& entry = entries_[index];
    if (entry.kind != SymbolScope::Local) continue;
    if (is_inside_[entry.name] != mark && is_inlined_cell_[entry.name] != mark) continue;
    entry.kind = SymbolScope::Cell;
    is_inside_[entry.name] = 0;
  }
}

void ScopeBuilder::note_free(uint32_t scope) {
  const uint32_t mark = states_[scope].rank + 1;
  if (any_inlined_cell_) {
    for (uint32_t index = states_[scope].first_symbol; index != kNone; index = entries_[index].next) {
      if (is_inlined_cell_[entries_[index].name] == mark) entries_[index].flags |= kComprehensionCell;
    }
  }
  std::erase_if(inside_, [&](const FreeName& free) { return is_inside_[free.name] != mark; });
  const bool class_like = kind_of(scope) == ScopeKind::Class || states_[scope].sees_class;
  for (const FreeName& free : inside_) {
    const uint32_t existing = table_.get(scope, free.name);
    if (existing == kNone) {
      const uint32_t passed = entry_of(scope, free.name);
      entries_[passed].kind = SymbolScope::Free;
      entries_[passed].binding = free.binding;
    } else if (class_like && (target_.minor >= 12 || (entries_[existing].flags & (kBound | kGlobal)))) {
      entries_[existing].flags |= kFreeInClass;
    }
  }
}

void ScopeBuilder::collect_free(uint32_t scope) {
  const uint32_t mark = states_[scope].rank + 1;
  if (scope == 0) return;
  for (uint32_t index = states_[scope].first_symbol; index != kNone; index = entries_[index].next) {
    const Entry& entry = entries_[index];
    if (entry.kind == SymbolScope::Free && is_inside_[entry.name] != mark)
      inside_.push_back({entry.name, entry.binding});
  }
  states_[scope].free = inside_;
}

}  // namespace graphmend
