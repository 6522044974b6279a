// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. VectorPush: brings elements of a distributed vector to the ranks that read them, by
// those that have them. Who reads what is told once; then each rank, for each that reads of it,
//
//     packs the elements ──► puts them into that one's buffer ──► and a flag behind them
//
// and waits for the flags of those of which it reads itself. So no list goes with the elements, and
// they travel one way instead of there and back.
//
// By Meeting::everybody the buffer is single: between a round's last read of it and the next send()
// all members must have met. By Meeting::neighbours nobody else meets: flags go both ways, also to
// those of which a rank only reads, so that two neighbours are never more than a round apart, and
// there are two buffers for rounds in turn. Then each round must wait for all neighbours.
//
// Threads: one at a time. Memory: 16 bytes for each run of neighbouring elements that others read,
// the longest of those parts, 64 bytes for each neighbour, and the second buffer.
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
  enum class Meeting : std::uint8_t { everybody, neighbours };

  /// What this rank reads of another one. Without runs only the flag comes.
  struct Wanted {
    rma::TeamRank owner;
    std::span<const rma::Fragment> runs;  ///< their remote sides, in the order of the buffer
    std::size_t place = 0;                ///< of the first element in the buffer
  };

  /// Collective. For vectors distributed as `like`. A buffer has `elements` elements, zero, of
  /// which `wanted` come from others. Requires: the same `meeting` on all; each owner once at most.
  /// Errors: that of any member's wishes; no_memory, peer_lost.
  static rma::Result<VectorPush> create(arrays::Array<T>& like, std::size_t elements,
                                        const rma::Result<std::vector<Wanted>>& wanted,
                                        Meeting meeting = Meeting::everybody);

  /// The first buffer, and where this round's elements lie behind it.
  [[nodiscard]] std::span<T> buffer() const noexcept;
  [[nodiscard]] std::size_t shift() const noexcept { return round_ % buffers_ * elements_; }

  /// One-sided. Begins a round: sends what others read of `from`. Whoever can't be sent to, or for
  /// an error of this rank's own, is told so. Complete: locally at return.
  rma::Status send(arrays::Array<T>& from);
  /// One-sided. Begins a round in which this rank has nothing for others, and tells them why.
  /// Returns `reason`.
  rma::Status refuse(rma::Status reason);
  /// Waits until the elements of `wanted[number]` have come. Errors: that rank's; peer_lost.
  rma::Status wait(std::size_t number);
  /// Waits for all neighbours, also those that only read of this rank.
  rma::Status wait_for_all();

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
    std::uint64_t buffer_bytes = 0;  ///< from its first buffer to its second one
    std::uint64_t bytes = 0;
    std::vector<Run> runs;
    rma::Code code_before = rma::Code::ok;  ///< how the last round went
  };
  /// A rank of which this one reads, or that only reads of it.
  struct Source {
    rma::TeamRank rank;
    std::int32_t seen = 0;  ///< its flag, as it was last
  };

  VectorPush(const rma::Job& job, std::size_t elements, Meeting meeting)
      : job_(job), elements_(elements), buffers_(meeting == Meeting::neighbours ? 2 : 1) {}
  rma::Result<std::vector<RankList>> ask(std::span<const Wanted> wanted);
  rma::Status add_readers(std::span<const RankList> asked);
  void add_reader(const RankList& asked);
  rma::Status add_silent_readers(rma::Team& team, const rma::Status& mine);
  rma::Result<std::vector<RankList>> ask_readers();
  rma::Status send_to(const Reader& reader, const std::byte* slice);
  void refuse(Reader& reader, rma::Code code);
  [[nodiscard]] std::uint64_t flag_of(std::size_t number) const noexcept;

  rma::Job job_;
  std::size_t elements_;
  std::uint32_t buffers_;
  rma::Region region_;  // the buffers, then a flag for each source, on cache lines of their own
  std::vector<Reader> readers_;
  std::vector<Source> sources_;
  std::vector<std::byte> packed_;
  std::uint32_t round_ = 0;
};

}  // namespace tessera::linalg::detail
