// SPDX-License-Identifier: BSD-3-Clause
//
// Text of the page: escaping and labels; scales and ticks.
#include "bench/report/text.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "bench/report/scale.hpp"

namespace tessera::bench::report {
namespace {

constexpr const char* replacement = "\xEF\xBF\xBD";

TEST(Escape, LeavesNoMarkup) {
  EXPECT_EQ(escape("<a href=\"x\">R&D's</a>"),
            "&lt;a href=&quot;x&quot;&gt;R&amp;D&#39;s&lt;/a&gt;");
}

TEST(Escape, KeepsGoodTextOfAllLengths) {
  EXPECT_EQ(escape("\t8 µs – 😀\n"), "\t8 µs – 😀\n");
}

TEST(Escape, ReplacesWhatXmlCannotHold) {
  const std::string r = replacement;
  EXPECT_EQ(escape(std::string("a\0b\x1b", 4)), "a" + r + "b" + r);
  EXPECT_EQ(escape("\xEF\xBF\xBF"), r + r + r) << "U+FFFF";
  EXPECT_EQ(escape("\xED\xA0\x80"), r + r + r) << "half of a pair";
}

TEST(Escape, ReplacesBytesThatAreNoUtf8) {
  const std::string r = replacement;
  EXPECT_EQ(escape("\xFF"), r);
  EXPECT_EQ(escape("\xC0\xBC"), r + r) << "'<' in two bytes";
  EXPECT_EQ(escape("\xE2\x82"), r + r) << "cut off";
  EXPECT_EQ(escape("\xC3<"), r + "&lt;") << "the second byte is another character";
}

TEST(Label, HasTheUnitThatFits) {
  EXPECT_EQ(label(8, Unit::bytes), "8 B");
  EXPECT_EQ(label(1024, Unit::bytes), "1 KiB");
  EXPECT_EQ(label(3 << 20, Unit::bytes), "3 MiB");
  EXPECT_EQ(label(0.25, Unit::time), "250 ns");
  EXPECT_EQ(label(1.5, Unit::time), "1.5 µs");
  EXPECT_EQ(label(20'000, Unit::time), "20 ms");
  EXPECT_EQ(label(3e6, Unit::time), "3 s");
  EXPECT_EQ(label(0.0014, Unit::time), "1.4 ns");
  EXPECT_EQ(label(20, Unit::speed), "20 MB/s");
  EXPECT_EQ(label(50'000, Unit::speed), "50 GB/s");
  EXPECT_EQ(label(0.5, Unit::messages), "500 k/s");
  EXPECT_EQ(label(90, Unit::percent), "90 %");
  EXPECT_EQ(label(50000, Unit::percent), "50000 %");
  EXPECT_EQ(label(200000, Unit::percent), "200k %");
  EXPECT_EQ(label(1e7, Unit::percent), "10M %");
  EXPECT_EQ(label(1000, Unit::count), "1000");
}

TEST(Label, IsNotOffByRounding) {
  EXPECT_EQ(label(1e-3 * 1e3 * 0.1 * 10, Unit::time), "1 µs");
  EXPECT_EQ(label(999.9999999999, Unit::time), "1 ms");
}

TEST(Numbers, HaveNoExponentWhereOneCanDoWithout) {
  EXPECT_EQ(plain(1048576), "1048576");
  EXPECT_EQ(plain(0.00349026), "0.00349026");
  EXPECT_EQ(plain(12.3456789), "12.3457");
  EXPECT_EQ(brief(12.3456789), "12.35");
  EXPECT_EQ(brief(123456.7), "123457");
  EXPECT_EQ(brief(Interval{1, 2.5}), "[1, 2.5]");
}

TEST(Code, BreaksBetweenWords) {
  EXPECT_EQ(code("run -n 2"), "<code><span>run</span> <span>-n</span> <span>2</span></code>");
  EXPECT_EQ(code("<b>"), "<code><span>&lt;b&gt;</span></code>");
  EXPECT_EQ(code(""), "<code></code>");
}

TEST(Scale, IsLinear) {
  const Scale scale(Spacing::linear, {0, 10}, {100, 200});
  EXPECT_DOUBLE_EQ(scale(0), 100);
  EXPECT_DOUBLE_EQ(scale(5), 150);
  EXPECT_DOUBLE_EQ(scale(10), 200);
}

TEST(Scale, IsLogarithmicAndMayRunUpwards) {
  const Scale scale(Spacing::logarithmic, {1, 100}, {300, 100});
  EXPECT_DOUBLE_EQ(scale(1), 300);
  EXPECT_DOUBLE_EQ(scale(10), 200);
  EXPECT_DOUBLE_EQ(scale(100), 100);
}

TEST(Scale, KeepsValuesOnThePaper) {
  const Scale scale(Spacing::logarithmic, {1, 100}, {0, 10});
  EXPECT_DOUBLE_EQ(scale(1000), 10);
  EXPECT_DOUBLE_EQ(scale(0.001), 0);
}

std::vector<std::string> labels(const std::vector<Tick>& all) {
  std::vector<std::string> found;
  for (const Tick& tick : all) {
    found.push_back(tick.label);
  }
  return found;
}

using Labels = std::vector<std::string>;

TEST(Ticks, OfBytesArePowersOfTwoThatAxesShare) {
  // The next number is the same double here.
  EXPECT_LE(ticks({1e18, 1e18 + 128}, Unit::count, Spacing::linear).size(), 13U);
  EXPECT_EQ(labels(ticks({8, 4 << 20}, Unit::bytes, Spacing::logarithmic)),
            (Labels{"8 B", "64 B", "512 B", "4 KiB", "32 KiB", "256 KiB", "2 MiB"}));
  EXPECT_EQ(labels(ticks({8, 512}, Unit::bytes, Spacing::logarithmic)),
            (Labels{"8 B", "16 B", "32 B", "64 B", "128 B", "256 B", "512 B"}));
  EXPECT_EQ(labels(ticks({1, 1024}, Unit::powers, Spacing::logarithmic)),
            (Labels{"1", "4", "16", "64", "256", "1024"}));
}

TEST(Ticks, ArePowersOfTenWhereThereAreSome) {
  EXPECT_EQ(labels(ticks({0.0013, 900}, Unit::time, Spacing::logarithmic)),
            (Labels{"10 ns", "100 ns", "1 µs", "10 µs", "100 µs"}));
}

TEST(Ticks, AreFinerWhereThereAreFewPowersOfTen) {
  EXPECT_EQ(labels(ticks({1.5, 60}, Unit::time, Spacing::logarithmic)),
            (Labels{"2 µs", "5 µs", "10 µs", "20 µs", "50 µs"}));
  EXPECT_GE(ticks({10, 11}, Unit::time, Spacing::logarithmic).size(), 3U);
}

TEST(Ticks, EndWhateverTheValues) {
  for (const double value : {1e300, 1e-300, 5e-324, 1.7e308}) {
    for (const Spacing spacing : {Spacing::linear, Spacing::logarithmic}) {
      for (const Unit unit : {Unit::time, Unit::bytes}) {
        const Interval range = axis_range({1, value}, unit, spacing);
        EXPECT_TRUE(std::isfinite(range.hi - range.lo)) << value;
        EXPECT_LE(ticks(range, unit, spacing).size(), 11U) << value;
      }
    }
  }
}

TEST(Ticks, AreNeverTooManyNorTooFew) {
  for (double hi = 1.02; hi < 1e18; hi *= 1.7) {
    for (const Unit unit : {Unit::time, Unit::ratio}) {
      const auto found = ticks({1, hi}, unit, Spacing::logarithmic);
      EXPECT_GE(found.size(), 3U) << hi;
      EXPECT_LE(found.size(), 11U) << hi;
    }
  }
}

TEST(Ticks, LieInsideInAscendingOrder) {
  for (double hi = 3; hi < 1e15; hi *= 2.9) {
    for (const Spacing spacing : {Spacing::linear, Spacing::logarithmic}) {
      double last = -1;
      for (const Tick& tick : ticks({1.1, hi}, Unit::count, spacing)) {
        EXPECT_GT(tick.value, last);
        EXPECT_LE(tick.value, hi * 1.0000001);
        last = tick.value;
      }
    }
  }
}

TEST(Ticks, OfALinearAxisAreRoundNumbers) {
  EXPECT_EQ(labels(ticks({0, 106}, Unit::percent, Spacing::linear)),
            (Labels{"0 %", "20 %", "40 %", "60 %", "80 %", "100 %"}));
  EXPECT_EQ(labels(ticks({0, 1.1}, Unit::ratio, Spacing::linear)),
            (Labels{"0", "0.2", "0.4", "0.6", "0.8", "1"}));
  EXPECT_EQ(labels(ticks({2, 4}, Unit::count, Spacing::linear)), (Labels{"2", "3", "4"}));
}

TEST(AxisRange, HasRoomForAllValues) {
  const Interval range = axis_range({3, 0.5, 700}, Unit::time, Spacing::logarithmic);
  EXPECT_LT(range.lo, 0.5);
  EXPECT_GT(range.hi, 700);
  EXPECT_EQ(axis_range({8, 64}, Unit::bytes, Spacing::logarithmic), (Interval{8, 64}));
  EXPECT_EQ(axis_range({20, 90}, Unit::percent, Spacing::linear).lo, 0);
}

TEST(AxisRange, IsNeverEmpty) {
  for (const Spacing spacing : {Spacing::linear, Spacing::logarithmic}) {
    for (const std::vector<double>& values :
         {std::vector<double>{}, {5}, {0}, {-1, 0}, {std::nan("")}, {1, INFINITY}}) {
      const Interval range = axis_range(values, Unit::time, spacing);
      EXPECT_LT(range.lo, range.hi);
      EXPECT_TRUE(spacing == Spacing::linear || range.lo > 0);
      EXPECT_TRUE(std::isfinite(range.hi));
    }
  }
}

}  // namespace
}  // namespace tessera::bench::report
