// The making of a Cfg. In: Tree, Tokens. Out: blocks, one statement after the other.
// Recursion follows the nesting of statements, which the lexer bounds, and that of parentheses in conditions.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "facts/cfg.h"

namespace graphmend {

class CfgBuilder {
 public:
  CfgBuilder(const Tree& tree, const Tokens& tokens, NodeId owner, std::string_view text)
      : tree_(tree), tokens_(tokens), owner_(owner), text_(text) {}
  Cfg build();

 private:
  // The ways to leave a region that has something to do on its way out.
  enum Way : uint8_t { kNext, kRaise, kReturn, kBreak, kContinue, kWayCount };
  enum class FrameKind : uint8_t { Loop, With, Finally, Unbind };

  // A loop, or something to do on every way out: `__exit__`, a `finally` body, the end of an except handler's name.
  struct Frame {
    FrameKind kind = FrameKind::Loop;
    NodeId node;
    // Where exceptions went outside.
    BlockId raise_outside;
    // For a loop: kBreak and kContinue. Else made when first used.
    std::array<BlockId, kWayCount> entries;
  };

  struct Arc {
    BlockId from;
    Edge edge;
  };

  // cfg.cpp
  BlockId new_block();
  void start(BlockId id);
  void start_unreachable() { start(new_block()); }
  void connect(BlockId from, BlockId to, EdgeKind kind = EdgeKind::Next, NodeId region = NodeId());
  void set_raise(BlockId to);
  void add(ElementKind kind, NodeId node);
  bool may_raise(ElementKind kind, NodeId node) const;
  bool is_trivial(NodeId expression) const;
  void leave(Way way, NodeId region);
  void note_entry(NodeId statement);
  Cfg finish();
  void mark_reachable(Cfg& cfg) const;

  // cfg_statements.cpp
  void body(NodeId id);
  void statement(NodeId id);
  void if_statement(NodeId id);
  void while_statement(NodeId id);
  void for_statement(NodeId id);
  void with_statement(NodeId id);
  void try_statement(NodeId id);
  void handlers(NodeId try_statement, BlockId entry, BlockId join);
  void match_statement(NodeId id);
  void test(NodeId expression, BlockId if_true, BlockId if_false, unsigned depth = 0);
  void open_cleanup(FrameKind kind, NodeId node);
  void close_cleanup();
  bool may_swallow(NodeId with_item) const;
  void cleanup_work(const Frame& frame);
  void go_on(const Frame& frame, Way way, BlockId after);

  const Tree& tree_;
  const Tokens& tokens_;
  NodeId owner_;
  std::string_view text_;
  std::vector<Block> blocks_;
  std::vector<Element> elements_;
  std::vector<Arc> arcs_;
  std::vector<std::pair<NodeId, ElementId>> entries_;
  // Blocks that something leads to; what follows a `return` has no edges of its own.
  std::vector<bool> alive_;
  std::vector<Frame> frames_;
  BlockId current_;
  BlockId raise_to_;
  unsigned inside_finally_ = 0;
  unsigned depth_ = 0;
};

}  // namespace graphmend
