// SPDX-License-Identifier: BSD-3-Clause
//
// Flags: elements of arrays of 32-bit integers, for which their owners wait. So neighbours tell
// each other that data have come, and nobody else takes part.
//
//     put_with_flag(field, box, values, {flags, {right}}, round);   // data, and behind them the
//     flag wait_for_flag({flags, {me}}, round, left);                    // asleep until it has
//     come
//
// Who sees the value of a flag also sees what was put and accumulated to the flag's owner before,
// and was complete here. One member raises a flag, or several after one another.
#pragma once

#include <cstdint>
#include <span>

#include "arrays/array.hpp"
#include "arrays/array_base.hpp"
#include "rma/region.hpp"
#include "rma/result.hpp"

namespace tessera::arrays {

struct Flag {
  const ArrayBase& array;  ///< of std::int32_t
  Index index;
};

/// One-sided. Stores `value` in the flag. Complete: locally at return. Errors: invalid_argument
/// (elements of another type, a mode in which nothing is put), out_of_range, closed, peer_lost.
rma::Status raise_flag(const Flag& flag, std::int32_t value);

/// One-sided. Puts the elements of `box`, and then raises the flag, which may be any member's: who
/// sees it sees all of the box. Complete: `from` may be reused at return.
/// Errors: of both; nothing is put where the flag or the box is wrong.
/// Cost: between nodes one message where the box is the flag's owner's and has at most 64 KiB; also
/// a fence where some of it is another's.
rma::Status put_with_flag(const ArrayBase& array, const Box& box, const LocalBuffer& from,
                          const Flag& flag, std::int32_t value);
/// The same of memory that has the box's elements without gaps. Errors: also invalid_argument when
/// there is too little of it.
template <class T>
rma::Status put_with_flag(const Array<T>& array, const Box& box, std::span<const T> from,
                          const Flag& flag, std::int32_t value) {
  TESSERA_RETURN_IF_ERROR(array.check_room("put", box, std::ssize(from)));
  return put_with_flag(array, box, {const_cast<T*>(from.data()), dense_strides(box.extents())},
                       flag, value);
}

/// Local. Sleeps until a flag that this member owns is `value`, or is something else than `value`,
/// which is returned. `writer` raises it. Errors: invalid_argument (another member's flag, elements
/// of another type), out_of_range, closed, peer_lost (the writer is gone, and the flag is not so).
rma::Status wait_for_flag(const Flag& flag, std::int32_t value, rma::TeamRank writer);
rma::Result<std::int32_t> wait_for_flag_change(const Flag& flag, std::int32_t value,
                                               rma::TeamRank writer);

/// Local. Where the flag is. Errors: as raise_flag(), but for closed arrays; with `own`, as
/// wait_for_flag().
rma::Result<rma::RemoteAddress> locate_flag(const Flag& flag);
rma::Result<rma::RemoteAddress> locate_own_flag(const Flag& flag);

}  // namespace tessera::arrays
