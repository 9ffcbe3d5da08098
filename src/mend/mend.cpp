// Mends for given places. In: tree and lines. Out: the mended text. Which mend a place gets is decided here, by its
// form.
#include "mend/mend.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>

#include "mend/ahead.h"
#include "mend/check.h"
#include "mend/context.h"
#include "mend/piece_text.h"
#include "mend/postpone.h"
#include "mend/select.h"
#include "mend/speculate.h"
#include "mend/substitute.h"
#include "source/line_index.h"

namespace graphmend {

namespace {

uint64_t fnv1a(std::string_view text) {
  uint64_t hash = 0xCBF29CE484222325;
  for (char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001B3;
  return hash;
}

std::string hex(uint64_t value) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text(16, '0');
  for (size_t i = 16; i-- > 0; value >>= 4) text[i] = kDigits[value & 15];
  return text;
}

// The text that replaces a span of the original; an empty span is an insertion.
struct Edit {
  Span replaced;
  PieceText text;
  // It asks for the truth of what it replaces.
  bool asks_truth = false;
  // While it is being written: what it copies is not to be replaced by itself.
  bool active = false;
  // In which order they were asked for.
  size_t order = 0;
};

// Copies a span of the original with all edits in it, and what edits copy with the edits in that. A mend that repeats
// its text doubles what is mended inside of it, so the depth is bounded; deeper ones are left out, which is sound.
class Writer {
 public:
  Writer(std::string_view text, std::vector<Edit>& edits) : edits_(edits), whole_(text) {
    for (size_t i = 0; i < edits_.size(); ++i) edits_[i].order = i;
    std::sort(edits_.begin(), edits_.end(), [](const Edit& one, const Edit& other) {
      // What is put in before a span stands before what replaces it, the outer before the inner.
      if (one.replaced.start != other.replaced.start) return one.replaced.start < other.replaced.start;
      if ((one.replaced.size() == 0) != (other.replaced.size() == 0)) return one.replaced.size() == 0;
      if (one.replaced.end != other.replaced.end) return one.replaced.end > other.replaced.end;
      return one.order < other.order;
    });
  }

  void write(Span span, int depth = 0, bool computed = false) {
    uint32_t at = span.start;
    auto edit = std::lower_bound(edits_.begin(), edits_.end(), span.start,
                                 [](const Edit& each, uint32_t start) { return each.replaced.start < start; });
    for (; depth < kMaxDepth && edit != edits_.end() && edit->replaced.start < span.end; ++edit) {
      if (edit->active || edit->replaced.start < at || edit->replaced.end > span.end) continue;
      if (computed && edit->asks_truth && edit->replaced.size() == span.size()) continue;
      whole_.copy({at, edit->replaced.start});
      at = edit->replaced.end;
      edit->active = true;
      for (const Piece& piece : edit->text.pieces()) {
        if (piece.copied) {
          write(piece.original, depth + 1, piece.computed);
        } else {
          whole_.add(std::string_view(edit->text.text()).substr(piece.start, piece.end - piece.start), piece.original);
        }
      }
      edit->active = false;
    }
    whole_.copy({at, span.end});
  }

  PieceText& whole() { return whole_; }

 private:
  static constexpr int kMaxDepth = 6;

  std::vector<Edit>& edits_;
  PieceText whole_;
};

// What a branch or a loop asks before it runs what is inside.
std::optional<Span> header_of(const MendContext& context, NodeId statement) {
  const Tree& tree = context.tree;
  switch (tree.kind(statement)) {
    case NodeKind::If:
    case NodeKind::Elif:
    case NodeKind::While:
    case NodeKind::For: {
      std::optional<Span> header;
      for (NodeId part : tree.children(statement)) {
        if (node_group(tree.kind(part)) != NodeGroup::Expression) break;
        const Span span = context.span(part);
        header = {header ? header->start : span.start, span.end};
      }
      return header;
    }
    default:
      return std::nullopt;
  }
}

// The innermost statements on a line (several when they are separated by semicolons), and clauses with a test.
std::vector<NodeId> statements_at(const MendContext& context, const LineIndex& lines, uint32_t line) {
  const Tree& tree = context.tree;
  std::vector<NodeId> found;
  for (NodeId id = Tree::root(); id.index < tree.size(); ++id) {
    const NodeKind kind = tree.kind(id);
    const bool is_place = node_group(kind) == NodeGroup::Statement || kind == NodeKind::Elif;
    if (!is_place) continue;
    const Span span = context.span(id);
    if (lines.position(span.start).line > line) break;
    if (lines.position(span.end).line < line) continue;
    // What is inside another is nearer to the line than that, unless the other's test is on the line too.
    std::erase_if(found, [&](NodeId outer) {
      if (!tree.contains(outer, id)) return false;
      const std::optional<Span> asked = header_of(context, outer);
      return !asked || lines.position(asked->start).line > line || lines.position(asked->end).line < line;
    });
    found.push_back(id);
  }
  return found;
}

// Finds the mend for one place after another and gathers the edits.
class Mender {
 public:
  Mender(const MendContext& context, Mended& result) : context_(context), result_(result) {}

