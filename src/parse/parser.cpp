// The parser's frame: reading tokens, making nodes. In: tokens. Out: nodes, children first, then the tree.
#include "parse/parser.h"

#include "parse/build_tree.h"
#include "parse/parser_state.h"

namespace graphmend {

ParseResult parse(std::string_view text, const Tokens& tokens, Version target) {
  return Parser(text, tokens, target).run();
}

Parser::Parser(std::string_view text, const Tokens& tokens, Version target)
    : text_(text), tokens_(tokens), target_(target) {
  // Nearly one node a token; pages that stay unused are never touched.
  nodes_.reserve(tokens.size() + 1);
}

// file: statement* end_of_file
ParseResult Parser::run() {
  pos_ = tokens_[TokenId(0)].kind == TokenKind::Comment ? next_index(0) : 0;
  kind_ = tokens_[TokenId(pos_)].kind;
  Mark from = mark();
  statements_until(TokenKind::EndOfFile);
  previous_ = tokens_.size() - 1;
  from.token = 0;
  emit(NodeKind::Module, from);
  return {build_tree(nodes_), std::move(errors_)};
}

uint32_t Parser::next_index(uint32_t index) const {
  do {
    ++index;
  } while (index + 1 < tokens_.size() && tokens_[TokenId(index)].kind == TokenKind::Comment);
  return index < tokens_.size() ? index : tokens_.size() - 1;
}

void Parser::advance() {
  if (failed_) [[unlikely]]
    return;
  previous_ = pos_;
  const Token* all = tokens_.all.data();
  // The last token is EndOfFile, which nobody advances past.
  do {
    ++pos_;
  } while (all[pos_].kind == TokenKind::Comment);
  kind_ = all[pos_].kind;
}

bool Parser::expect(TokenKind kind, std::string_view after) {
  if (accept(kind)) return true;
  std::string what = "`" + std::string(token_text(kind)) + "`";
  if (kind < TokenKind::LeftParen) what = token_text(kind);
  if (!after.empty()) what += " after " + std::string(after);
  fail_expected(what);
  return false;
}

bool Parser::expect_close(TokenKind close, uint32_t open_token) {
  if (accept(close)) return true;
  if (!failed()) fail_expected(closing_of(open_token));
  return false;
}

void Parser::emit(NodeKind kind, Mark from, Extra extra) {
  // After an error the parts stay as they are, for the ErrorStatement to hold.
  if (failed_) [[unlikely]]
    return;
  const auto size = static_cast<uint32_t>(nodes_.size() - from.node + 1);
  // A node that covers nothing (after an error) covers the token it stands before.
  const uint32_t last = previous_ < from.token ? from.token : previous_;
  nodes_.push_back({kind, extra.op, extra.flags, extra.optional, TokenId(from.token), TokenId(last), size});
}

// The current token becomes a node of its own.
void Parser::emit_leaf(NodeKind kind, Extra extra) {
  nodes_.push_back({kind, extra.op, extra.flags, extra.optional, TokenId(pos_), TokenId(pos_), 1});
  advance();
}

Parser::Deeper::Deeper(Parser& parser, uint32_t units)
    : parser_(parser), units_(units), saved_bare_field_(parser.bare_field_), saved_open_bracket_(parser.open_bracket_) {
  parser_.depth_ += units;
  if (units == kBracketDepth) {
    parser_.bare_field_ = false;
    parser_.open_bracket_ = parser.pos_;
  }
  if (parser_.depth_ > kMaxDepth && !parser_.failed()) parser_.fail("nested too deeply to be read");
}

Parser::Deeper::~Deeper() {
  parser_.depth_ -= units_;
  parser_.bare_field_ = saved_bare_field_;
  parser_.open_bracket_ = saved_open_bracket_;
}

}  // namespace graphmend
