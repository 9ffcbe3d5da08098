// The lexer's state, shared by its files. In: text. Out: tokens, appended in order.
// lexer.cpp has lines, indentation, names and operators; lex_number.cpp numbers; lex_string.cpp strings and f-strings.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lex/char_class.h"
#include "lex/lexer.h"

namespace graphmend {

class Lexer {
 public:
  Lexer(const std::string& text, Version target);
  LexResult run();

 private:
  struct Indentation {
    uint32_t column = 0;
    // The column if a tab were one space wide: both must agree, or the file's meaning hangs on the tab size.
    uint32_t alternative = 0;
  };

  struct Bracket {
    char open;
    // The `{` of an f-string's replacement field.
    bool is_field = false;
  };

  // An f-string that is open: which quotes end it, and where in it we are.
  struct OpenFString {
    char quote;
    uint8_t flags;
    // Set at a field's colon, cleared when a field closes; in it `{{` is no escape.
    bool in_format_spec = false;
    // How many of this string's own fields are open.
    uint32_t open_fields = 0;
  };

  // lexer.cpp
  void lex_line_start();
  void set_indentation(Indentation at);
  void lex_tokens_of_line();
  void lex_newline();
  void lex_name();
  void lex_operator();
  void lex_comment();
  void lex_end();
  bool skip_continuation();
  void verify_name(uint32_t start);
  void open_bracket(char open, bool is_field);
  void close_bracket(char close);
  bool recover_from_open_brackets(TokenKind keyword, const char* start);
  void unexpected_character();

  // lex_number.cpp
  void lex_number();
  bool skip_decimal_tail();
  void finish_number(TokenKind kind, const char* start, std::string_view what);
  void bad_number(const char* start, std::string message);
  void lex_prefixed_number(const char* start, unsigned base);

  // lex_string.cpp
  bool at_string_prefix(std::string_view name, uint8_t& flags, bool& is_f_string) const;
  void lex_string(const char* start, uint8_t prefix_length, uint8_t flags, bool is_f_string);
  void open_f_string(const char* start, uint8_t prefix_length, uint8_t flags);
  void lex_f_string_text();
  void lex_f_string_field_start();

  bool at_end() const { return p_ == end_; }
  uint32_t offset(const char* p) const { return static_cast<uint32_t>(p - begin_); }
  void add(TokenKind kind, const char* start, const char* end, uint8_t flags = 0, uint8_t prefix_length = 0) {
    tokens_.push_back({offset(start), offset(end), kind, flags, prefix_length, 0});
  }
  void error(const char* start, const char* end, std::string message) {
    errors_.push_back({{offset(start), offset(end)}, std::move(message)});
  }
  bool in_field() const { return !brackets_.empty() && brackets_.back().is_field; }

  const Version target_;
  const char* const begin_;
  const char* const end_;
  const char* p_;
  std::vector<Token> tokens_;
  Diagnostics errors_;
  std::vector<Indentation> indentations_;
  std::vector<Bracket> brackets_;
  std::vector<OpenFString> f_strings_;
  // Text of an f-string comes next, not tokens.
  bool in_f_string_text_ = false;
};

}  // namespace graphmend