  // False, with the reason, when nothing can be done about the place.
  bool mend_place(NodeId place, uint32_t line, std::string& reason) {
    if (!seen_.insert(place).second) return true;
    const NodeKind kind = context_.tree.kind(place);
    const Span span = context_.span(place);
    const Talks how = talks(context_, facts().scopes, place);
    if (how != Talks::No) return mend_talking(place, how, line, reason);
    const bool printed = mend_lambdas(place, line, reason);
    const bool substituted = (!ahead_ && mend_substitutes(place, line)) || printed;
    if (context_.is_test(place)) {
      if (auto checked = check(context_, facts(), place, reason)) {
        result_.mends.push_back({MendKind::Check, line, span, checked->site});
        checked_.insert(place);
        edits_.push_back({checked->replaced, std::move(checked->test)});
        return true;
      }
      if (kind == NodeKind::Assert) return substituted;
      std::string other;
      auto selected = select_branch(context_, facts(), place, other);
      if (selected) {
        add_select(std::move(*selected), line, span);
        mend_inside(place, line);
      }
      // Where the trace finds that the sides do not fit together, the test is predicted.
      if (mend_values(place, line) || selected || substituted) return true;
      reason = "branch on a tensor's value; " + other;
      return false;
    }
    const bool chosen = mend_choices(place, line, reason);
    return mend_values(place, line) || chosen || substituted;
  }

  // What a test that is checked makes of tensors, where it broke again.
  void mend_inside_check(NodeId place, uint32_t line) {
    if (!checked_.contains(place) || !context_.request.speculates) return;
    const Span test = context_.span(context_.tree.first_child(place));
    for (Speculated& one : speculate(context_, facts(), place, true)) {
      // Its truth is what is checked.
      if (one.asks_truth || one.replaced.start < test.start || one.replaced.end > test.end) continue;
      add_speculated(std::move(one), place, line);
    }
  }

  // What is like a place that broke.
  void mend_likes(NodeId place, uint32_t line, const LineIndex& lines) {
    const size_t before = result_.mends.size();
    ahead_ = true;
    for (NodeId like : places_like(context_, facts().scopes, place)) {
      std::string reason;
      mend_place(like, lines.position(context_.span(like).start).line, reason);
    }
    ahead_ = false;
    mend_sizes_like(place, lines);
    for (size_t i = before; i < result_.mends.size(); ++i) result_.mends[i].like = line;
  }

  // Whatever may break in a function, what is nested in it left out.
  void mend_function(NodeId function, const LineIndex& lines) {
    around_ = true;
    const bool asks = context_.request.speculates || !context_.request.substitutes.empty();
    for (NodeId id : context_.own_nodes(function)) {
      std::string reason;
      const bool values = asks && node_group(context_.tree.kind(id)) == NodeGroup::Statement;
      if (context_.is_test(id) || values || talks(context_, facts().scopes, id) != Talks::No) {
        mend_place(id, lines.position(context_.span(id).start).line, reason);
      }
    }
  }

  std::vector<Edit>& edits() { return edits_; }

 private:
  // The function's other sizes and bounds that are made of what a size or a bound of the place is.
  void mend_sizes_like(NodeId place, const LineIndex& lines) {
    const NodeId function = context_.enclosing(place, NodeKind::FunctionDef);
    if (!function || !context_.request.speculates) return;
    std::set<std::string_view> names;
    for (const Speculated& one : speculate(context_, facts(), place, false)) {
      if (one.size) names.merge(names_in(context_, one.size));
    }
    for (NodeId id : names.empty() ? std::vector<NodeId>{} : context_.own_nodes(function)) {
      if (node_group(context_.tree.kind(id)) != NodeGroup::Statement || seen_.contains(id)) continue;
      if (talks(context_, facts().scopes, id) != Talks::No) continue;
      for (Speculated& one : speculate(context_, facts(), id, false)) {
        if (!one.size || !shares_name(names, names_in(context_, one.size))) continue;
        // What it is made of is a tensor too, as likely as not.
        names.merge(names_in(context_, one.size));
        if (!sizes_.insert(one.size).second) continue;
        add_speculated(std::move(one), id, lines.position(context_.span(id).start).line);
      }
    }
  }

  bool mend_talking(NodeId place, Talks how, uint32_t line, std::string& reason) {
    const Span span = context_.span(place);
    auto postponed = postpone(context_, facts(), place, how, reason);
    if (!postponed) return false;
    result_.mends.push_back({MendKind::Postpone, line, span, postponed->site, std::move(postponed->outlined)});
    edits_.push_back({{span.start, span.start}, std::move(postponed->prefix)});
    return true;
  }

  // The lambdas of a statement that print, which is what hooks often are.
  bool mend_lambdas(NodeId place, uint32_t line, std::string& reason) {
    bool mended = false;
    for (NodeId call : prints_in_lambdas(context_, facts().scopes, place)) {
      mended = mend_talking(call, Talks::ByName, line, reason) || mended;
    }
    return mended;
  }

