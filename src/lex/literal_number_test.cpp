// Tests of number literals' values. Expected texts are what CPython 3.13 prints for the same literal.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "lex/literal.h"

namespace graphmend {
namespace {

std::string int_text(std::string_view text) { return number_repr(TokenKind::Int, text); }
std::string float_text(std::string_view text) { return number_repr(TokenKind::Float, text); }
std::string imaginary_text(std::string_view text) { return number_repr(TokenKind::Imaginary, text); }

TEST(NumberLiteral, DecimalIntegers) {
  EXPECT_EQ(int_text("0"), "0");
  EXPECT_EQ(int_text("00_0"), "0");
  EXPECT_EQ(int_text("1_000_000"), "1000000");
  EXPECT_EQ(int_text("123456789012345678901234567890"), "123456789012345678901234567890");
}

TEST(NumberLiteral, IntegersOfOtherBases) {
  EXPECT_EQ(int_text("0x0"), "0");
  EXPECT_EQ(int_text("0XfF"), "255");
  EXPECT_EQ(int_text("0x_dead_BEEF"), "3735928559");
  EXPECT_EQ(int_text("0o777"), "511");
  EXPECT_EQ(int_text("0B1_0"), "2");
  EXPECT_EQ(int_text("0xffffffff"), "4294967295");
  EXPECT_EQ(int_text("0x100000000"), "4294967296");
  // The nine digits of a chunk in the middle begin with zeros.
  EXPECT_EQ(int_text("0xde0b6b3a7640001"), "1000000000000000001");
  EXPECT_EQ(int_text("0o7777777777777777777777"), "73786976294838206463");
  EXPECT_EQ(int_text("0x00000000000000000000000000000001"), "1");
}

// 2^n by doubling a decimal text, the slow and obvious way.
std::string power_of_two(int n) {
  std::string digits = "1";
  for (int i = 0; i < n; ++i) {
    int carry = 0;
    for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit) {
      const int doubled = (*digit - '0') * 2 + carry;
      *digit = static_cast<char>('0' + doubled % 10);
      carry = doubled / 10;
    }
    if (carry) digits.insert(digits.begin(), '1');
  }
  return digits;
}

TEST(NumberLiteral, LongIntegers) {
  EXPECT_EQ(int_text("0x1" + std::string(1000, '0')), power_of_two(4000));
  EXPECT_EQ(int_text("0o1" + std::string(1001, '0')), power_of_two(3003));
  EXPECT_EQ(int_text("0b1" + std::string(4001, '0')), power_of_two(4001));
}

TEST(NumberLiteral, HugeIntegersStayHexadecimal) {
  const std::string digits = "1" + std::string(kMaxReprBits / 4, 'a');
  EXPECT_EQ(int_text("0x00" + digits), "0x" + digits);
  EXPECT_EQ(int_text("0x" + std::string(kMaxReprBits, '0') + "1"), "1");
}

TEST(NumberLiteral, DigitLimit) {
  EXPECT_FALSE(check_int(std::string(4300, '9')));
  EXPECT_FALSE(check_int("1" + std::string(4299, '0').insert(100, "_")));
  EXPECT_FALSE(check_int(std::string(5000, '0')));
  EXPECT_FALSE(check_int("0x" + std::string(5000, 'f')));
  const std::optional<Diagnostic> error = check_int(std::string(4301, '9'));
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->span, (Span{0, 4301}));
  EXPECT_EQ(error->message,
            "integer of 4301 digits; Python reads at most 4300 decimal digits, write it in hexadecimal");
}

TEST(NumberLiteral, Floats) {
  EXPECT_EQ(float_text("0."), "0.0");
  EXPECT_EQ(float_text(".5"), "0.5");
  EXPECT_EQ(float_text("5.e3"), "5000.0");
  EXPECT_EQ(float_text("1_0.2_5E+0_1"), "102.5");
  EXPECT_EQ(float_text("09.5"), "9.5");
  EXPECT_EQ(float_text("100000."), "100000.0");
  EXPECT_EQ(float_text("0.1"), "0.1");
  EXPECT_EQ(float_text("3.14159265358979323846"), "3.141592653589793");
}

TEST(NumberLiteral, WhenFloatsGetAnExponent) {
  EXPECT_EQ(float_text("1e15"), "1000000000000000.0");
  EXPECT_EQ(float_text("1e16"), "1e+16");
  EXPECT_EQ(float_text("1e22"), "1e+22");
  EXPECT_EQ(float_text("0.0001"), "0.0001");
  EXPECT_EQ(float_text("0.00001"), "1e-05");
  EXPECT_EQ(float_text("123456789012345678."), "1.2345678901234568e+17");
  EXPECT_EQ(float_text("1.5e300"), "1.5e+300");
}

TEST(NumberLiteral, FloatsAreRoundedCorrectly) {
  // Halfway between two doubles goes to the even one; a digit far behind decides otherwise.
  EXPECT_EQ(float_text("9007199254740993.0"), "9007199254740992.0");
  EXPECT_EQ(float_text("9007199254740993." + std::string(500, '0') + "1"), "9007199254740994.0");
  EXPECT_EQ(float_text("2.2250738585072011e-308"), "2.225073858507201e-308");
  EXPECT_EQ(float_text("5e-324"), "5e-324");
  EXPECT_EQ(float_text("2.4703282292062328e-324"), "5e-324");
  EXPECT_EQ(float_text("1.7976931348623157e308"), "1.7976931348623157e+308");
}

TEST(NumberLiteral, FloatsOutOfRange) {
  EXPECT_EQ(float_text("1.7976931348623159e308"), "inf");
  EXPECT_EQ(float_text("1e400"), "inf");
  EXPECT_EQ(float_text("1e99999999999999999999"), "inf");
  EXPECT_EQ(float_text(std::string(400, '1') + ".0"), "inf");
  EXPECT_EQ(float_text("2.4703282292062327e-324"), "0.0");
  EXPECT_EQ(float_text("1e-400"), "0.0");
  EXPECT_EQ(float_text("1e-99999999999999999999"), "0.0");
  EXPECT_EQ(float_text("0e99999999999999999999"), "0.0");
  EXPECT_EQ(float_text("0." + std::string(400, '0') + "1"), "0.0");
  EXPECT_EQ(float_text("0." + std::string(400, '0') + "1e401"), "1.0");
  EXPECT_EQ(float_text("1" + std::string(400, '0') + "e-400"), "1.0");
  EXPECT_EQ(float_text("1" + std::string(400, '0') + "e-1000"), "0.0");
}

TEST(NumberLiteral, ImaginaryNumbers) {
  EXPECT_EQ(imaginary_text("0j"), "0j");
  EXPECT_EQ(imaginary_text("0.0J"), "0j");
  EXPECT_EQ(imaginary_text("1j"), "1j");
  EXPECT_EQ(imaginary_text("09j"), "9j");
  EXPECT_EQ(imaginary_text("1.5J"), "1.5j");
  EXPECT_EQ(imaginary_text("1e16j"), "1e+16j");
  EXPECT_EQ(imaginary_text("1_000j"), "1000j");
  EXPECT_EQ(imaginary_text("1e400j"), "infj");
  EXPECT_EQ(imaginary_text(std::string(5000, '1') + "j"), "infj");
}

}  // namespace
}  // namespace graphmend
