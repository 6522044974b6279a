// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. VectorPush: brings elements of a distributed vector to the ranks that read them, by
// those that have them. Who reads what is told once; then each rank, for each that reads of it,
//
//     packs the elements ──► puts them into that one's buffer ──► and a flag behind them
//
// and waits for the flags of those of which it reads itself. So no list goes with the elements, and
// they travel one way instead of there and back. The buffer is single: between a round's last read
// of it and the next send() all members must have met.
//
// Threads: one at a time. Memory: 16 bytes for each run of neighbouring elements that others read,
// the longest of those parts, and 64 bytes for each rank of which this one reads.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "arrays/array.hpp"
#include "linalg/detail/list_exchange.hpp"
#include "linalg/local_csr.hpp"
#include "rma/job.hpp"
#include "rma/region.hpp"
#include "rma/result.hpp"
#include "rma/shape.hpp"

namespace tessera::linalg::detail {

template <SparseElement T>
class VectorPush {
 public:
  /// What this rank reads of another one.
  struct Wanted {
    rma::TeamRank owner;
    std::span<const rma::Fragment> runs;  ///< their remote sides, in the order of the buffer
    std::size_t place = 0;                ///< of the first element in the buffer
  };

  /// Collective. For vectors distributed as `like`. The buffer has `elements` elements, zero, of
  /// which `wanted` come from others. Errors: no_memory, peer_lost.
  static rma::Result<VectorPush> create(arrays::Array<T>& like, std::size_t elements,
                                        std::span<const Wanted> wanted);

  [[nodiscard]] std::span<T> buffer() const noexcept;

  /// One-sided. Begins a round: sends what others read of `from`. Whoever can't be sent to, or for
  /// an error of this rank's own, is told so. Complete: locally at return.
  rma::Status send(arrays::Array<T>& from);
  /// Waits until the elements of `wanted[number]` have come. Errors: that rank's; peer_lost.
  rma::Status wait(std::size_t number);

 private:
  /// Of this rank's slice, in bytes.
  struct Run {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
  };
  /// A rank that reads elements of this one.
  struct Reader {
    rma::TeamRank rank;
    std::uint64_t place = 0;  ///< where they go in its part of the region
    std::uint64_t flag = 0;
    std::uint64_t bytes = 0;
    std::vector<Run> runs;
  };
  /// A rank of which this one reads.
  struct Source {
    rma::TeamRank rank;
    std::int32_t seen = 0;  ///< its flag, as it was last
  };

  VectorPush(const rma::Job& job, std::size_t elements) : job_(job), elements_(elements) {}
  void add_reader(const RankList& asked);
  rma::Status send_to(const Reader& reader, const std::byte* slice);
  [[nodiscard]] std::uint64_t flag_of(std::size_t number) const noexcept;

  rma::Job job_;
  std::size_t elements_;
  rma::Region region_;  // the buffer, then a flag for each source, on cache lines of their own
  std::vector<Reader> readers_;
  std::vector<Source> sources_;
  std::vector<std::byte> packed_;
  std::int32_t round_ = 0;
};

}  // namespace tessera::linalg::detail
