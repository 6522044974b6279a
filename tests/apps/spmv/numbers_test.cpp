// SPDX-License-Identifier: BSD-3-Clause
//
// Numbers and formats as matrix files have them, and what is refused. No ranks.
#include <gtest/gtest.h>

#include <iomanip>  // has std::quoted, too
#include <string>
#include <utility>
#include <vector>

#include "apps/spmv/numbers.hpp"

namespace tessera::apps::spmv {
namespace {

TEST(Numbers, QuotedIsOursBesideThatOfTheStandardLibrary) {
  const std::string text = "a\tb";
  EXPECT_EQ(quoted(text), "'a?b'");
  EXPECT_EQ(quoted(std::string_view(text)), "'a?b'");
}

TEST(Numbers, Real) {
  const std::vector<std::pair<std::string, double>> good = {
      {"1", 1},
      {"-1.5", -1.5},
      {"+2.25", 2.25},
      {".5", 0.5},
      {"1.", 1},
      {"1e3", 1000},
      {"1E-3", 0.001},
      {"-0", 0},
      {"1e-400", 0},
      {"4.9e-324", 4.9e-324},
      {"1.7976931348623157e308", 1.7976931348623157e308}};
  for (const auto& [text, value] : good) {
    const auto parsed = parse_real(text);
    EXPECT_TRUE(parsed.ok()) << text << ": " << parsed.fault;
    EXPECT_EQ(parsed.value, value) << text;
  }
  const std::vector<std::pair<std::string, std::string>> bad = {
      {"", "'' is not a number"},
      {"x", "'x' is not a number"},
      {"1.5x", "'1.5x' is not a number"},
      {"+-1", "'+-1' is not a number"},
      {"1d3", "'1d3' is not a number"},
      {"0x10", "'0x10' is not a number"},
      {"nan", "'nan' is not finite"},
      {"-inf", "'-inf' is not finite"},
      {"1e999", "'1e999' is too large for a double"}};
  for (const auto& [text, fault] : bad) {
    EXPECT_EQ(parse_real(text).fault, fault);
  }
}

TEST(Numbers, Whole) {
  EXPECT_EQ(parse_whole("-42").value, -42);
  EXPECT_EQ(parse_whole("+7").value, 7);
  EXPECT_EQ(parse_whole("9223372036854775807").value, 9223372036854775807);
  EXPECT_EQ(parse_whole("9223372036854775808").fault, "'9223372036854775808' does not fit 64 bits");
  EXPECT_EQ(parse_whole("1.0").fault, "'1.0' is not a whole number");
  EXPECT_EQ(parse_whole("").fault, "'' is not a whole number");
  EXPECT_EQ(parse_whole_as_real("9007199254740992").value, 0x1p53);
  EXPECT_EQ(parse_whole_as_real("9007199254740993").fault,
            "'9007199254740993' has more digits than a double holds");
}

TEST(Numbers, WhatIsQuotedIsShortAndPrintable) {
  EXPECT_EQ(parse_real("\x01y").fault, "'?y' is not a number");
  const std::string fault = parse_real(std::string(500, 'z')).fault;
  EXPECT_LT(fault.size(), 80U) << fault;
}

TEST(FortranFormat, OfManyForms) {
  const std::vector<std::pair<std::string, std::vector<int>>> good = {
      {"(16I5)", {16, 5, 0, 0, 1}},         {" ( 20 i 4 ) ", {20, 4, 0, 0, 1}},
      {"(1P3D24.15)", {3, 24, 15, 1, 0}},   {"(1P,4e20.12)", {4, 20, 12, 1, 0}},
      {"(4(1PE20.12))", {4, 20, 12, 1, 0}}, {"(5E15.8E2)", {5, 15, 8, 0, 0}},
      {"(10F7.1)", {10, 7, 1, 0, 0}},       {"(I8)", {1, 8, 0, 0, 1}},
      {"(-2P,3G20.10)", {3, 20, 10, -2, 0}}};
  for (const auto& [text, numbers] : good) {
    const auto parsed = parse_format(text);
    ASSERT_TRUE(parsed.ok()) << parsed.fault;
    const FortranFormat& format = parsed.value;
    EXPECT_EQ((std::vector<int>{format.per_line, format.width, format.digits, format.scale,
                                format.is_whole ? 1 : 0}),
              numbers)
        << text;
  }
}

TEST(FortranFormat, FieldsBehindColumnsThatAreSkipped) {
  for (const char* text : {"(2(1X,F7.3))", "(2(1x,1f7.3))"}) {
    const auto parsed = parse_format(text);
    ASSERT_TRUE(parsed.ok()) << parsed.fault;
    EXPECT_EQ(parsed.value.per_line, 2);
    EXPECT_EQ(parsed.value.width, 7);
    EXPECT_EQ(parsed.value.column_of(0), 1);
    EXPECT_EQ(parsed.value.column_of(1), 9);
  }
  // There are more digits in front of the point than one, but a reader need not care.
  for (const char* text : {"(3ES26.18)", "(3EN26.18)", "(1P,3ES26.18E3)"}) {
    const auto parsed = parse_format(text);
    ASSERT_TRUE(parsed.ok()) << parsed.fault;
    EXPECT_EQ(parsed.value.per_line, 3);
    EXPECT_EQ(parsed.value.width, 26);
    EXPECT_EQ(parsed.value.digits, 18);
  }
}

TEST(FortranFormat, WhatIsNone) {
  for (const char* text :
       {"",        "()",         "16I5",       "(16I5",    "(I)",       "(0I5)",  "(16X5)",
        "(I5)x",   "(2I5,3X)",   "(3E12.)",    "(((I5)))", "(99999I5)", "(-3I5)", "(-2(-3I5))",
        "(0(I5))", "(1X,2F7.3)", "(-1X,F7.3)", "(X,F7.3)", "(1XF7.3)",  "(3IS5)"}) {
    EXPECT_NE(parse_format(text).fault.find("is no format"), std::string::npos) << text;
  }
  EXPECT_EQ(parse_format("(200I9)").fault, "'(200I9)' has lines of more than 1024 columns");
}

TEST(FortranFields, Real) {
  const FortranFormat plain{3, 12, 4, 0, false};
  const FortranFormat scaled{3, 12, 4, 2, false};
  EXPECT_EQ(parse_fortran_real(" 1.5D+03", plain).value, 1500);
  EXPECT_EQ(parse_fortran_real("-1.5+103", plain).value, -1.5e103);
  EXPECT_EQ(parse_fortran_real("1.5-003 ", plain).value, 1.5e-3);
  EXPECT_EQ(parse_fortran_real("1 .5 e 2", plain).value, 150);
  EXPECT_EQ(parse_fortran_real("15", plain).value, 15e-4);
  EXPECT_EQ(parse_fortran_real("15e4", plain).value, 15);
  EXPECT_EQ(parse_fortran_real("1.5", scaled).value, 0.015);
  EXPECT_EQ(parse_fortran_real("1.5e0", scaled).value, 1.5);
  EXPECT_EQ(parse_fortran_real("   ", plain).fault, "is blank where a number should be");
  EXPECT_EQ(parse_fortran_real(" abc", plain).fault, "' abc' is not a number");
  EXPECT_EQ(parse_fortran_real(" NaN", plain).fault, "' NaN' is not finite");
  EXPECT_EQ(parse_fortran_real("9D999", plain).fault, "'9D999' is too large for a double");
  EXPECT_EQ(parse_fortran_whole(" 1 2 ").value, 12);
  EXPECT_EQ(parse_fortran_whole("    ").fault, "is blank where a whole number should be");
}

}  // namespace
}  // namespace tessera::apps::spmv
