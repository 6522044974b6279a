// SPDX-License-Identifier: BSD-3-Clause
#include <string>

#include "fortran/c_types.h"
#include "fortran/detail/arguments.hpp"

namespace tessera::fapi {
namespace {

/// Whether a text comes from the C interface and may hold its bounds and shapes.
bool is_in_terms_of_c(int code, std::string_view text) {
  return (code == TESSERA_INVALID_ARGUMENT || code == TESSERA_OUT_OF_RANGE) &&
         (text.starts_with("tessera_array_") || text.starts_with("tessera_distribution_") ||
          text.starts_with("tessera_halo_") || text.starts_with("tessera_locks_"));
}

}  // namespace

extern "C" {

/// The text of this thread's last error for a program in Fortran, as texts of the C interface.
void tessera_f_error_text(int code, char* text, int64_t capacity, int64_t* length) {
  std::string whole = tessera_last_error();
  if (is_in_terms_of_c(code, whole)) {
    whole +=
        "\n  note: dimensions are in C's order here, the last one is Fortran's first; indices "
        "count from 0, and upper bounds are not included";
  }
  capi::copy_text(whole, text, capacity, length).ignore("its arguments are ours");
}

}  // extern "C"

}  // namespace tessera::fapi
