// The values of number literals. In: the text of an Int, Float or Imaginary token. Out: Python's `repr`, or an error.
// Only the C++ library's locale-free conversions are used, so that no setting of the host program changes a value.
#include <algorithm>
#include <charconv>
#include <limits>
#include <system_error>
#include <utility>
#include <vector>

#include "lex/literal.h"
#include "lex/python_repr.h"

namespace graphmend {
namespace {

std::string without_underscores(std::string_view text) {
  std::string digits(text);
  std::erase(digits, '_');
  return digits;
}

// Bits of a digit after the prefix `0x`, `0o` or `0b`; 0 for a decimal number.
unsigned bits_per_digit(std::string_view text) {
  if (text.size() < 2 || text[0] != '0') return 0;
  switch (text[1]) {
    case 'x':
    case 'X':
      return 4;
    case 'o':
    case 'O':
      return 3;
    case 'b':
    case 'B':
      return 1;
    default:
      return 0;
  }
}

constexpr uint32_t digit_value(char c) {
  if (c <= '9') return static_cast<uint32_t>(c - '0');
  // Sets the bit that tells lower case from upper case.
  return static_cast<uint32_t>((c | 0x20) - 'a' + 10);
}

// Least significant first, no zeros at the top.
using Limbs = std::vector<uint32_t>;

Limbs limbs_from_digits(std::string_view digits, unsigned bits) {
  Limbs limbs;
  limbs.reserve(digits.size() * bits / 32 + 1);
  uint64_t pending = 0;
  unsigned pending_bits = 0;
  for (auto c = digits.rbegin(); c != digits.rend(); ++c) {
    if (*c == '_') continue;
    pending |= static_cast<uint64_t>(digit_value(*c)) << pending_bits;
    pending_bits += bits;
    if (pending_bits >= 32) {
      limbs.push_back(static_cast<uint32_t>(pending));
      pending >>= 32;
      pending_bits -= 32;
    }
  }
  limbs.push_back(static_cast<uint32_t>(pending));
  while (!limbs.empty() && limbs.back() == 0) limbs.pop_back();
  return limbs;
}

// Divides by 10^9 and returns the remainder, the next nine decimal digits from the right.
uint32_t take_chunk(Limbs& limbs) {
  constexpr uint64_t kChunk = 1'000'000'000;
  uint64_t remainder = 0;
  for (auto limb = limbs.rbegin(); limb != limbs.rend(); ++limb) {
    const uint64_t dividend = remainder << 32 | *limb;
    *limb = static_cast<uint32_t>(dividend / kChunk);
    remainder = dividend % kChunk;
  }
  if (limbs.back() == 0) limbs.pop_back();
  return static_cast<uint32_t>(remainder);
}

std::string decimal(Limbs limbs) {
  if (limbs.empty()) return "0";
  std::string reversed;
  reversed.reserve(limbs.size() * 10);
  while (!limbs.empty()) {
    uint32_t chunk = take_chunk(limbs);
    // The leading chunk has no zeros before it; all others have nine digits.
    const bool is_leading = limbs.empty();
    for (int i = 0; is_leading ? chunk != 0 : i < 9; ++i) {
      reversed.push_back(static_cast<char>('0' + chunk % 10));
      chunk /= 10;
    }
  }
  std::reverse(reversed.begin(), reversed.end());
  return reversed;
}

std::string hexadecimal(const Limbs& limbs) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out = "0x";
  bool is_leading = true;
  for (auto limb = limbs.rbegin(); limb != limbs.rend(); ++limb) {
    for (int shift = 28; shift >= 0; shift -= 4) {
      const uint32_t digit = *limb >> shift & 0xF;
      if (digit == 0 && is_leading) continue;
      is_leading = false;
      out.push_back(kDigits[digit]);
    }
  }
  return out;
}

std::string int_repr(std::string_view text) {
  if (const unsigned bits = bits_per_digit(text)) {
    Limbs limbs = limbs_from_digits(text.substr(2), bits);
    return limbs.size() > kMaxReprBits / 32 ? hexadecimal(limbs) : decimal(std::move(limbs));
  }
  // Decimal numbers begin with 0 only when they have no other digit.
  return text[0] == '0' ? "0" : without_underscores(text);
}

// Whether the first digit other than 0 stands left of the decimal point once the exponent is applied.
// `digits` has no underscores and a digit other than 0.
bool is_at_least_one(std::string_view digits) {
  const size_t mantissa_end = std::min(digits.find_first_of("eE"), digits.size());
  const std::string_view mantissa = digits.substr(0, mantissa_end);
  const size_t point = std::min(mantissa.find('.'), mantissa.size());
  const size_t first = mantissa.find_first_not_of("0.");
  // The number is d.ddd * 10^magnitude.
  int64_t magnitude = static_cast<int64_t>(point) - static_cast<int64_t>(first) - (first < point ? 1 : 0);

  // Texts are shorter than 2^31 bytes, so beyond this bound the exponent decides alone.
  constexpr int64_t kBound = int64_t{1} << 40;
  bool is_negative = false;
  int64_t exponent = 0;
  for (const char c : digits.substr(mantissa_end)) {
    if (c == '-') is_negative = true;
    if (c >= '0' && c <= '9') exponent = std::min(exponent * 10 + (c - '0'), kBound);
  }
  magnitude += is_negative ? -exponent : exponent;
  return magnitude >= 0;
}

}  // namespace

std::optional<Diagnostic> find_int_error(std::string_view text) {
  if (text.empty() || text[0] == '0') return std::nullopt;
  const size_t digits = text.size() - static_cast<size_t>(std::count(text.begin(), text.end(), '_'));
  if (digits <= kMaxDecimalDigits) return std::nullopt;
  return Diagnostic{{0, static_cast<uint32_t>(text.size())},
                    "integer of " + std::to_string(digits) + " digits; Python reads at most " +
                        std::to_string(kMaxDecimalDigits) + " decimal digits, write it in hexadecimal"};
}

double float_value(std::string_view text) {
  std::string buffer;
  if (text.find('_') != std::string_view::npos) {
    buffer = without_underscores(text);
    text = buffer;
  }
  double value = 0;
  const std::from_chars_result result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec != std::errc::result_out_of_range) return value;
  // The standard leaves `value` alone then, and does not say in which direction it went out of range.
  return is_at_least_one(text) ? std::numeric_limits<double>::infinity() : 0.0;
}

std::string number_repr(TokenKind kind, std::string_view text) {
  if (text.empty()) return "0";
  if (kind == TokenKind::Int) return int_repr(text);
  const double value = float_value(text);
  return kind == TokenKind::Float ? float_repr(value) : imaginary_repr(value);
}

}  // namespace graphmend
