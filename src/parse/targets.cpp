// Targets of assignments, loops and `del`. In: expressions as parsed. Out: the same nodes with their context set.
// CPython's grammar has rules of their own for targets; here an expression is parsed first and then judged.
#include "parse/parser_state.h"

namespace graphmend {

bool Parser::is_single_target(const Node& node) const {
  return node.kind == NodeKind::Name || node.kind == NodeKind::Attribute || node.kind == NodeKind::Subscript;
}

std::string Parser::describe(const Node& node) const {
  switch (node.kind) {
    case NodeKind::Call:
      return "a call";
    case NodeKind::Number:
    case NodeKind::String:
    case NodeKind::Strings:
      return "a literal";
    case NodeKind::FString:
      return "an f-string";
    case NodeKind::Constant:
      return "`" + std::string(token_text_at(node.first_token.index)) + "`";
    case NodeKind::Compare:
      return "a comparison";
    case NodeKind::Tuple:
      return "a tuple";
    case NodeKind::List:
      return "a list";
    case NodeKind::Dict:
      return "a dict";
    case NodeKind::Set:
      return "a set";
    case NodeKind::Starred:
      return "a starred expression";
    case NodeKind::Lambda:
      return "a lambda";
    case NodeKind::IfExp:
      return "a conditional expression";
    case NodeKind::NamedExpr:
      return "an assignment expression";
    case NodeKind::Await:
      return "an await expression";
    case NodeKind::Yield:
    case NodeKind::YieldFrom:
      return "a yield expression";
    case NodeKind::GeneratorExp:
    case NodeKind::ListComp:
    case NodeKind::SetComp:
    case NodeKind::DictComp:
      return "a comprehension";
    default:
      return "an expression";
  }
}

// Sets the context of the target whose node is the given one (nodes are children first). False after an error.
bool Parser::to_target(uint32_t node, Context context, std::string_view role) {
  if (failed()) return false;
  Node& target = nodes_[node];
  switch (target.kind) {
    case NodeKind::Name:
    case NodeKind::Attribute:
    case NodeKind::Subscript:
      target.flags |= static_cast<uint8_t>(context);
      return true;
    case NodeKind::Starred:
      if (context == Context::Delete) break;
      [[fallthrough]];
    case NodeKind::Tuple:
    case NodeKind::List: {
      target.flags |= static_cast<uint8_t>(context);
      uint32_t child = node;
      for (uint32_t left = target.size - 1; left > 0;) {
        --child;
        const uint32_t size = nodes_[child].size;
        if (!to_target(child, context, role)) return false;
        left -= size;
        child -= size - 1;
      }
      return true;
    }
    default:
      break;
  }
  fail_at(span_of(target), "cannot " + std::string(role) + " " + describe(target));
  return false;
}

// targets: star_target (',' star_target)* [',']
void Parser::targets(std::string_view role) {
  Mark from = mark();
  auto one = [&] {
    Mark start = mark();
    if (accept(TokenKind::Star)) {
      operators(Level::BitOr);
      emit(NodeKind::Starred, start);
    } else {
      operators(Level::BitOr);
    }
  };
  one();
  if (at(TokenKind::Comma)) {
    while (accept(TokenKind::Comma)) {
      if (at(TokenKind::In) || at(TokenKind::Equal) || at(TokenKind::Colon)) break;
      one();
    }
    emit(NodeKind::Tuple, from);
  }
  if (!failed()) to_target(static_cast<uint32_t>(nodes_.size()) - 1, Context::Store, role);
}

// star_target, alone: after `as` in a `with` statement
void Parser::single_target(std::string_view role) {
  Mark from = mark();
  if (accept(TokenKind::Star)) {
    operators(Level::BitOr);
    emit(NodeKind::Starred, from);
  } else {
    operators(Level::BitOr);
  }
  if (!failed()) to_target(static_cast<uint32_t>(nodes_.size()) - 1, Context::Store, role);
}

}  // namespace graphmend
