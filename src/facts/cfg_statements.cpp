// What each statement does to the flow. In: a statement. Out: its elements and edges in the CfgBuilder.
// A region with something to do on its way out (`with`, `finally`, the name of a handler) is a frame: jumps out of it
// lead to an entry for their kind, and when the region closes, each entry in use gets its copy of the work.
#include <algorithm>
#include <iterator>

#include "facts/cfg_builder.h"
#include "parse/views.h"

namespace graphmend {

namespace {

// Indentation and parentheses nest less deep than this in text that parses; what does not parse may do what it likes.
constexpr unsigned kMaxDepth = 250;

constexpr std::string_view kNeverSwallow[] = {
    "torch.no_grad",
    "torch.enable_grad",
    "torch.inference_mode",
    "torch.set_grad_enabled",
    "torch.autocast",
    "torch.amp.autocast",
    "torch.cuda.amp.autocast",
    "torch.autograd.set_detect_anomaly",
    "torch.autograd.profiler.record_function",
    "torch.profiler.record_function",
    "torch.random.fork_rng",
};

}  // namespace

void CfgBuilder::body(NodeId id) {
  if (!id) return;
  if (tree_.kind(id) == NodeKind::Else || tree_.kind(id) == NodeKind::Finally) id = tree_.first_child(id);
  if (!id) return;
  for (NodeId child : tree_.children(id)) statement(child);
}

void CfgBuilder::statement(NodeId id) {
  note_entry(id);
  if (depth_ >= kMaxDepth) return add(ElementKind::Statement, id);
  ++depth_;
  switch (tree_.kind(id)) {
    case NodeKind::If:
      if_statement(id);
      break;
    case NodeKind::While:
      while_statement(id);
      break;
    case NodeKind::For:
      for_statement(id);
      break;
    case NodeKind::With:
      with_statement(id);
      break;
    case NodeKind::Try:
      try_statement(id);
      break;
    case NodeKind::Match:
      match_statement(id);
      break;
    case NodeKind::Return:
      add(ElementKind::Statement, id);
      leave(kReturn, id);
      start_unreachable();
      break;
    case NodeKind::Break:
    case NodeKind::Continue:
      add(ElementKind::Statement, id);
      leave(tree_.kind(id) == NodeKind::Break ? kBreak : kContinue, id);
      start_unreachable();
      break;
    case NodeKind::Raise:
      add(ElementKind::Statement, id);
      start_unreachable();
      break;
    default:
      add(ElementKind::Statement, id);
      break;
  }
  --depth_;
}

// Ends the current block; what follows starts elsewhere.
void CfgBuilder::test(NodeId expression, BlockId if_true, BlockId if_false, unsigned depth) {
  while (expression && tree_.kind(expression) == NodeKind::UnaryOp && tree_[expression].operation() == Operator::Not) {
    expression = tree_.first_child(expression);
    std::swap(if_true, if_false);
  }
  if (expression && tree_.kind(expression) == NodeKind::BoolOp && depth < kMaxDepth) {
    const bool is_and = tree_[expression].operation() == Operator::And;
    const NodeId end = tree_.end_of(expression);
    for (NodeId operand : tree_.children(expression)) {
      if (tree_.next_sibling(operand) >= end) return test(operand, if_true, if_false, depth + 1);
      const BlockId next = new_block();
      test(operand, is_and ? next : if_true, is_and ? if_false : next, depth + 1);
      start(next);
    }
  }
  add(ElementKind::Test, expression);
  const bool constant = expression && tree_.kind(expression) == NodeKind::Constant;
  const TokenKind token = constant ? tokens_[tree_[expression].first_token].kind : TokenKind::EndOfFile;
  if (token != TokenKind::False) connect(current_, if_true, EdgeKind::True);
  if (token != TokenKind::True) connect(current_, if_false, EdgeKind::False);
}

void CfgBuilder::if_statement(NodeId id) {
  IfView view(tree_, id);
  const BlockId join = new_block();
  auto branch = [&](NodeId condition, NodeId branch_body) {
    const BlockId taken = new_block();
    const BlockId not_taken = new_block();
    test(condition, taken, not_taken);
    start(taken);
    body(branch_body);
    connect(current_, join);
    start(not_taken);
  };
  branch(view.test, view.body);
  for (NodeId elif : view.elifs) {
    ElifView clause(tree_, elif);
    branch(clause.test, clause.body);
  }
  body(view.orelse);
  connect(current_, join);
  start(join);
}

void CfgBuilder::while_statement(NodeId id) {
  WhileView view(tree_, id);
  const BlockId header = new_block();
  const BlockId inside = new_block();
  const BlockId orelse = new_block();
  const BlockId after = new_block();
  connect(current_, header);
  start(header);
  test(view.test, inside, orelse);
  frames_.push_back({FrameKind::Loop, id, raise_to_, {BlockId(), BlockId(), BlockId(), after, header}});
  start(inside);
  body(view.body);
  connect(current_, header);
  frames_.pop_back();
  start(orelse);
  body(view.orelse);
  connect(current_, after);
  start(after);
}

void CfgBuilder::for_statement(NodeId id) {
  ForView view(tree_, id);
  add(ElementKind::Iterable, view.iterable);
  const BlockId header = new_block();
  const BlockId inside = new_block();
  const BlockId orelse = new_block();
  const BlockId after = new_block();
  connect(current_, header);
  start(header);
  add(ElementKind::Advance, id);
  connect(current_, inside, EdgeKind::True);
  connect(current_, orelse, EdgeKind::False);
  frames_.push_back({FrameKind::Loop, id, raise_to_, {BlockId(), BlockId(), BlockId(), after, header}});
  start(inside);
  add(ElementKind::Target, view.target);
  body(view.body);
  connect(current_, header);
  frames_.pop_back();
  start(orelse);
  body(view.orelse);
  connect(current_, after);
  start(after);
}

void CfgBuilder::open_cleanup(FrameKind kind, NodeId node) {
  Frame frame;
  frame.kind = kind;
  frame.node = node;
  frame.raise_outside = raise_to_;
  frame.entries[kRaise] = new_block();
  frames_.push_back(frame);
  set_raise(frame.entries[kRaise]);
}

void CfgBuilder::close_cleanup() {
  if (!frames_.back().entries[kNext]) frames_.back().entries[kNext] = new_block();
  const Frame frame = frames_.back();
  frames_.pop_back();
  connect(current_, frame.entries[kNext]);
  raise_to_ = frame.raise_outside;
  const BlockId after = new_block();

  if (frame.kind == FrameKind::Finally && inside_finally_ > 0) {
    // One copy for all.
    const BlockId shared = new_block();
    for (BlockId entry : frame.entries) {
      if (entry) connect(entry, shared);
    }
    start(shared);
    cleanup_work(frame);
    const BlockId end = current_;
    for (uint8_t way = kNext; way < kWayCount; ++way) {
      current_ = end;
      if (frame.entries[way] && alive_[frame.entries[way].index]) go_on(frame, static_cast<Way>(way), after);
    }
  } else {
    bool reached = false;
    for (BlockId entry : frame.entries) reached = reached || (entry && alive_[entry.index]);
    for (uint8_t way = kNext; way < kWayCount; ++way) {
      const BlockId entry = frame.entries[way];
      // Work that no way leads to still has its place, once.
      const bool wanted = reached ? entry && alive_[entry.index] : way == kNext;
      if (!wanted) continue;
      start(entry);
      cleanup_work(frame);
      go_on(frame, static_cast<Way>(way), after);
    }
  }
  start(after);
}

void CfgBuilder::cleanup_work(const Frame& frame) {
  switch (frame.kind) {
    case FrameKind::With:
      return add(ElementKind::Exit, frame.node);
    case FrameKind::Unbind:
      return add(ElementKind::Unbind, frame.node);
    case FrameKind::Finally:
      ++inside_finally_;
      body(frame.node);
      --inside_finally_;
      return;
    case FrameKind::Loop:
      return;
  }
}

// The work is done; what led into it goes on.
void CfgBuilder::go_on(const Frame& frame, Way way, BlockId after) {
  switch (way) {
    case kNext:
      return connect(current_, after);
    case kRaise:
      // `__exit__` may swallow the exception.
      if (frame.kind == FrameKind::With && may_swallow(frame.node)) connect(current_, after);
      return connect(current_, raise_to_, EdgeKind::Raise, frame.node);
    default:
      return leave(way, frame.node);
  }
}

bool CfgBuilder::may_swallow(NodeId with_item) const {
  const NodeId expression = WithItemView(tree_, with_item).expression;
  if (text_.empty() || !expression || tree_.kind(expression) != NodeKind::Call) return true;
  const std::string_view called = node_span(tree_, tokens_, tree_.first_child(expression)).in(text_);
  return std::find(std::begin(kNeverSwallow), std::end(kNeverSwallow), called) == std::end(kNeverSwallow);
}

void CfgBuilder::with_statement(NodeId id) {
  WithView view(tree_, id);
  unsigned open = 0;
  for (NodeId item : view.items) {
    add(ElementKind::Enter, item);
    open_cleanup(FrameKind::With, item);
    add(ElementKind::Target, WithItemView(tree_, item).target);
    ++open;
  }
  body(view.body);
  for (; open > 0; --open) close_cleanup();
}

void CfgBuilder::try_statement(NodeId id) {
  TryView view(tree_, id);
  if (view.final_clause) open_cleanup(FrameKind::Finally, view.final_clause);
  if (view.handlers.empty()) {
    body(view.body);
    body(view.orelse);
  } else {
    const BlockId outside = raise_to_;
    const BlockId entry = new_block();
    const BlockId join = new_block();
    set_raise(entry);
    body(view.body);
    set_raise(outside);
    body(view.orelse);
    connect(current_, join);
    handlers(id, entry, join);
    start(join);
  }
  if (view.final_clause) close_cleanup();
}

// Handlers are tried in order. Of `except*` several may run, and what they raise is raised when all have had their
// turn.
void CfgBuilder::handlers(NodeId try_statement, BlockId entry, BlockId join) {
  const bool star = tree_[try_statement].has(node_flag::kStar);
  const BlockId outside = raise_to_;
  start(entry);
  for (NodeId handler : TryView(tree_, try_statement).handlers) {
    ExceptHandlerView view(tree_, handler);
    const bool named = tree_[handler].has(node_flag::kHasName);
    const BlockId matched = new_block();
    const BlockId next = new_block();
    add(ElementKind::Handler, handler);
    connect(current_, matched, EdgeKind::True);
    if (view.type) connect(current_, next, EdgeKind::False);
    if (star) raise_to_ = next;
    start(matched);
    if (named) {
      add(ElementKind::Bind, handler);
      open_cleanup(FrameKind::Unbind, handler);
    }
    body(view.body);
    if (named) close_cleanup();
    connect(current_, star ? next : join);
    raise_to_ = outside;
    start(next);
  }
  if (star) connect(current_, join);
  connect(current_, raise_to_, EdgeKind::Raise, try_statement);
}

void CfgBuilder::match_statement(NodeId id) {
  MatchView view(tree_, id);
  add(ElementKind::Subject, view.subject);
  const BlockId join = new_block();
  for (NodeId match_case : view.cases) {
    MatchCaseView clause(tree_, match_case);
    const BlockId matched = new_block();
    const BlockId next = new_block();
    add(ElementKind::Pattern, clause.pattern);
    connect(current_, matched, EdgeKind::True);
    // A lone name or `_` always matches.
    const bool always =
        clause.pattern && tree_.kind(clause.pattern) == NodeKind::MatchAs && !tree_.first_child(clause.pattern);
    if (!always) connect(current_, next, EdgeKind::False);
    start(matched);
    add(ElementKind::Capture, clause.pattern);
    if (clause.guard) {
      const BlockId taken = new_block();
      test(clause.guard, taken, next);
      start(taken);
    }
    body(clause.body);
    connect(current_, join);
    start(next);
  }
  connect(current_, join);
  start(join);
}

}  // namespace graphmend
