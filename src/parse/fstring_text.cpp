// The text in f-strings as CPython cuts and records it. In: text, Tokens, Tree. Out: parts of literal text, `=` texts.
// CPython's tokenizer keeps one buffer for the source of an f-string's fields; `FieldScan` retraces what it does.
#include "parse/fstring_text.h"

#include <algorithm>
#include <optional>

#include "lex/literal.h"
#include "parse/views.h"

namespace graphmend {

namespace {

bool is_template(const Tree& tree, NodeId interpolation) {
  const NodeId parent = tree.parent(interpolation);
  return parent && tree.kind(parent) == NodeKind::FString && tree[parent].has(node_flag::kTemplate);
}

// The range of source that 3.13.0 takes for the text of a `=` field. Three of its peculiarities show:
// a `!=` at the level of the field ends the text; once any `=` was seen (that of a keyword argument will do), so do a
// colon or `!=` one bracket deeper, and a brace at the level of the field starts it anew; and a field in a format
// that directly follows another one keeps the text of that one.
class FieldScan {
 public:
  explicit FieldScan(const Tokens& tokens) : tokens_(tokens) {}

  // `first` opens the outermost field of the f-string, `last` ends the expression in question. Nothing when CPython
  // keeps no text for `last`, as in formats of formats.
  std::optional<Span> text_at(TokenId first, TokenId last) {
    for (TokenId t = first; t <= last; ++t) {
      const Token& token = tokens_[t];
      switch (token.kind) {
        case TokenKind::FStringStart:
          ++nested_;
          continue;
        case TokenKind::FStringEnd:
          if (nested_ > 0) --nested_;
          continue;
        case TokenKind::FStringMiddle:
          if (nested_ > 0) continue;
          in_format_ = false;
          follows_text_ = true;
          continue;
        default:
          break;
      }
      if (nested_ > 0) continue;
      const bool is_recorded = step(t);
      if (t == last) return is_recorded ? std::optional<Span>({start_, end_}) : std::nullopt;
    }
    return std::nullopt;
  }

 private:
  // Whether the text so far is recorded with this token.
  bool step(TokenId t) {
    const Token& token = tokens_[t];
    if (in_text_) leave_text(t);
    bool is_recorded = false;
    switch (token.kind) {
      case TokenKind::LeftBrace:
        if (is_tracked(depth_)) restart(token);
        break;
      case TokenKind::Colon:
      case TokenKind::ColonEqual:
      case TokenKind::RightBrace:
      case TokenKind::Exclamation:
      case TokenKind::NotEqual:
        if (is_tracked(depth_ - 1)) {
          if (!has_end_) end_ = token.start;
          has_end_ = true;
          is_recorded = in_debug_;
        }
        if (token.kind == TokenKind::Colon && depth_ - 1 == field_depth_) {
          in_text_ = true;
          in_format_ = true;
        }
        break;
      case TokenKind::Equal:
        in_debug_ = true;
        break;
      default:
        break;
    }
    if (is_opening(token.kind)) ++depth_;
    if (is_closing(token.kind)) --depth_;
    if (token.kind == TokenKind::RightBrace && depth_ == field_depth_) {
      --field_depth_;
      in_text_ = true;
      in_format_ = false;
      in_debug_ = false;
    }
    return is_recorded;
  }

  // A format ends with its line in f-strings of one quote; what follows is ordinary tokens, braces included.
  void leave_text(TokenId t) {
    const Token& token = tokens_[t];
    const bool is_next_line = t.index > 0 && tokens_[t - 1].end != token.start;
    const bool opens_field = token.kind == TokenKind::LeftBrace && !is_next_line;
    const Token& next = tokens_[t + (t.index + 1 < tokens_.size() ? 1 : 0)];
    // `{{` in a format is looked at as text first.
    const bool is_doubled = next.kind == TokenKind::LeftBrace && next.start == token.end;
    in_text_ = false;
    if (opens_field) ++field_depth_;
    if (opens_field && (follows_text_ || is_doubled)) restart(token);
    if (!opens_field || is_doubled) in_format_ = false;
    follows_text_ = false;
  }

  bool is_tracked(int depth) const { return depth == 0 || (depth == 1 && (in_debug_ || in_format_)); }

  void restart(const Token& brace) {
    start_ = brace.end;
    has_end_ = false;
  }

  static bool is_opening(TokenKind kind) {
    return kind == TokenKind::LeftParen || kind == TokenKind::LeftBracket || kind == TokenKind::LeftBrace;
  }
  static bool is_closing(TokenKind kind) {
    return kind == TokenKind::RightParen || kind == TokenKind::RightBracket || kind == TokenKind::RightBrace;
  }

