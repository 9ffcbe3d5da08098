#include "mend/speculate_subscript.h"

#include <algorithm>

#include "mend/traced_condition.h"
#include "parse/views.h"

namespace graphmend {

namespace {

class Subscripts {
 public:
  Subscripts(SpeculatedParts& parts, bool elements) : parts_(parts), elements_(elements) {}

  // `x[mask]`, or an element at a tensor, read or written to.
  void subscript(NodeId id) {
    const SubscriptView view(parts_.tree, id);
    const bool is_read = parts_.tree[id].context() == Context::Load;
    const bool is_written = elements_ && parts_.tree[id].context() == Context::Store;
    const std::vector<NodeId> bounds = bounds_in(view.slice);
    const std::vector<NodeId> positions = is_written ? positions_in(view.slice) : std::vector<NodeId>{};
    if (!bounds.empty() || !positions.empty()) write_owned(view, bounds, positions);
    if (!elements_ || !is_read) return;
    switch (parts_.tree.kind(view.slice)) {
      case NodeKind::Name:
      case NodeKind::Attribute:
      case NodeKind::BinOp:
      case NodeKind::UnaryOp:
      case NodeKind::Compare:
      case NodeKind::Call:
        return parts_.wrap_two(id, "subscript", "", view.value, view.slice);
      case NodeKind::Tuple:
        return parts(id, view);
      default:
        return;
    }
  }

 private:
  // The bounds of slices in a subscript that may be tensors.
  std::vector<NodeId> bounds_in(NodeId key) const {
    std::vector<NodeId> bounds;
    for (NodeId part : parts_.sizes_in(key)) {
      if (parts_.tree.kind(part) != NodeKind::Slice) continue;
      for (NodeId bound : parts_.tree.children(part)) {
        if (!is_number(bound)) bounds.push_back(bound);
      }
    }
    return bounds;
  }

  bool is_number(NodeId id) const {
    const bool is_signed = parts_.tree.kind(id) == NodeKind::UnaryOp;
    return parts_.tree.kind(is_signed ? parts_.tree.first_child(id) : id) == NodeKind::Number;
  }

  // The parts of a subscript that may be tensors, slices left out.
  std::vector<NodeId> positions_in(NodeId key) const {
    if (parts_.tree.kind(key) == NodeKind::List) return {};
    std::vector<NodeId> positions = parts_.sizes_in(key);
    std::erase_if(positions, [this](NodeId part) { return !parts_.may_be_tensor(part); });
    return positions;
  }

  // Whose slices and positions they are shows while tracing. What has no name gets one, so that it is evaluated once.
  void write_owned(const SubscriptView& view, const std::vector<NodeId>& bounds, const std::vector<NodeId>& positions) {
    const bool has_name = parts_.tree.kind(view.value) == NodeKind::Name;
    if (!has_name && !(elements_ && parts_.facts.binds_in_function(parts_.tree, view.value))) return;
    const std::string owner = has_name ? std::string(parts_.context.text_of(view.value)) : named(view.value);
    for (NodeId bound : bounds) parts_.size(bound, owner);
    for (NodeId position : positions) parts_.wrap(position, "position", owner + ", ", position);
  }

  std::string named(NodeId value) {
    const Span span = parts_.context.span(value);
    std::string name = "graphmend_o" + std::to_string(span.end) + "_";
    Speculated made{PieceText(parts_.context.text), span, parts_.context.site(value, "named")};
    made.text.add("(" + name + " := (", span);
    made.text.copy(span);
    made.text.add("))", span);
    parts_.found.push_back(std::move(made));
    return name;
  }

  // `x[mask, :]`: a slice is no expression by itself, and is made by a call.
  void parts(NodeId id, const SubscriptView& view) {
    const auto is_slice = [this](NodeId part) { return parts_.tree.kind(part) == NodeKind::Slice; };
    if (std::ranges::all_of(parts_.tree.children(view.slice), is_slice)) return;
    if (binds_or_waits(parts_.tree, view.value) || binds_or_waits(parts_.tree, view.slice)) return;
    const Span span = parts_.context.span(id);
    Speculated made{PieceText(parts_.context.text), span, parts_.context.site(id, "subscript")};
    made.text.add("__graphmend__.subscript('" + made.site + "', (", span);
    made.text.copy(parts_.context.span(view.value));
    made.text.add("), (", span);
    for (NodeId part : parts_.tree.children(view.slice)) {
      if (parts_.tree.kind(part) == NodeKind::Starred) return;
      if (parts_.tree.kind(part) == NodeKind::Slice) {
        bounds(part, made.text);
      } else {
        made.text.copy(parts_.context.span(part));
      }
      made.text.add(", ", span);
    }
    made.text.add("))", span);
    parts_.found.push_back(std::move(made));
  }

  void bounds(NodeId id, PieceText& text) const {
    const SliceView view(parts_.tree, id);
    const Span span = parts_.context.span(id);
    text.add("__graphmend__.bounds(", span);
    for (NodeId bound : {view.lower, view.upper, view.step}) {
      if (bound) {
        text.copy(parts_.context.span(bound));
      } else {
        text.add("None", span);
      }
      text.add(", ", span);
    }
    text.add(")", span);
  }

  SpeculatedParts& parts_;
  bool elements_;
};

}  // namespace

void speculate_subscript(SpeculatedParts& parts, NodeId id, bool elements) {
  Subscripts(parts, elements).subscript(id);
}

}  // namespace graphmend
