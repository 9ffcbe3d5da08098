// Where each name lives. In: the entries of each scope. Out: local, free or global, and the binding.
// visible[name] = the innermost function around that binds it; scopes in order, each puts back what it changed.
#include "facts/scope_builder.h"

namespace graphmend {

using namespace symbol_flag;

void ScopeBuilder::resolve() {
  struct Open {
    uint32_t end;
    size_t undo_size;
  };
  visible_.assign(names_.size(), kNone);
  std::vector<Open> open;
  for (uint32_t rank = 0; rank < order_.size(); ++rank) {
    while (!open.empty() && open.back().end <= rank) {
      while (undo_.size() > open.back().undo_size) {
        visible_[undo_.back().first] = undo_.back().second;
        undo_.pop_back();
      }
      open.pop_back();
    }
    const uint32_t scope = order_[rank];
    open.push_back({rank + states_[scope].size, undo_.size()});
    resolve_scope(scope);
    publish(scope);
  }
}

void ScopeBuilder::resolve_scope(uint32_t scope) {
  State& state = states_[scope];
  if (state.sees_class) {
    const uint32_t parent = parent_of(scope);
    state.visible_class = kind_of(parent) == ScopeKind::Class ? parent : states_[parent].visible_class;
  }
  for (uint32_t index = state.first_symbol; index != kNone; index = entries_[index].next) {
    resolve_entry(scope, entries_[index], index);
  }
  if (state.inlined) note_inlined(scope);
}

// What a comprehension in a class brings along counts as the class's own for the annotation scopes that follow. (It is
// never found there at run time: a flaw of CPython's that we share.)
void ScopeBuilder::note_inlined(uint32_t scope) {
  uint32_t around = parent_of(scope);
  while (states_[around].inlined) around = parent_of(around);
  if (kind_of(around) != ScopeKind::Class) return;
  for (uint32_t index = states_[scope].first_symbol; index != kNone; index = entries_[index].next) {
    uint32_t& place = inlined_in_class_.at(around, entries_[index].name);
    if (place == kNone && !(entries_[index].flags & kParameter)) place = index;
  }
}

void ScopeBuilder::resolve_entry(uint32_t scope, Entry& entry, uint32_t index) {
  auto become = [&entry](SymbolScope kind, uint32_t binding) {
    entry.kind = kind;
    entry.binding = binding;
  };
  const uint32_t seen = visible_[entry.name];
  const uint32_t seen_binding = seen == kClassCell ? kNone : seen;
  if (entry.flags & kGlobal) return become(SymbolScope::GlobalExplicit, module_binding(entry.name));
  if (entry.flags & kNonlocal) {
    // Without a binding the program is wrong, and says so elsewhere.
    if (seen == kNone) return become(SymbolScope::GlobalImplicit, kNone);
    return become(SymbolScope::Free, seen_binding);
  }
  if (entry.flags & kBound) return become(SymbolScope::Local, index);
  if (states_[scope].visible_class != kNone) {
    // What the class binds is looked up in the class first, then among the globals.
    uint32_t in_class = table_.get(states_[scope].visible_class, entry.name);
    const bool inlined = in_class == kNone;
    if (inlined) in_class = inlined_in_class_.get(states_[scope].visible_class, entry.name);
    const uint16_t flags = in_class == kNone ? uint16_t{0} : entries_[in_class].flags;
    if (flags & kGlobal) return become(SymbolScope::GlobalExplicit, module_binding(entry.name));
    if ((flags & kBound) && !(flags & kNonlocal)) {
      return become(SymbolScope::GlobalImplicit, inlined ? module_binding(entry.name) : in_class);
    }
  }
  if (seen != kNone) return become(SymbolScope::Free, seen_binding);
  become(SymbolScope::GlobalImplicit, module_binding(entry.name));
}

uint32_t ScopeBuilder::module_binding(uint32_t name) {
  const uint32_t index = table_.get(0, name);
  return index != kNone && (entries_[index].flags & (kBound | kGlobal)) ? index : kNone;
}

// Function-like scopes show their locals to the scopes inside, classes only the cells they make.
void ScopeBuilder::publish(uint32_t scope) {
  const ScopeKind kind = kind_of(scope);
  if (kind == ScopeKind::Class) {
    show(class_name_, kClassCell);
    if (target_.minor >= 12) show(class_dict_name_, kClassCell);
    return;
  }
  if (kind == ScopeKind::Module) return;
  for (uint32_t index = states_[scope].first_symbol; index != kNone; index = entries_[index].next) {
    const Entry& entry = entries_[index];
    if (entry.kind == SymbolScope::Local) show(entry.name, index);
    if (entry.flags & kGlobal) show(entry.name, kNone);
  }
}

void ScopeBuilder::show(uint32_t name, uint32_t entry) {
  undo_.emplace_back(name, visible_[name]);
  visible_[name] = entry;
}

}  // namespace graphmend
