// SPDX-License-Identifier: BSD-3-Clause
//
// Allocation of planned arrays, for the functions that make arrays in one step or in several.
#pragma once

#include <string_view>

#include "fortran/ga/records.hpp"

namespace tessera::ga {

/// Collective over the array's group. Makes the array of a record. False if some process has not
/// enough memory for it, or would exceed its limit. Errors: invalid_argument (no dimensions, blocks
/// that don't fit the group, …).
Result<bool> allocate_record(Record& record);
/// Collective over the array's group. Frees the array; the record remains.
Status deallocate_record(Record& record);
/// Sets the name, of which GA keeps 30 characters.
void name_record(Record& record, std::string_view name);
/// A pointer to an Array<T> of the element type's T, if it has arithmetic.
Result<std::shared_ptr<arrays::ArrayBase>> typed_array(arrays::ArrayBase made);

}  // namespace tessera::ga
