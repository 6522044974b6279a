// SPDX-License-Identifier: BSD-3-Clause
//
// Scalars that differ among processes: each uses its own for the elements that it owns, or with
// TESSERA_TUNE=ga_strict=1 an error.
#include <cstdlib>
#include <cstring>

#include "tests/ga/operations/support.hpp"

namespace tessera::test {
namespace {

bool is_strict() {
  const char* const given = std::getenv("TESSERA_TUNE");
  return given != nullptr && std::strstr(given, "ga_strict=1") != nullptr;
}

// What each process's elements become.
template <class Function>
void change_by_owner(Array<double>& array, const Function& function) {
  for (int process = 0; process < GA_Nnodes(); ++process) {
    Patch own{{0, 0}, {0, 0}};
    NGA_Distribution(array.handle, process, own.lo.data(), own.hi.data());
    if (own.lo[0] <= own.hi[0]) {
      for (const std::size_t at : positions(array.dims, own)) {
        array[at] = function(array[at], process);
      }
    }
  }
}

void differ() {
  if (GA_Nnodes() == 1) {
    skip("one process");
    return;
  }
  Array<double> array({8, 9});
  double own = GA_Nodeid() + 2;
  if (is_strict()) {
    CHECK_FAILS("with other arguments", GA_Fill(array.handle, &own));
    CHECK_ARRAY(array);
    return;
  }
  GA_Fill(array.handle, &own);
  change_by_owner(array, [](double, int process) { return process + 2; });
  CHECK_ARRAY(array);
  GA_Scale(array.handle, &own);
  change_by_owner(array, [](double value, int process) { return value * (process + 2); });
  CHECK_ARRAY(array);
  GA_Add_constant(array.handle, &own);
  change_by_owner(array, [](double value, int process) { return value + (process + 2); });
  CHECK_ARRAY(array);
  double one = 1;
  GA_Add(&own, array.handle, &one, array.handle, array.handle);
  change_by_owner(array, [](double value, int process) { return value * (process + 3); });
  CHECK_ARRAY(array);
}

// Other arguments are compared always.
void boxes_agree() {
  if (GA_Nnodes() == 1) {
    skip("one process");
    return;
  }
  Array<double> array({8, 9});
  double one = 1;
  Patch box{{0, 0}, {GA_Nodeid() == 0 ? 3 : 4, 5}};
  CHECK_FAILS("fill", NGA_Fill_patch(array.handle, box.lo.data(), box.hi.data(), &one));
  CHECK_ARRAY(array);
}

}  // namespace

const Case scalar_cases[] = {{"differ", differ}, {"boxes_agree", boxes_agree}, {nullptr, nullptr}};

}  // namespace tessera::test
