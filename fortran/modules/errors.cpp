// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "fortran/c/types.h"
#include "fortran/detail/arguments.hpp"

namespace tessera::fapi {
namespace {

constexpr std::string_view reversed_dimensions_note =
    "\n  note: in this message dimensions are in C's order: the last one is Fortran's first; "
    "indices count "
    "from "
    "0, and upper bounds are exclusive";
/// For functions that take rows and columns as in Fortran.
constexpr std::string_view matrix_note =
    "\n  note: rows and columns are Fortran's, but the dimensions of arrays are in C's order, the "
    "last one is Fortran's first; indices count from 0, and upper bounds are exclusive";

/// Beginnings of messages of the C interface that may contain its bounds and shapes. The first row
/// that matches is used.
struct NoteRow {
  std::string_view beginning;
  std::string_view note;
};
constexpr std::array<NoteRow, 16> notes = {{
    {"tessera_sparse_from_dense", reversed_dimensions_note},
    {"tessera_sparse_to_dense", reversed_dimensions_note},
    {"tessera_sparse_multiply_dense", reversed_dimensions_note},
    {"tessera_sparse_", matrix_note},
    {"tessera_spmv_", matrix_note},
    {"tessera_matrix_", matrix_note},
    {"tessera_array_", reversed_dimensions_note},
    {"tessera_part_", reversed_dimensions_note},
    {"tessera_distribution_", reversed_dimensions_note},
    {"tessera_halo_", reversed_dimensions_note},
    {"tessera_mirrored_", reversed_dimensions_note},
    {"tessera_checkpoint_array_", reversed_dimensions_note},
    {"tessera_checkpoint_attribute_", reversed_dimensions_note},
    {"tessera_checkpoint_read", reversed_dimensions_note},
    {"tessera_output_write", reversed_dimensions_note},
    {"tessera_output_append", reversed_dimensions_note},
}};

/// Whether a text contains extents ("9 x 7"), a box ("[2,10)") or the word "dimension".
bool has_dimensions(std::string_view text) {
  const auto is_digit = [&](std::size_t at) {
    return at < text.size() && text[at] >= '0' && text[at] <= '9';
  };
  for (std::size_t at = text.find(" x "); at != std::string_view::npos;
       at = text.find(" x ", at + 1)) {
    if (at > 0 && is_digit(at - 1) && is_digit(at + 3)) {
      return true;
    }
  }
  constexpr std::array<std::string_view, 3> signs = {"[", "dimension", "element ("};
  return std::any_of(signs.begin(), signs.end(), [&](std::string_view sign) {
    return text.find(sign) != std::string_view::npos;
  });
}

/// A text without "[rank 2] " at its beginning.
std::string_view without_rank(std::string_view text) {
  constexpr std::string_view end = "] ";
  return text.starts_with("[rank ") ? text.substr(text.find(end) + end.size()) : text;
}

/// The note for a text; empty for texts of the module itself, and for texts without dimensions.
std::string_view note_on(int code, std::string_view whole) {
  const std::string_view text = without_rank(whole);
  const bool is_procedure = text.substr(0, text.find(':')).find('%') != std::string_view::npos;
  if ((code != TESSERA_INVALID_ARGUMENT && code != TESSERA_OUT_OF_RANGE) || is_procedure ||
      !has_dimensions(text)) {
    return {};
  }
  const auto* const row = std::find_if(notes.begin(), notes.end(), [&](const NoteRow& one) {
    return text.starts_with(one.beginning);
  });
  return row == notes.end() ? std::string_view() : row->note;
}

}  // namespace

extern "C" {

/// The text of this thread's last error for a Fortran program; arguments as in the C interface.
void tessera_f_error_text(int code, char* text, int64_t capacity, int64_t* length) {
  std::string whole = tessera_last_error();
  whole += note_on(code, whole);
  capi::copy_text(whole, text, capacity, length).ignore("its arguments are ours");
}

}  // extern "C"

}  // namespace tessera::fapi
