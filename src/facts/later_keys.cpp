// Values of literal keys. In: an expression node. Out: a text that is equal for keys that Python holds equal.
#include "facts/later_keys.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "lex/literal.h"

namespace graphmend {

namespace {

std::string integral_text(double value) {
  // The exact digits, so that they can be compared with those of an integer; the longest has 309.
  char digits[400];
  std::snprintf(digits, sizeof digits, "%.0f", value);
  return digits;
}

std::string real_text(double value) {
  if (value == 0) return "0";
  if (std::isfinite(value) && std::trunc(value) == value) return integral_text(value);
  char digits[40];
  std::snprintf(digits, sizeof digits, "%.17g", value);
  return digits;
}

struct NumberValue {
  // Integers keep all their digits in the text.
  std::string text;
  double value = 0;
  bool imaginary = false;
};

NumberValue number_value(std::string_view text, const Token& token) {
  NumberValue number;
  std::string_view spelling = token.span().in(text);
  if (token.kind == TokenKind::Int) {
    number.text = number_repr(token.kind, spelling);
    number.value = std::strtod(number.text.c_str(), nullptr);
    return number;
  }
  number.imaginary = token.kind == TokenKind::Imaginary;
  if (number.imaginary) spelling.remove_suffix(1);
  number.value = float_value(spelling);
  number.text = real_text(number.value);
  return number;
}

void negate(NumberValue& number) {
  number.value = -number.value;
  if (number.text != "0") number.text.insert(0, "-");
}

// NUMBER | '-' NUMBER
bool read_signed(std::string_view text, const Tree& tree, const Tokens& tokens, NodeId id, NumberValue& number) {
  if (tree.kind(id) == NodeKind::UnaryOp) {
    NodeId operand = tree.first_child(id);
    if (!operand || tree.kind(operand) != NodeKind::Number) return false;
    number = number_value(text, tokens[tree[operand].first_token]);
    if (tree[id].operation() == Operator::USub) negate(number);
    return true;
  }
  if (tree.kind(id) != NodeKind::Number) return false;
  number = number_value(text, tokens[tree[id].first_token]);
  return true;
}

std::string complex_key(double real, double imaginary) {
  std::string key = "n" + real_text(real);
  if (imaginary != 0) key += "+" + real_text(imaginary) + "j";
  return key;
}

std::string string_body(std::string_view text, const Token& token) {
  std::string_view spelling = token.span().in(text);
  const size_t quotes = token.flags & string_flag::kTriple ? 3 : 1;
  if (spelling.size() < token.prefix_length + 2 * quotes) return {};
  spelling.remove_prefix(token.prefix_length + quotes);
  spelling.remove_suffix(quotes);
  return decode_string(spelling, token.flags).value;
}

std::string strings_key(std::string_view text, const Tree& tree, const Tokens& tokens, NodeId id) {
  std::string key;
  for (NodeId part = id; part < tree.end_of(id); ++part) {
    if (tree.kind(part) == NodeKind::Strings) continue;
    if (tree.kind(part) != NodeKind::String) return {};
    const Token& token = tokens[tree[part].first_token];
    if (key.empty()) key = token.flags & string_flag::kBytes ? "b" : "s";
    key += string_body(text, token);
  }
  return key;
}

}  // namespace

std::string literal_key(std::string_view text, const Tree& tree, const Tokens& tokens, NodeId id) {
  NumberValue number;
  switch (tree.kind(id)) {
    case NodeKind::String:
    case NodeKind::Strings:
      return strings_key(text, tree, tokens, id);
    case NodeKind::Constant:
      switch (tokens[tree[id].first_token].kind) {
        case TokenKind::True:
          return "n1";
        case TokenKind::False:
          return "n0";
        case TokenKind::None:
          return "None";
        default:
          return {};
      }
    case NodeKind::Number:
    case NodeKind::UnaryOp:
      if (!read_signed(text, tree, tokens, id, number)) return {};
      return number.imaginary ? complex_key(0, number.value) : "n" + number.text;
    case NodeKind::BinOp: {
      NumberValue imaginary;
      NodeId left = tree.first_child(id);
      NodeId right = left ? tree.next_sibling(left) : NodeId();
      if (!right || right >= tree.end_of(id)) return {};
      if (!read_signed(text, tree, tokens, left, number) || !read_signed(text, tree, tokens, right, imaginary))
        return {};
      const bool minus = tree[id].operation() == Operator::Sub;
      return complex_key(number.value, minus ? -imaginary.value : imaginary.value);
    }
    default:
      return {};
  }
}

}  // namespace graphmend
