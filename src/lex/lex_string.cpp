// Strings and f-strings. In: text at a quote. Out: a String token, or the tokens of an f-string.
// Only the extent is found here; escapes are read when a value is wanted (lex/literal.h).
#include <string>

#include "lex/lexer_state.h"

namespace graphmend {

bool Lexer::at_string_prefix(std::string_view name, uint8_t& flags, bool& is_f_string) const {
  using namespace string_flag;
  bool raw = false, bytes = false, unicode = false, f = false, t = false;
  for (char c : name) {
    bool* seen = nullptr;
    switch (c | 0x20) {
      case 'r':
        seen = &raw;
        break;
      case 'b':
        seen = &bytes;
        break;
      case 'u':
        seen = &unicode;
        break;
      case 'f':
        seen = &f;
        break;
      case 't':
        seen = &t;
        break;
      default:
        return false;
    }
    if (*seen) return false;
    *seen = true;
  }
  if (unicode + bytes + f + t > 1 || (unicode && raw)) return false;
  flags =
      static_cast<uint8_t>((raw ? kRaw : 0) | (bytes ? kBytes : 0) | (unicode ? kUnicode : 0) | (t ? kTemplate : 0));
  is_f_string = f || t;
  return true;
}

void Lexer::lex_string(const char* start, uint8_t prefix_length, uint8_t flags, bool is_f_string) {
  using namespace string_flag;
  const char quote = *p_;
  if (p_[1] == quote && p_[2] == quote) flags |= kTriple;
  const bool triple = (flags & kTriple) != 0;
  if (is_f_string) return open_f_string(start, prefix_length, flags);
  p_ += triple ? 3 : 1;
  for (;;) {
    while (!is_class(*p_, char_class::kStringStop)) ++p_;
    const char c = *p_;
    if (c == quote) {
      if (!triple) {
        ++p_;
        break;
      }
      if (p_[1] == quote && p_[2] == quote) {
        p_ += 3;
        break;
      }
    } else if (c == '\\') {
      flags |= kHasBackslash;
      if (p_ + 1 != end_) ++p_;
      if (*p_ == '\r') {
        flags |= kHasCarriageReturn;
        if (p_[1] == '\n') ++p_;
      }
    } else if (c == '\r') {
      flags |= kHasCarriageReturn;
    }
    bool at_line_end = (c == '\n' || c == '\r') && !triple;
    if (at_line_end || at_end()) {
      error(start, start + prefix_length + (triple ? 3 : 1),
            triple ? "this triple-quoted string is never closed" : "this string is not closed on its line");
      break;
    }
    ++p_;
  }
  add(TokenKind::String, start, p_, flags, prefix_length);
}

void Lexer::open_f_string(const char* start, uint8_t prefix_length, uint8_t flags) {
  if (f_strings_.size() + 1 == kMaxFStringDepth) error(start, p_, "more than 149 nested f-strings");
  f_strings_.push_back({*p_, flags, false, 0});
  p_ += (flags & string_flag::kTriple) != 0 ? 3 : 1;
  add(TokenKind::FStringStart, start, p_, flags, prefix_length);
  in_f_string_text_ = true;
}

void Lexer::lex_f_string_field_start() {
  OpenFString& f_string = f_strings_.back();
  if (f_string.open_fields == kMaxFStringFieldDepth) error(p_, p_ + 1, "f-string fields are nested too deeply");
  ++f_string.open_fields;
  open_bracket('{', true);
  const char* start = p_++;
  add(TokenKind::LeftBrace, start, p_);
  in_f_string_text_ = false;
}

// The literal text of the innermost f-string up to a field, the end of a format, or the closing quotes.
void Lexer::lex_f_string_text() {
  using namespace string_flag;
  OpenFString& f_string = f_strings_.back();
  const bool triple = (f_string.flags & kTriple) != 0;
  const bool raw = (f_string.flags & kRaw) != 0;
  const char* start = p_;
  uint8_t seen = 0;
  bool in_name_escape = false;
  auto add_text = [&] {
    if (p_ != start) add(TokenKind::FStringMiddle, start, p_, static_cast<uint8_t>(f_string.flags | seen));
  };
  auto close = [&](const char* text_end, const char* string_end) {
    p_ = text_end;
    add_text();
    p_ = string_end;
    add(TokenKind::FStringEnd, text_end, p_, f_string.flags);
    // Fields that are still open end here too; the parser will miss their braces.
    while (f_string.open_fields > 0 && !brackets_.empty()) {
      f_string.open_fields -= brackets_.back().is_field ? 1 : 0;
      brackets_.pop_back();
    }
    f_strings_.pop_back();
    in_f_string_text_ = false;
  };
  for (;; ++p_) {
    while (!is_class(*p_, char_class::kFStringStop)) ++p_;
    switch (*p_) {
      case '"':
      case '\'':
        if (*p_ != f_string.quote) break;
        if (!triple) return close(p_, p_ + 1);
        if (p_[1] == *p_ && p_[2] == *p_) return close(p_, p_ + 3);
        break;
      case '\r':
      case '\n':
        if (*p_ == '\r') seen |= kHasCarriageReturn;
        if (triple) break;
        if (f_string.in_format_spec && f_string.open_fields > 0) {
          // The format ends with the line, and its field goes on behind it.
          add_text();
          in_f_string_text_ = false;
          return;
        }
        error(p_, p_, "this f-string is not closed on its line");
        return close(p_, p_);
      case 0:
        if (!at_end()) break;
        error(p_, p_, triple ? "a triple-quoted f-string is never closed" : "this f-string is not closed on its line");
        return close(p_, p_);
      case '\\':
        seen |= kHasBackslash;
        if (p_[1] == '{' || p_[1] == '}') break;
        if (!raw && p_[1] == 'N' && p_[2] == '{') {
          in_name_escape = true;
          p_ += 2;
          break;
        }
        if (p_ + 1 == end_) break;
        ++p_;
        if (*p_ == '\r') {
          seen |= kHasCarriageReturn;
          if (p_[1] == '\n') ++p_;
        }
        break;
      case '{':
        if (p_[1] == '{' && !f_string.in_format_spec) {
          seen |= kHasDoubledBrace;
          ++p_;
          break;
        }
        add_text();
        return lex_f_string_field_start();
      case '}':
        if (in_name_escape) {
          in_name_escape = false;
          break;
        }
        if (f_string.open_fields > 0) {
          add_text();
          in_f_string_text_ = false;
          return;
        }
        if (p_[1] == '}') {
          seen |= kHasDoubledBrace;
          ++p_;
          break;
        }
        error(p_, p_ + 1, "a single `}` in an f-string; write `}}` for a brace");
        break;
      default:
        break;
    }
  }
}

}  // namespace graphmend
