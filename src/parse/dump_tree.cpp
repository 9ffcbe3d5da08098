// The tree for people. In: text, Tokens, Tree. Out: one line for each node, indented by its depth.
#include "parse/dump_tree.h"

#include <algorithm>
#include <vector>

#include "lex/python_repr.h"
#include "source/line_index.h"

namespace graphmend {

namespace {

// Deeper nodes show their depth as a number: a chain of a million operators would be indented by its square.
constexpr size_t kMaxIndentation = 64;
constexpr size_t kMaxLeafText = 200;

constexpr std::string_view kContextNames[] = {"load", "store", "delete"};
constexpr std::string_view kSectionNames[] = {"positional-only", "regular", "var-args", "keyword-only", "kw-args"};

bool has_context(NodeKind kind) {
  switch (kind) {
    case NodeKind::Name:
    case NodeKind::Attribute:
    case NodeKind::Subscript:
    case NodeKind::Starred:
    case NodeKind::List:
    case NodeKind::Tuple:
      return true;
    default:
      return false;
  }
}

// What the shared flag means for this kind.
std::string_view flag_name(NodeKind kind) {
  switch (kind) {
    case NodeKind::Tuple:
      return "parenthesized";
    case NodeKind::AnnAssign:
      return "simple";
    case NodeKind::Try:
      return "star";
    case NodeKind::Import:
    case NodeKind::ImportFrom:
      return "lazy";
    case NodeKind::ExceptHandler:
    case NodeKind::Alias:
      return "named";
    case NodeKind::Keyword:
      return "double-star";
    case NodeKind::FString:
      return "template";
    case NodeKind::Interpolation:
      return "debug";
    default:
      return "async";
  }
}

void append_operation(std::string& out, const Node& node) {
  switch (node.kind) {
    case NodeKind::BoolOp:
    case NodeKind::BinOp:
    case NodeKind::UnaryOp:
    case NodeKind::AugAssign:
    case NodeKind::CompareOp:
      out += ' ';
      out += operator_name(node.operation());
      break;
    case NodeKind::Parameter:
      out += ' ';
      if (node.op < std::size(kSectionNames)) out += kSectionNames[node.op];
      break;
    case NodeKind::Interpolation:
      if (node.op != 0) {
        out += " !";
        out += static_cast<char>(node.op);
      }
      break;
    default:
      break;
  }
}

void append_flags(std::string& out, const Node& node) {
  const uint8_t context = node.flags & node_flag::kContextMask;
  if (has_context(node.kind) && context < std::size(kContextNames)) {
    out += ' ';
    out += kContextNames[context];
  }
  if ((node.flags & ~node_flag::kContextMask) != 0) {
    out += ' ';
    out += flag_name(node.kind);
  }
  if (node.optional == 0) return;
  out += " optional=";
  bool first = true;
  for (unsigned bit = 0; bit < 8; ++bit) {
    if (!node.has_optional(bit)) continue;
    if (!first) out += ',';
    out += std::to_string(bit);
    first = false;
  }
}

void append_position(std::string& out, Position position) {
  out += std::to_string(position.line) + ':' + std::to_string(position.column);
}

}  // namespace

std::string dump_tree(std::string_view text, const Tokens& tokens, const Tree& tree) {
  const LineIndex lines(text);
  std::string out;
  // Where the subtrees end that we are in.
  std::vector<NodeId> ends;
  for (NodeId id(0); id.index < tree.size(); ++id) {
    while (!ends.empty() && ends.back() <= id) ends.pop_back();
    const size_t depth = ends.size();
    out.append(2 * std::min(depth, kMaxIndentation), ' ');
    if (depth > kMaxIndentation) out += '(' + std::to_string(depth) + ") ";
    ends.push_back(tree.end_of(id));

    const Node& node = tree[id];
    out += node_name(node.kind);
    append_operation(out, node);
    append_flags(out, node);
    const Span span = node_span(tree, tokens, id);
    out += ' ';
    append_position(out, lines.position(span.start));
    out += '-';
    append_position(out, lines.position(span.end));
    if (node.size == 1 && span.start < span.end) {
      const std::string_view leaf = span.in(text);
      out += ' ' + str_repr(leaf.substr(0, kMaxLeafText));
      if (leaf.size() > kMaxLeafText) out += "...";
    }
    out += '\n';
  }
  return out;
}

}  // namespace graphmend
