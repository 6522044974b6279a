// SPDX-License-Identifier: BSD-3-Clause
//
// main() of tests of one process. A program that skips all of its tests exits with 77, as those on
// several ranks do (rank_main.cpp).
#include <gtest/gtest.h>

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const int code = RUN_ALL_TESTS();
  const testing::UnitTest& results = *testing::UnitTest::GetInstance();
  const bool nothing_ran = results.skipped_test_count() > 0 &&
                           results.skipped_test_count() == results.test_to_run_count();
  constexpr int exit_skipped = 77;
  return code == 0 && nothing_ran ? exit_skipped : code;
}