  // Whatever in a statement needs the value of a tensor in Python.
  bool mend_values(NodeId place, uint32_t line) {
    if (!context_.request.speculates) return false;
    std::vector<Speculated> all = speculate(context_, facts(), place, !around_ && !ahead_);
    for (Speculated& one : all) add_speculated(std::move(one), place, line);
    return !all.empty();
  }

  void add_speculated(Speculated one, NodeId place, uint32_t line) {
    result_.mends.push_back({MendKind::Speculate, line, context_.span(place), std::move(one.site)});
    edits_.push_back({one.replaced, std::move(one.text), one.asks_truth});
  }

  // Calls that are traced as others.
  bool mend_substitutes(NodeId place, uint32_t line) {
    std::vector<Substituted> all = substitute(context_, place);
    for (Substituted& one : all) {
      result_.mends.push_back({MendKind::Substitute, line, context_.span(place), one.site});
      edits_.push_back({one.replaced, std::move(one.text)});
    }
    return !all.empty();
  }

  // All of a statement's `… if … else …`: which of them broke is not known.
  bool mend_choices(NodeId place, uint32_t line, std::string& reason) {
    bool mended = false;
    std::string other = "no mend for this kind of statement";
    for (NodeId id = place; id < context_.tree.end_of(place); ++id) {
      if (context_.tree.kind(id) != NodeKind::IfExp) continue;
      other.clear();
      auto selected = select_choice(context_, facts(), id, other);
      if (!selected) continue;
      add_select(std::move(*selected), line, context_.span(place));
      mended = true;
    }
    if (!mended) reason = other;
    return mended;
  }

  // The branches inside of one that is selected: their tests may be tensors too.
  void mend_inside(NodeId place, uint32_t line) {
    for (NodeId id = place + 1; id < context_.tree.end_of(place); ++id) {
      if (context_.tree.kind(id) != NodeKind::If || !seen_.insert(id).second) continue;
      std::string reason;
      auto selected = select_branch(context_, facts(), id, reason);
      if (selected) add_select(std::move(*selected), line, context_.span(id));
    }
  }

  void add_select(Selected selected, uint32_t line, Span span) {
    result_.mends.push_back({MendKind::Select, line, span, selected.site});
    edits_.push_back({selected.replaced, std::move(selected.text)});
  }

  const ModuleFacts& facts() {
    if (!facts_) facts_ = std::make_unique<ModuleFacts>(context_);
    return *facts_;
  }

  const MendContext& context_;
  Mended& result_;
  std::set<NodeId> seen_;
  // Guards whose tests are checked.
  std::set<NodeId> checked_;
  // Sizes that are mended though their statements are not.
  std::set<NodeId> sizes_;
  std::vector<Edit> edits_;
  // Whole functions are mended, of which it is not known where they broke.
  bool around_ = false;
  // What is mended has not broken.
  bool ahead_ = false;
  // Made when the first mend needs them.
  std::unique_ptr<ModuleFacts> facts_;
};

}  // namespace

std::string MendContext::site(NodeId id, std::string_view kind) const {
  const Span at = span(id);
  std::string key =
      request.file_name + ":" + std::to_string(at.start) + ":" + std::string(kind) + ":" + std::string(at.in(text));
  return hex(fnv1a(key));
}

Mended mend(std::string_view text, const Tokens& tokens, const Tree& tree, const MendRequest& request) {
  const MendContext context{text, tokens, tree, request};
  const LineIndex lines(text);
  Mended result;
  Mender mender(context, result);
  std::set<uint32_t> mended_once;
  for (uint32_t line : request.lines) {
    const std::vector<NodeId> places = statements_at(context, lines, line);
    if (!mended_once.insert(line).second) {
      for (NodeId place : places) mender.mend_inside_check(place, line);
      continue;
    }
    std::string reason = places.empty() ? "no statement on this line" : "";
    bool mended = false;
    for (NodeId place : places) mended = mender.mend_place(place, line, reason) || mended;
    if (!mended) result.declined.push_back({line, reason});
  }
  for (uint32_t line : request.ahead ? request.lines : std::vector<uint32_t>{}) {
    for (NodeId place : statements_at(context, lines, line)) mender.mend_likes(place, line, lines);
  }
  for (NodeId id = Tree::root(); !request.functions.empty() && id.index < tree.size(); ++id) {
    if (tree.kind(id) != NodeKind::FunctionDef) continue;
    // Code begins with its decorators.
    const NodeId first = tree.kind(tree.first_child(id)) == NodeKind::Decorator ? tree.first_child(id) : id;
    const uint32_t line = lines.position(context.span(first).start).line;
    const auto& wanted = request.functions;
    if (std::find(wanted.begin(), wanted.end(), line) != wanted.end()) mender.mend_function(id, lines);
  }
  Writer writer(text, mender.edits());
  writer.write({0, static_cast<uint32_t>(text.size())});
  result.text = writer.whole().take_text();
  result.pieces = writer.whole().take_pieces();
  return result;
}

}  // namespace graphmend
