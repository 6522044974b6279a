// SPDX-License-Identifier: BSD-3-Clause
//
// Datatypes: MPI datatypes for strided memory, cached for the next transfer of the same shape.
//
// One side of a CopyShape becomes a subarray of a larger array if its strides allow that: each is a
// multiple of the next lower one, and all are positive. For other strides, such as negative ones,
// the datatype lists the runs: Open MPI 4.1 packs vectors of vectors incorrectly.
//
// Threads: all functions may be called from any thread.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>

#include "rma/base/result.hpp"
#include "rma/shape.hpp"

namespace tessera::rma::mpi {

/// One side of a strided transfer, in elements of an MPI type.
struct StridedSide {
  MPI_Datatype element = MPI_BYTE;
  std::size_t element_bytes = 1;
  std::size_t run_elements = 0;
  int levels = 0;
  std::array<std::int64_t, max_stride_levels> counts{};
  std::array<std::int64_t, max_stride_levels> strides{};  ///< bytes

  enum class Which { local, remote };
  static StridedSide of(const CopyShape& shape, Which which, MPI_Datatype element,
                        std::size_t element_bytes) noexcept;
  friend bool operator==(const StridedSide&, const StridedSide&) = default;
};

class Datatypes {
 public:
  Datatypes() = default;
  ~Datatypes();
  Datatypes(const Datatypes&) = delete;
  Datatypes& operator=(const Datatypes&) = delete;

  /// The type of `side`; valid at least until the next call. Errors: those of MPI; limit_exceeded
  /// for counts that exceed int.
  Result<MPI_Datatype> find(const StridedSide& side);

  /// Whether the type of `side` is short enough to be worth making.
  static bool is_short(const StridedSide& side) noexcept;

  /// Whether `side` is a subarray; sets the extents of the array, outermost first, in elements.
  static bool is_subarray(const StridedSide& side,
                          std::array<int, max_stride_levels + 1>& extents) noexcept;

 private:
  static constexpr std::size_t max_cached = 64;
  struct CachedType {
    StridedSide side;
    MPI_Datatype type = MPI_DATATYPE_NULL;
  };
  static Result<MPI_Datatype> make(const StridedSide& side);
  static Result<MPI_Datatype> make_subarray(const StridedSide& side,
                                            const std::array<int, max_stride_levels + 1>& extents);
  static Result<MPI_Datatype> make_list(const StridedSide& side);

  std::mutex mutex_;
  std::list<CachedType> cached_;  ///< the most recently used comes first
};

}  // namespace tessera::rma::mpi
