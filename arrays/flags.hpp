// SPDX-License-Identifier: BSD-3-Clause
//
// Flags: elements of arrays of 32-bit integers on which their owners wait. With them, neighbours
// notify each other that data has arrived; no other rank takes part.
//
//     put_with_flag(field, box, values, {flags, {right}}, round);  // the data, then the flag
//     wait_for_flag({flags, {me}}, round, left);                   // sleeps until the flag is set
//
// A rank that sees the value of a flag also sees all puts and accumulates to the flag's owner that
// the writer had completed locally before it raised the flag. One member raises a flag; if several
// members do, they do so one after another.
#pragma once

#include <cstdint>
#include <type_traits>

#include "arrays/array.hpp"
#include "arrays/array_base.hpp"
#include "rma/base/result.hpp"
#include "rma/region.hpp"

namespace tessera::arrays {

/// One element of an array that is used as a flag.
struct Flag {
  const ArrayBase& array;  ///< elements are std::int32_t
  Index index;
};

/// One-sided. Stores `value` in the flag. Complete: locally at return. Errors: invalid_argument
/// (elements of another type, or an access mode that forbids puts), out_of_range, closed,
/// peer_lost.
rma::Status raise_flag(const Flag& flag, std::int32_t value);

/// One-sided. Puts the elements of `box`, and then raises the flag. Any member may own the flag; a
/// rank that sees it sees the whole box. Complete: `from` may be reused at return. Errors: as
/// put and raise_flag(); if the flag or the box is invalid, nothing is put. Cost between nodes: one
/// message if the flag's owner owns the whole box and the box has at most 64 KiB; also a fence if
/// another member owns some of it.
rma::Status put_with_flag(const ArrayBase& array, const Box& box, const UntypedMemory& from,
                          const Flag& flag, std::int32_t value);
template <class T>
rma::Status put_with_flag(const Array<T>& array, const Box& box,
                          const std::type_identity_t<LocalMemory<const T>>& from, const Flag& flag,
                          std::int32_t value) {
  return put_with_flag(static_cast<const ArrayBase&>(array), box, from, flag, value);
}

/// Local. Sleeps until a flag that this member owns equals `value`; wait_for_flag_change() sleeps
/// until it differs from `value`, and returns the new value. `writer` is the member that raises it.
/// Errors: invalid_argument (the flag belongs to another member, or has elements of another type),
/// out_of_range, closed, peer_lost (the writer is lost and did not raise the flag).
rma::Status wait_for_flag(const Flag& flag, std::int32_t value, rma::TeamRank writer);
rma::Result<std::int32_t> wait_for_flag_change(const Flag& flag, std::int32_t value,
                                               rma::TeamRank writer);

/// Local. The address of the flag. Errors: as raise_flag(), except closed; with `own`, as
/// wait_for_flag().
rma::Result<rma::RemoteAddress> locate_flag(const Flag& flag);
rma::Result<rma::RemoteAddress> locate_own_flag(const Flag& flag);

}  // namespace tessera::arrays
