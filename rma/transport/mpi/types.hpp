// SPDX-License-Identifier: BSD-3-Clause
//
// MPI types of the elements and words that operations work on.
#pragma once

#include <mpi.h>

#include <bit>
#include <cstddef>
#include <cstdint>

#include "rma/element.hpp"
#include "rma/transport/transport.hpp"

namespace tessera::rma::mpi {

/// The most bytes that MPI moves in one call: its counts are ints.
inline constexpr std::size_t max_call_bytes = std::size_t{1} << 30U;

/// An MPI type that sums use, and its size. Complex numbers are added part by part.
struct AddedType {
  MPI_Datatype type;
  std::size_t bytes;
};
AddedType added_type(ElementType type) noexcept;

/// MPI's operation for an accumulate. Requires: is_defined(scale.type(), scale.op()).
MPI_Op op_of(const Scale& scale) noexcept;
/// The same for an atomic other than a compare-and-swap.
MPI_Op op_of(AtomicRequest::Kind kind) noexcept;

/// The type of a word of 1, 2, 4 or 8 bytes.
MPI_Datatype word_type(std::size_t bytes) noexcept;

/// Whether these bytes are one aligned word, which must not tear.
inline bool is_word(std::uint64_t displacement, std::size_t bytes) noexcept {
  return bytes > 1 && bytes <= sizeof(std::uint64_t) && std::has_single_bit(bytes) &&
         displacement % bytes == 0;
}

}  // namespace tessera::rma::mpi
