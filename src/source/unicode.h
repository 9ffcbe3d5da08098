// What Unicode says about characters. In: code points, UTF-8. Out: identifiers, printability, NFKC, names.
// All of it as CPython 3.13 does (Unicode 15.1); characters of later versions are unassigned.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "source/utf8.h"

namespace graphmend {

namespace internal {
bool is_xid_start_beyond_ascii(char32_t code);
bool is_xid_continue_beyond_ascii(char32_t code);
bool is_printable_beyond_ascii(char32_t code);
}  // namespace internal

// May stand first in an identifier; `_` may.
inline bool is_xid_start(char32_t code) {
  if (code < 0x80) return (code >= 'a' && code <= 'z') || (code >= 'A' && code <= 'Z') || code == '_';
  return internal::is_xid_start_beyond_ascii(code);
}

// May follow in an identifier.
inline bool is_xid_continue(char32_t code) {
  if (code < 0x80) return is_xid_start(code) || (code >= '0' && code <= '9');
  return internal::is_xid_continue_beyond_ascii(code);
}

// What `repr` shows as it is: `str.isprintable`.
inline bool is_printable(char32_t code) {
  if (code < 0x80) return code >= 0x20 && code < 0x7F;
  return internal::is_printable_beyond_ascii(code);
}

// The form in which identifiers are compared. Text that is not UTF-8 comes back as it is.
std::string nfkc(std::string_view text);

// The character that `\N{name}` stands for in a string literal: names and aliases in any case, named sequences not.
std::optional<char32_t> find_character(std::string_view name);

}  // namespace graphmend
