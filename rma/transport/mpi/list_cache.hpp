// SPDX-License-Identifier: BSD-3-Clause
//
// ListCache: the datatypes of lists that come again and again, as those of a solver's products.
//
// A list is identified by the distances of its pieces from the first one, on both sides, and by
// their lengths: so a list that moved as a whole is the same list. The first use records only a
// digest of the list, which costs a nanosecond a piece. The second use makes its datatypes, which
// later uses find.
//
// Threads: one at a time.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "rma/base/result.hpp"
#include "rma/shape.hpp"
#include "rma/transport/mpi/methods.hpp"

namespace tessera::rma::mpi {

class ListCache {
 public:
  /// The datatypes of the list; null if it is new. Valid until the next call. Errors: as
  /// ListTypes::create(). Requires: the list is not empty.
  Result<const ListTypes*> find(Fragments fragments, MPI_Datatype element,
                                std::size_t element_bytes);

 private:
  struct CachedList {
    std::uint64_t digest = 0;
    MPI_Datatype element = MPI_DATATYPE_NULL;
    std::vector<Fragment> pieces;  ///< as they were when the types were made
    ListTypes types;
  };
  static std::uint64_t digest_of(Fragments fragments) noexcept;
  static bool is_same(Fragments a, Fragments b) noexcept;
  [[nodiscard]] bool record(std::uint64_t digest) noexcept;

  static constexpr std::size_t max_cached = 4;
  static constexpr std::size_t max_recorded = 16;
  std::array<CachedList, max_cached> cached_;
  std::size_t next_cached_ = 0;
  std::array<std::uint64_t, max_recorded> recorded_{};
  std::size_t next_recorded_ = 0;
};

}  // namespace tessera::rma::mpi
