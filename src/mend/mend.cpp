// Mends for given places. In: tree and lines. Out: the mended text. Which mend a place gets is decided here, by its
// form.
#include "mend/mend.h"

#include <algorithm>
#include <map>

#include "mend/check.h"
#include "mend/context.h"
#include "mend/piece_text.h"
#include "mend/postpone.h"
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
};

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
    // What is inside another is nearer to the line than that.
    std::erase_if(found, [&](NodeId outer) { return tree.contains(outer, id); });
    found.push_back(id);
  }
  return found;
}

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
  // By start, so that the text is written front to back; one mend a place.
  std::map<uint32_t, Edit> edits;
  std::vector<NodeId> seen;
  for (uint32_t line : request.lines) {
    const std::vector<NodeId> places = statements_at(context, lines, line);
    std::string reason = places.empty() ? "no statement on this line" : "";
    bool mended = false;
    for (NodeId place : places) {
      if (std::find(seen.begin(), seen.end(), place) != seen.end()) {
        mended = true;
        continue;
      }
      const NodeKind kind = tree.kind(place);
      const Span span = context.span(place);
      if (only_talks(context, place)) {
        if (auto postponed = postpone(context, place, reason)) {
          result.mends.push_back({MendKind::Postpone, line, span, postponed->site, std::move(postponed->outlined)});
          edits.insert({span.start, {{span.start, span.start}, std::move(postponed->prefix)}});
          seen.push_back(place);
          mended = true;
        }
      } else if (kind == NodeKind::If || kind == NodeKind::Elif || kind == NodeKind::Assert) {
        if (auto checked = check(context, place, reason)) {
          result.mends.push_back({MendKind::Check, line, span, checked->site, {}});
          edits.insert({checked->replaced.start, {checked->replaced, std::move(checked->test)}});
          seen.push_back(place);
          mended = true;
        }
      } else if (reason.empty()) {
        reason = "no mend for this kind of statement";
      }
    }
    if (!mended) result.declined.push_back({line, reason});
  }
  PieceText whole(text);
  uint32_t at = 0;
  for (auto& [start, edit] : edits) {
    whole.copy({at, edit.replaced.start});
    whole.append(edit.text);
    at = edit.replaced.end;
  }
  whole.copy({at, static_cast<uint32_t>(text.size())});
  result.text = whole.take_text();
  result.pieces = whole.take_pieces();
  return result;
}

}  // namespace graphmend
