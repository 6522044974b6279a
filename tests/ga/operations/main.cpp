// SPDX-License-Identifier: BSD-3-Clause
//
// Usage: test_ga_operations [PATTERN]
//
// Runs the cases whose names (SUITE.CASE) match the shell pattern. Needs TESSERA_GA_ERRORS=return.
#include "tests/ga/operations/support.hpp"

int main(int argc, char** argv) {
  namespace test = tessera::test;
  static const Suite suites[] = {{"whole", test::whole_cases},
                                 {"copy", test::copy_cases},
                                 {"element", test::element_cases},
                                 {"step", test::step_cases},
                                 {"dot", test::dot_cases},
                                 {"matrix", test::matrix_cases},
                                 {"vector", test::vector_cases},
                                 {"scalar", test::scalar_cases},
                                 {nullptr, nullptr}};
  GA_Initialize();
  const int failed = run_suites(suites, argc > 1 ? argv[1] : "*", 100);
  GA_Terminate();
  return failed == 0 ? 0 : 1;
}
