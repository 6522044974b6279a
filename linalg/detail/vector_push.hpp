// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. VectorPush: the owners of elements of a distributed vector send them to the ranks that
// read them. The lists of elements are sent once; then each rank, for each of its readers,
//
//     packs the elements ──► puts them into the reader's buffer ──► followed by a flag
//
// and waits for the flags of the ranks that it reads from. So no list travels with the elements,
// and they travel one way instead of two.
//
// With Meeting::everybody there is one buffer: between a round's last read of it and the next
// send(), all members must have synchronised. With Meeting::neighbours only neighbours synchronise.
// Flags go both ways, also to the ranks that this rank only reads from, so two neighbours are never
// more than one round apart; two buffers alternate. Each round must then wait for all neighbours.
//
// Threads: one at a time. Memory: 16 bytes for each run of neighbouring elements that others read,
// a packing buffer for the longest of these parts, 64 bytes for each neighbour, and the second
// buffer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <vector>

#include "arrays/array.hpp"
#include "linalg/detail/list_exchange.hpp"
#include "linalg/local_csr.hpp"
#include "rma/base/result.hpp"
#include "rma/job.hpp"
#include "rma/region.hpp"
#include "rma/shape.hpp"

namespace tessera::linalg::detail {

/// Copies `bytes` bytes of elements of type T. A single element is the most frequent case; its size
/// is known at compile time, so it takes a load and a store instead of a call.
template <class T>
void copy_run(void* to, const std::byte* from, std::uint64_t bytes) noexcept {
  if (bytes == sizeof(T)) {
    std::memcpy(to, from, sizeof(T));
  } else {
    std::memcpy(to, from, bytes);
  }
}

template <SparseElement T>
class VectorPush {
 public:
  enum class Meeting : std::uint8_t { everybody, neighbours };

  /// The elements that this rank reads from another rank. Without runs only the flag is sent.
  struct Wanted {
    rma::TeamRank owner;
    std::span<const rma::Fragment> runs;  ///< remote sides, in the order of the buffer
    std::size_t position = 0;             ///< position of the first element in the buffer
  };

  /// Collective. For vectors with the distribution of `like`. A buffer has `elements` elements,
  /// initially zero; what wanted() returns comes from other ranks. Requires: the same `meeting` on
  /// all members; each owner at most once. Errors: that of any member's wanted(); no_memory,
  /// peer_lost.
  static rma::Result<VectorPush> create(
      arrays::Array<T>& like, std::size_t elements,
      const std::function<rma::Result<std::vector<Wanted>>()>& wanted,
      Meeting meeting = Meeting::everybody);

  /// The first buffer; below, the offset of this round's elements from its start.
  [[nodiscard]] std::span<T> buffer() const noexcept;
  [[nodiscard]] std::size_t shift() const noexcept { return round_ % buffers_ * elements_; }

  /// One-sided. Begins a round: sends the elements of `from` that others read. If a send fails, or
  /// this rank has an error of its own, the reader is notified. Complete: locally at return.
  rma::Status send(arrays::Array<T>& from);
  /// One-sided. Begins a round in which this rank sends no elements, and notifies its readers of
  /// the reason. Returns `reason`.
  rma::Status refuse(rma::Status reason);
  /// Waits until the elements of `wanted[number]` have arrived. Errors: that rank's; peer_lost.
  rma::Status wait(std::size_t number);
  /// Waits for all neighbours, also for those that only read from this rank.
  rma::Status wait_for_all();

 private:
  /// A range of this rank's slice, in bytes.
  struct Run {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
  };
  /// A rank that reads elements of this rank.
  struct Reader {
    rma::TeamRank rank;
    std::uint64_t offset = 0;  ///< of the elements in its part of the region
    std::uint64_t flag = 0;
    std::uint64_t buffer_bytes = 0;  ///< distance from its first buffer to its second one
    std::uint64_t bytes = 0;
    std::vector<Run> runs;
    rma::Code code_before = rma::Code::ok;  ///< result of the last round
  };
  /// A rank that this rank reads from, or that only reads from this rank.
  struct Source {
    rma::TeamRank rank;
    std::int32_t seen = 0;  ///< the last value of its flag
  };

  VectorPush(const rma::Job& job, std::size_t elements, Meeting meeting)
      : job_(job), elements_(elements), buffers_(meeting == Meeting::neighbours ? 2 : 1) {}
  rma::Result<std::vector<RankList>> ask(std::span<const Wanted> wanted);
  rma::Status add_readers(std::span<const RankList> asked);
  void add_reader(const RankList& asked);
  rma::Status add_neighbours(rma::Team& team, std::span<const RankList> asked);
  rma::Result<std::vector<RankList>> request_reader_flags();
  rma::Status send_to(const Reader& reader, const std::byte* slice);
  void refuse(Reader& reader, rma::Code code);
  [[nodiscard]] std::uint64_t flag_of(std::size_t number) const noexcept;

  rma::Job job_;
  std::size_t elements_;
  std::uint32_t buffers_;
  rma::Region region_;  // the buffers, then a flag for each source, each on its own cache line
  std::vector<Reader> readers_;
  std::vector<Source> sources_;
  std::vector<std::byte> packed_;
  std::uint32_t round_ = 0;
};

}  // namespace tessera::linalg::detail
