// A sample of what tests/oracle/unicode_check.py compares with CPython in full.
#include "source/unicode.h"

#include <gtest/gtest.h>

namespace graphmend {
namespace {

TEST(Unicode, Identifiers) {
  for (const char32_t code : {U'a', U'Z', U'_', U'µ', U'é', U'ª', U'變', U'ꙮ', U'ℼ', U'𝔘', U'℘', U'℮'}) {
    EXPECT_TRUE(is_xid_start(code)) << static_cast<uint32_t>(code);
  }
  for (const char32_t code :
       {U'0', U'·', U'٠', char32_t{0x0300}, char32_t{0x203F}, char32_t{0xFE00}, char32_t{0xE0100}}) {
    EXPECT_FALSE(is_xid_start(code)) << static_cast<uint32_t>(code);
    EXPECT_TRUE(is_xid_continue(code)) << static_cast<uint32_t>(code);
  }
  for (const char32_t code : {U' ', U'-', U'$', U'゛', U'€', U'×', U'“', U'😀', char32_t{0xA0}, char32_t{0xFEFF},
                              char32_t{0xD800}, char32_t{0x10FFFF}, char32_t{0x110000}}) {
    EXPECT_FALSE(is_xid_continue(code)) << static_cast<uint32_t>(code);
  }
}

TEST(Unicode, Printable) {
  for (const char32_t code : {U' ', U'~', U'é', U'€', U'😀', char32_t{0x0300}, char32_t{0xFFFD}}) {
    EXPECT_TRUE(is_printable(code)) << static_cast<uint32_t>(code);
  }
  for (const char32_t code :
       {U'\0', U'\n', char32_t{0x7F}, char32_t{0x80}, char32_t{0xA0}, char32_t{0xAD}, char32_t{0x2028},
        char32_t{0x3000}, char32_t{0xE000}, char32_t{0xD800}, char32_t{0x378}}) {
    EXPECT_FALSE(is_printable(code)) << static_cast<uint32_t>(code);
  }
}

TEST(Unicode, Nfkc) {
  EXPECT_EQ(nfkc("plain_ascii"), "plain_ascii");
  EXPECT_EQ(nfkc("e\u0301"), "é");
  EXPECT_EQ(nfkc("ﬁnally"), "finally");
  EXPECT_EQ(nfkc("𝔘𝔫𝔦"), "Uni");
  EXPECT_EQ(nfkc("µ"), "μ");
  EXPECT_EQ(nfkc("ℋ②ａ"), "H2a");
  EXPECT_EQ(nfkc("\u212B"), "\u00C5");
  // A singleton stays decomposed, an excluded pair, too.
  EXPECT_EQ(nfkc("\u2126"), "\u03A9");
  EXPECT_EQ(nfkc("\u0958"), "\u0915\u093C");
  // Marks are put in order, and the one in between blocks.
  EXPECT_EQ(nfkc("q\u0307\u0323"), "q\u0323\u0307");
  EXPECT_EQ(nfkc("a\u0323\u0302"), "\u1EAD");
  EXPECT_EQ(nfkc("a\u0302\u0302"), "\u00E2\u0302");
  EXPECT_EQ(nfkc("\u0301a"), "\u0301a");
  // Hangul, by arithmetic.
  EXPECT_EQ(nfkc("\u1100\u1161"), "가");
  EXPECT_EQ(nfkc("\u1100\u1161\u11A8"), "각");
  EXPECT_EQ(nfkc("가\u11A8"), "각");
  EXPECT_EQ(nfkc("각\u11A8"), "각\u11A8");
  EXPECT_EQ(nfkc("\uD7A3"), "\uD7A3");
  // The longest decomposition there is.
  EXPECT_EQ(nfkc("\uFDFA"), "صلى الله عليه وسلم");
}

TEST(Unicode, NfkcLeavesOtherBytesAlone) { EXPECT_EQ(nfkc("e\u0301\xFF"), "e\u0301\xFF"); }

TEST(Unicode, Names) {
  EXPECT_EQ(find_character("LATIN SMALL LETTER A"), U'a');
  EXPECT_EQ(find_character("latin small Letter a"), U'a');
  EXPECT_EQ(find_character("GREEK SMALL LETTER ALPHA"), U'α');
  EXPECT_EQ(find_character("PILE OF POO"), U'💩');
  EXPECT_EQ(find_character("VARIATION SELECTOR-256"), char32_t{0xE01EF});
  EXPECT_EQ(find_character("CJK COMPATIBILITY IDEOGRAPH-2F800"), char32_t{0x2F800});
  // BELL is the emoji; the control character has aliases only.
  EXPECT_EQ(find_character("BELL"), char32_t{0x1F514});
  EXPECT_EQ(find_character("ALERT"), char32_t{7});
  EXPECT_EQ(find_character("nul"), char32_t{0});
  EXPECT_EQ(find_character("LINE FEED"), U'\n');
  EXPECT_EQ(find_character("BOM"), char32_t{0xFEFF});
}

TEST(Unicode, ComputedNames) {
  EXPECT_EQ(find_character("HANGUL SYLLABLE GAG"), char32_t{0xAC01});
  EXPECT_EQ(find_character("HANGUL SYLLABLE A"), char32_t{0xC544});
  EXPECT_EQ(find_character("HANGUL SYLLABLE HIH"), char32_t{0xD7A3});
  EXPECT_EQ(find_character("CJK UNIFIED IDEOGRAPH-4E00"), char32_t{0x4E00});
  EXPECT_EQ(find_character("CJK UNIFIED IDEOGRAPH-04E00"), char32_t{0x4E00});
  EXPECT_EQ(find_character("CJK UNIFIED IDEOGRAPH-2EBF0"), char32_t{0x2EBF0});
  // CPython takes these in upper case only.
  EXPECT_EQ(find_character("hangul syllable gag"), std::nullopt);
  EXPECT_EQ(find_character("CJK UNIFIED IDEOGRAPH-4e00"), std::nullopt);
}

TEST(Unicode, NotNames) {
  for (const char* name :
       {"", " ", "A", "LATIN SMALL LETTER A ", " LATIN SMALL LETTER A", "LATIN  SMALL LETTER A", "LATIN_SMALL_LETTER_A",
        "<control>", "HANGUL SYLLABLE ", "HANGUL SYLLABLE GAGX", "CJK UNIFIED IDEOGRAPH-", "CJK UNIFIED IDEOGRAPH-A000",
        "CJK UNIFIED IDEOGRAPH-020000", "TANGUT IDEOGRAPH-17000", "LATIN SMALL LETTER É"}) {
    EXPECT_EQ(find_character(name), std::nullopt) << name;
  }
  // A named sequence: known to unicodedata.lookup, refused in literals.
  EXPECT_EQ(find_character("LATIN SMALL LETTER R WITH TILDE"), std::nullopt);
}

}  // namespace
}  // namespace graphmend
