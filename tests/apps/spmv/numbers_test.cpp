// SPDX-License-Identifier: BSD-3-Clause
//
// The parsers of numbers and Fortran formats in matrix files, and the messages of those they
// reject. No ranks.
#include <gtest/gtest.h>

#include <iomanip>  // declares std::quoted, which calls with a std::string must not find
#include <string>
#include <utility>
#include <vector>

#include "apps/spmv/numbers.hpp"

namespace tessera::apps::spmv {
namespace {

TEST(Numbers, CallsOfQuotedDoNotFindTheStandardLibrarys) {
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
      {"1e999", "'1e999' is too large for a double (at most 1.8e+308)"}};
  for (const auto& [text, fault] : bad) {
    EXPECT_EQ(parse_real(text).fault, fault);
  }
}

TEST(Numbers, Integer) {
  EXPECT_EQ(parse_integer("-42").value, -42);
  EXPECT_EQ(parse_integer("+7").value, 7);
  EXPECT_EQ(parse_integer("9223372036854775807").value, 9223372036854775807);
  EXPECT_EQ(parse_integer("9223372036854775808").fault,
            "'9223372036854775808' does not fit into 64 bits");
  EXPECT_EQ(parse_integer("1.0").fault, "'1.0' is not a whole number");
  EXPECT_EQ(parse_integer("").fault, "'' is not a whole number");
}

// Beyond 2^53 a double represents only some of the integers.
TEST(Numbers, IntegersThatADoubleRepresentsExactly) {
  const std::vector<std::pair<std::string, double>> good = {{"-42", -42},
                                                            {"+7", 7},
                                                            {"-0", 0},
                                                            {"007", 7},
                                                            {"9007199254740992", 0x1p53},
                                                            {"9007199254740994", 0x1p53 + 2},
                                                            {"-9223372036854775808", -0x1p63},
                                                            {"18446744073709549568", 0x1p64 - 2048},
                                                            {"18446744073709551616", 0x1p64},
                                                            {"10000000000000000000000", 1e22}};
  for (const auto& [text, value] : good) {
    const auto parsed = parse_integer_as_real(text);
    EXPECT_TRUE(parsed.ok()) << text << ": " << parsed.fault;
    EXPECT_EQ(parsed.value, value) << text;
  }
  const std::vector<std::pair<std::string, std::string>> bad = {
      {"9007199254740993",
       "a double cannot represent '9007199254740993' exactly; the nearest number is "
       "9007199254740992"},
      {"-9223372036854775807",
       "a double cannot represent '-9223372036854775807' exactly; the nearest number is "
       "-9223372036854775808"},
      {"18446744073709551615",
       "a double cannot represent '18446744073709551615' exactly; the nearest number is "
       "18446744073709551616"},
      {"", "'' is not a whole number"},
      {"-", "'-' is not a whole number"},
      {"+-1", "'+-1' is not a whole number"},
      {"1.0", "'1.0' is not a whole number"},
      {"1e3", "'1e3' is not a whole number"},
      {"nan", "'nan' is not a whole number"}};
  for (const auto& [text, fault] : bad) {
    EXPECT_EQ(parse_integer_as_real(text).fault, fault);
  }
  EXPECT_NE(parse_integer_as_real(std::string(400, '9'))
                .fault.find("is too large for a double (at most 1.8e+308)"),
            std::string::npos);
}

TEST(Numbers, MessagesQuoteShortPrintableText) {
  EXPECT_EQ(parse_real("\x01y").fault, "'?y' is not a number");
  const std::string fault = parse_real(std::string(500, 'z')).fault;
  EXPECT_LT(fault.size(), 80U) << fault;
}

struct ParsedForm {
  std::int32_t fields_per_line;
  std::int32_t width;
  std::int32_t digits;
  std::int32_t scale;
  bool is_integer;
};

TEST(FortranFormat, ParsesFormatsWithFieldsOfOneKind) {
  const std::vector<std::pair<std::string, ParsedForm>> good = {
      {"(16I5)", {16, 5, 0, 0, true}},           {" ( 20 i 4 ) ", {20, 4, 0, 0, true}},
      {"(10I8.8)", {10, 8, 0, 0, true}},         {"(1P3D24.15)", {3, 24, 15, 1, false}},
      {"(1P,4e20.12)", {4, 20, 12, 1, false}},   {"(4(1PE20.12))", {4, 20, 12, 1, false}},
      {"(3(1P,E24.16))", {3, 24, 16, 1, false}}, {"(1P,(3E25.16))", {3, 25, 16, 1, false}},
      {"((3E25.16))", {3, 25, 16, 0, false}},    {"(2(2(E10.3)))", {4, 10, 3, 0, false}},
      {"(((I5)))", {1, 5, 0, 0, true}},          {"(5E15.8E2)", {5, 15, 8, 0, false}},
      {"(10F7.1)", {10, 7, 1, 0, false}},        {"(I8)", {1, 8, 0, 0, true}},
      {"(-2P,3G20.10)", {3, 20, 10, -2, false}}, {"(4E20.12,1X)", {4, 20, 12, 0, false}},
      {"(2I5,2I5)", {4, 5, 0, 0, true}}};
  for (const auto& [text, form] : good) {
    const auto parsed = parse_format(text);
    ASSERT_TRUE(parsed.ok()) << parsed.fault;
    const FortranFormat& format = parsed.value;
    EXPECT_EQ(format.fields_per_line, form.fields_per_line) << text;
    EXPECT_EQ(format.is_integer, form.is_integer) << text;
    for (std::int32_t i = 0; i < format.fields_per_line; ++i) {
      const FortranField field = format.field(i);
      EXPECT_EQ(field.column, i * form.width) << text;
      EXPECT_EQ(field.width, form.width) << text;
      EXPECT_EQ(field.digits, form.digits) << text;
      EXPECT_EQ(field.scale, form.scale) << text;
    }
  }
}

TEST(FortranFormat, FieldsAfterSkippedColumns) {
  using Columns = std::vector<std::int64_t>;
  const std::vector<std::pair<std::string, Columns>> good = {
      {"(2(1X,F7.3))", {1, 9}},    {"(2(1x,1f7.3))", {1, 9}},
      {"(2(X,F7.3))", {1, 9}},     {"(2(1XF7.3))", {1, 9}},
      {"(1X,2F7.3)", {1, 8}},      {"(1X,8I9)", {1, 10, 19, 28, 37, 46, 55, 64}},
      {"(2(F7.3,2X))", {0, 9}},    {"(I8,3I9)", {0, 8, 17, 26}},
      {"(I5,2X,2I5)", {0, 7, 12}}, {"(2(1X,F7.3),2X,F7.3)", {1, 9, 18}},
      {"(3X,2(1X,F7.3))", {}},     {"(F7.3,2(1X,F7.3))", {}},
      {"(1X,(8I9))", {}},          {"(I1,I2,I3,I4)", {0, 1, 3, 6}}};
  for (const auto& [text, columns] : good) {
    const auto parsed = parse_format(text);
    if (columns.empty()) {
      EXPECT_NE(
          parsed.fault.find("has columns before a group: its first line differs from the others"),
          std::string::npos)
          << text;
      continue;
    }
    ASSERT_TRUE(parsed.ok()) << parsed.fault;
    Columns found;
    for (std::int32_t i = 0; i < parsed.value.fields_per_line; ++i) {
      found.push_back(parsed.value.field(i).column);
    }
    EXPECT_EQ(found, columns) << text;
  }
  // ES and EN differ from E in the digits that are written before the point; reading is the same.
  for (const char* text : {"(3ES26.18)", "(3EN26.18)", "(1P,3ES26.18E3)"}) {
    const auto parsed = parse_format(text);
    ASSERT_TRUE(parsed.ok()) << parsed.fault;
    EXPECT_EQ(parsed.value.fields_per_line, 3);
    EXPECT_EQ(parsed.value.field(0).width, 26);
    EXPECT_EQ(parsed.value.field(2).digits, 18);
  }
}

TEST(FortranFormat, AScaleFactorAppliesToAllLaterFields) {
  const auto parsed = parse_format("(F7.2,2P,F7.2,0P,F7.2)");
  ASSERT_TRUE(parsed.ok()) << parsed.fault;
  EXPECT_EQ(parsed.value.field(0).scale, 0);
  EXPECT_EQ(parsed.value.field(1).scale, 2);
  EXPECT_EQ(parsed.value.field(2).scale, 0);
}

TEST(FortranFormat, InvalidFormatsAreRefused) {
  for (const char* text : {"",
                           "()",
                           "16I5",
                           "(16I5",
                           "(0I5)",
                           "(16X5)",
                           "(I5)x",
                           "(3E12.)",
                           "(99999I5)",
                           "(-3I5)",
                           "(3IS5)",
                           "(2(-3I5))",
                           "(0(I5))",
                           "(-1X,F7.3)",
                           "(,I5)",
                           "(I5,E9.2)",
                           "(9999(9999(9999())))",
                           "(9999(9999(1P)))",
                           "(100P3F6.1)",
                           "(A8)",
                           "(I5/I5)",
                           "('x',I5)",
                           "(T2,I5)",
                           "((((((((((I5))))))))))"}) {
    EXPECT_NE(parse_format(text).fault.find("is not a format"), std::string::npos) << text;
  }
  for (const char* text : {"(200I9)", "(1000X,3I9)", "(9999X,I1)", "(1025I1)"}) {
    EXPECT_NE(parse_format(text).fault.find("has lines of more than 1024 columns"),
              std::string::npos)
        << text;
  }
  EXPECT_EQ(parse_format("(I1,I2,I3,I4,I5)").fault,
            "'(I1,I2,I3,I4,I5)' has more than 4 kinds of fields in a line");
}

// SVDLIBC writes such formats. It separates numbers by blanks, so they begin at any column.
TEST(FortranFormat, FieldsWithoutAWidthAreReported) {
  for (const char* text : {"(8i)", "(I)", "(8E)", "(4I0)"}) {
    EXPECT_NE(parse_format(text).fault.find("has fields without a width"), std::string::npos)
        << text;
  }
}

TEST(FortranFields, Real) {
  const FortranField plain{0, 12, 4, 0};
  const FortranField scaled{0, 12, 4, 2};
  EXPECT_EQ(parse_fortran_real(" 1.5D+03", plain).value, 1500);
  EXPECT_EQ(parse_fortran_real("-1.5+103", plain).value, -1.5e103);
  EXPECT_EQ(parse_fortran_real("1.25-103", plain).value, 1.25e-103);
  EXPECT_EQ(parse_fortran_real("1.5-003 ", plain).value, 1.5e-3);
  EXPECT_EQ(parse_fortran_real("1.5d-3", plain).value, 1.5e-3);
  EXPECT_EQ(parse_fortran_real("1.5Q+2", plain).value, 150);

  EXPECT_EQ(parse_fortran_real("1 .5 e 2", plain).value, 150);
  EXPECT_EQ(parse_fortran_real("15", plain).value, 15e-4);
  EXPECT_EQ(parse_fortran_real("15e4", plain).value, 15);
  EXPECT_EQ(parse_fortran_real("1.5", scaled).value, 0.015);
  EXPECT_EQ(parse_fortran_real("1.5e0", scaled).value, 1.5);
  EXPECT_EQ(parse_fortran_real("   ", plain).fault, "is blank where a number should be");
  EXPECT_EQ(parse_fortran_real(" abc", plain).fault, "' abc' is not a number");
  EXPECT_EQ(parse_fortran_real(" NaN", plain).fault, "' NaN' is not finite");
  EXPECT_EQ(parse_fortran_real("9D999", plain).fault,
            "'9D999' is too large for a double (at most 1.8e+308)");

  EXPECT_EQ(parse_fortran_integer(" 1 2 ").value, 12);
  EXPECT_EQ(parse_fortran_integer("    ").fault, "is blank where a whole number should be");
  EXPECT_EQ(parse_fortran_integer_as_real(" 18446744073709551616").value, 0x1p64);
  EXPECT_EQ(parse_fortran_integer_as_real("    ").fault, "is blank where a whole number should be");
}

}  // namespace
}  // namespace tessera::apps::spmv
