// Control flow of one function. In: Tree, Tokens. Out: `Cfg`.
// Here: blocks, edges, what may raise, lookups. What each statement does is in cfg_statements.cpp.
#include "facts/cfg.h"

#include <algorithm>
#include <utility>

#include "facts/cfg_builder.h"
#include "parse/views.h"

namespace graphmend {

std::string_view element_kind_name(ElementKind kind) {
  static constexpr std::string_view kNames[] = {"statement", "test", "iterable", "advance", "target",
                                                "enter",     "exit", "subject",  "pattern", "capture",
                                                "handler",   "bind", "unbind"};
  static_assert(std::size(kNames) == static_cast<size_t>(ElementKind::Unbind) + 1, "a name for every kind");
  return kNames[static_cast<size_t>(kind)];
}

std::span<const ElementId> Cfg::entries(NodeId statement) const {
  auto [first, last] = std::equal_range(entry_nodes_.begin(), entry_nodes_.end(), statement);
  const auto offset = static_cast<size_t>(first - entry_nodes_.begin());
  return {entry_elements_.data() + offset, static_cast<size_t>(last - first)};
}

std::span<const ElementId> Cfg::elements_in(NodeId first, NodeId end) const {
  auto from = std::lower_bound(element_nodes_.begin(), element_nodes_.end(), first);
  auto to = std::lower_bound(from, element_nodes_.end(), end);
  return {by_node_.data() + (from - element_nodes_.begin()), static_cast<size_t>(to - from)};
}

std::vector<BlockId> flow_order(const Cfg& cfg) {
  struct Visit {
    BlockId block;
    uint32_t next = 0;
  };
  std::vector<BlockId> order;
  std::vector<bool> seen(cfg.block_count(), false);
  std::vector<Visit> stack;
  auto push = [&](BlockId id) {
    if (!id || seen[id.index]) return;
    seen[id.index] = true;
    stack.push_back({id});
  };
  push(cfg.entry());
  while (!stack.empty()) {
    Visit& top = stack.back();
    const std::span<const Edge> edges = cfg.edges(top.block);
    if (top.next > edges.size()) {
      order.push_back(top.block);
      stack.pop_back();
      continue;
    }
    const uint32_t next = top.next++;
    push(next < edges.size() ? edges[next].to : cfg[top.block].on_raise);
  }
  std::reverse(order.begin(), order.end());
  for (BlockId id(0); id.index < cfg.block_count(); ++id) {
    if (!seen[id.index]) order.push_back(id);
  }
  return order;
}

Cfg compute_cfg(const Tree& tree, const Tokens& tokens, NodeId owner, std::string_view text) {
  return CfgBuilder(tree, tokens, owner, text).build();
}

Cfg CfgBuilder::build() {
  start(new_block());
  alive_[0] = true;
  new_block();
  raise_to_ = new_block();
  blocks_[0].on_raise = raise_to_;
  switch (tree_.kind(owner_)) {
    case NodeKind::FunctionDef:
      body(FunctionView(tree_, owner_).body);
      break;
    case NodeKind::ClassDef:
      body(ClassView(tree_, owner_).body);
      break;
    default:
      body(owner_);
      break;
  }
  connect(current_, BlockId(1));
  return finish();
}

BlockId CfgBuilder::new_block() {
  blocks_.emplace_back();
  blocks_.back().first = blocks_.back().end = ElementId(0);
  alive_.push_back(false);
  return BlockId(static_cast<uint32_t>(blocks_.size() - 1));
}

void CfgBuilder::start(BlockId id) {
  current_ = id;
  Block& block = blocks_[id.index];
  block.first = block.end = ElementId(static_cast<uint32_t>(elements_.size()));
  block.on_raise = raise_to_;
}

void CfgBuilder::connect(BlockId from, BlockId to, EdgeKind kind, NodeId region) {
  if (!alive_[from.index]) return;
  alive_[to.index] = true;
  arcs_.push_back({from, {to, kind, region}});
}

// From here on exceptions go to another place; a block knows only one.
void CfgBuilder::set_raise(BlockId to) {
  raise_to_ = to;
  const BlockId before = current_;
  start(new_block());
  connect(before, current_);
}

void CfgBuilder::add(ElementKind kind, NodeId node) {
  if (!node) return;
  if (elements_.size() - blocks_[current_.index].first.index >= kMaxBlockElements) set_raise(raise_to_);
  const bool raises = may_raise(kind, node);
  elements_.push_back({node, current_, kind, raises});
  blocks_[current_.index].end = ElementId(static_cast<uint32_t>(elements_.size()));
  if (raises && alive_[current_.index]) alive_[raise_to_.index] = true;
}

bool CfgBuilder::is_trivial(NodeId expression) const {
  const NodeKind kind = expression ? tree_.kind(expression) : NodeKind::Constant;
  return kind == NodeKind::Constant || kind == NodeKind::Number || kind == NodeKind::String;
}

// A name may be unbound and a truth test is a call, so little is sure: constants, and storing them in local names.
bool CfgBuilder::may_raise(ElementKind kind, NodeId node) const {
  const bool stores_are_safe = tree_.kind(owner_) != NodeKind::ClassDef;
  switch (kind) {
    case ElementKind::Statement:
      break;
    case ElementKind::Test:
    case ElementKind::Subject:
      return !is_trivial(node);
    case ElementKind::Target:
      return !stores_are_safe || tree_.kind(node) != NodeKind::Name;
    case ElementKind::Handler:
      return static_cast<bool>(ExceptHandlerView(tree_, node).type);
    case ElementKind::Capture:
    case ElementKind::Bind:
    case ElementKind::Unbind:
      return !stores_are_safe;
    default:
      return true;
  }
  switch (tree_.kind(node)) {
    case NodeKind::Pass:
    case NodeKind::Break:
    case NodeKind::Continue:
    case NodeKind::Global:
    case NodeKind::Nonlocal:
      return false;
    case NodeKind::ExprStatement:
    case NodeKind::Return:
      return !is_trivial(tree_.first_child(node));
    case NodeKind::Assign: {
      AssignView assign(tree_, node);
      bool safe = stores_are_safe && is_trivial(assign.value);
      for (NodeId target : assign.targets) safe = safe && tree_.kind(target) == NodeKind::Name;
      return !safe;
    }
    default:
      return true;
  }
}

// The current block ends here; control goes where `way` leads from inside all frames. `region` is the jump itself, or
// what held it up.
void CfgBuilder::leave(Way way, NodeId region) {
  for (size_t i = frames_.size(); i-- > 0;) {
    Frame& frame = frames_[i];
    const bool loop = frame.kind == FrameKind::Loop;
    if (loop && way != kBreak && way != kContinue) continue;
    if (!loop && !frame.entries[way]) frame.entries[way] = new_block();
    return connect(current_, frame.entries[way], way == kReturn ? EdgeKind::Return : EdgeKind::Next, region);
  }
  connect(current_, BlockId(1), EdgeKind::Return, region);
}

void CfgBuilder::note_entry(NodeId statement) {
  entries_.emplace_back(statement, ElementId(static_cast<uint32_t>(elements_.size())));
}

Cfg CfgBuilder::finish() {
  Cfg cfg;
  cfg.owner_ = owner_;
  cfg.blocks_ = std::move(blocks_);
  cfg.elements_ = std::move(elements_);
  for (Block& block : cfg.blocks_) {
    bool raises = false;
    for (ElementId e = block.first; e < block.end; ++e) raises = raises || cfg.elements_[e.index].may_raise;
    if (!raises) block.on_raise = BlockId();
  }
  // Edges by the block they leave, in the order they were made.
  for (const Arc& arc : arcs_) ++cfg.blocks_[arc.from.index].edge_count;
  uint32_t offset = 0;
  for (Block& block : cfg.blocks_) {
    block.first_edge = offset;
    offset += std::exchange(block.edge_count, 0);
  }
  cfg.edges_.resize(arcs_.size());
  for (const Arc& arc : arcs_) {
    Block& from = cfg.blocks_[arc.from.index];
    cfg.edges_[from.first_edge + from.edge_count++] = arc.edge;
  }
  // Copies of a statement stay in the order they were made.
  std::sort(entries_.begin(), entries_.end());
  for (const auto& [node, element] : entries_) {
    // After syntax errors a statement may have nothing in it.
    if (element.index >= cfg.element_count() || !tree_.contains(node, cfg[element].node)) continue;
    cfg.entry_nodes_.push_back(node);
    cfg.entry_elements_.push_back(element);
  }
  std::vector<std::pair<NodeId, ElementId>> by_node;
  for (ElementId e(0); e.index < cfg.element_count(); ++e) by_node.emplace_back(cfg[e].node, e);
  std::sort(by_node.begin(), by_node.end());
  for (const auto& [node, element] : by_node) {
    cfg.element_nodes_.push_back(node);
    cfg.by_node_.push_back(element);
  }
  mark_reachable(cfg);
  return cfg;
}

void CfgBuilder::mark_reachable(Cfg& cfg) const {
  cfg.reachable_.assign(cfg.block_count(), false);
  std::vector<BlockId> work = {cfg.entry()};
  cfg.reachable_[0] = true;
  auto reach = [&](BlockId to) {
    if (!to || cfg.reachable_[to.index]) return;
    cfg.reachable_[to.index] = true;
    work.push_back(to);
  };
  while (!work.empty()) {
    const BlockId id = work.back();
    work.pop_back();
    reach(cfg[id].on_raise);
    for (const Edge& edge : cfg.edges(id)) reach(edge.to);
  }
}

}  // namespace graphmend