  const Tokens& tokens_;
  int nested_ = 0;
  // Brackets that are open, those of fields included; and the depth at which the innermost field was opened.
  int depth_ = 0;
  int field_depth_ = -1;
  // Between fields, or in a format.
  bool in_text_ = true;
  bool follows_text_ = false;
  bool in_format_ = false;
  bool in_debug_ = false;
  bool has_end_ = false;
  uint32_t start_ = 0;
  uint32_t end_ = 0;
};

NodeId outermost_field(const Tree& tree, NodeId interpolation) {
  NodeId field = interpolation;
  for (NodeId id = tree.parent(field); id; id = tree.parent(id)) {
    if (tree.kind(id) == NodeKind::Interpolation) field = id;
    if (tree.kind(id) != NodeKind::Interpolation && tree.kind(id) != NodeKind::FormatSpec) break;
  }
  return field;
}

std::string with_line_feeds(std::string_view source) {
  std::string result;
  result.reserve(source.size());
  for (size_t i = 0; i < source.size(); ++i) {
    if (source[i] != '\r') {
      result += source[i];
      continue;
    }
    result += '\n';
    if (i + 1 < source.size() && source[i + 1] == '\n') ++i;
  }
  return result;
}

// 3.13.0 takes every `#` for the start of a comment, those in strings too; 3.14 knows strings.
std::string without_comments(std::string_view source, bool knows_strings) {
  std::string result;
  char quote = 0;
  for (size_t i = 0; i < source.size(); ++i) {
    const char c = source[i];
    if (knows_strings && (c == '"' || c == '\'') && (quote == 0 || quote == c)) quote = quote == 0 ? c : '\0';
    if (c != '#' || quote != 0) {
      result += c;
      continue;
    }
    i = source.find('\n', i);
    if (i == std::string_view::npos) break;
    result += '\n';
  }
  return result;
}

Span plain_text_span(const Tree& tree, const Tokens& tokens, NodeId interpolation, TokenId end) {
  const uint32_t start = tokens[tree[interpolation].first_token].end;
  return {start, std::max(start, tokens[end].start)};
}

}  // namespace

std::vector<FStringPart> fstring_parts(std::string_view text, const Token& token, bool in_format_spec) {
  using namespace string_flag;
  // 3.13.0 reads escapes in the formats of raw f-strings; 3.14 does not.
  const bool decodes_raw = in_format_spec && !(token.flags & kTemplate);
  const uint8_t flags =
      static_cast<uint8_t>(token.flags & (decodes_raw ? ~(kRaw | kHasDoubledBrace) : ~kHasDoubledBrace));
  const bool raw = (token.flags & kRaw) != 0;
  const std::string_view body = token.span().in(text);
  std::vector<FStringPart> parts;
  size_t start = 0;
  auto cut = [&](size_t value_end, size_t end) {
    std::string value = decode_string(body.substr(start, value_end - start), flags).value;
    const Span span{token.start + static_cast<uint32_t>(start), token.start + static_cast<uint32_t>(end)};
    if (!value.empty()) parts.push_back({std::move(value), span});
    start = end;
  };
  bool in_name_escape = false;
  for (size_t i = 0; i < body.size(); ++i) {
    const char c = body[i];
    const char next = i + 1 < body.size() ? body[i + 1] : '\0';
    if (c == '\\') {
      if (!raw && next == 'N' && i + 2 < body.size() && body[i + 2] == '{') {
        in_name_escape = true;
        i += 2;
      } else if (next != '{' && next != '}') {
        ++i;
      }
    } else if (c == '}' && in_name_escape) {
      in_name_escape = false;
      cut(i + 1, i + 1);
    } else if ((c == '{' || c == '}') && next == c && (token.flags & kHasDoubledBrace) != 0) {
      cut(i + 1, i + 2);
      ++i;
    }
  }
  if (start < body.size()) cut(body.size(), body.size());
  return parts;
}

TokenId expression_end(const Tree& tree, const Tokens& tokens, NodeId interpolation) {
  const Node& node = tree[interpolation];
  const NodeId format = InterpolationView(tree, interpolation).format_spec;
  const TokenId end = format ? tree[format].first_token : node.last_token;
  if (node.op == 0) return end;
  for (TokenId t = end; t > node.first_token; t = t - 1) {
    if (tokens[t].kind == TokenKind::Exclamation) return t;
  }
  return end;
}

std::string debug_text(std::string_view text, const Tree& tree, const Tokens& tokens, NodeId interpolation) {
  const TokenId end = expression_end(tree, tokens, interpolation);
  const bool is_t_string = is_template(tree, interpolation);
  std::optional<Span> span;
  if (!is_t_string) {
    span = FieldScan(tokens).text_at(tree[outermost_field(tree, interpolation)].first_token, end);
  }
  if (!span || span->start > span->end) span = plain_text_span(tree, tokens, interpolation, end);
  return without_comments(with_line_feeds(span->in(text)), is_t_string);
}

std::string interpolation_source(std::string_view text, const Tree& tree, const Tokens& tokens, NodeId interpolation) {
  const TokenId end = expression_end(tree, tokens, interpolation);
  const Span span = plain_text_span(tree, tokens, interpolation, end);
  std::string source = without_comments(with_line_feeds(span.in(text)), true);
  const size_t last = source.find_last_not_of(" \t\n\v\f=");
  source.resize(last == std::string::npos ? 0 : last + 1);
  return source;
}

}  // namespace graphmend
