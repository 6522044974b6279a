// SPDX-License-Identifier: BSD-3-Clause
//
// Executor: performs the operations that other nodes request on this node's memory. It accesses
// slices in the arena by load and store, as same-node ranks do, and memory that a rank attached
// through the kernel.
//
// Every request is checked against the directory before memory is touched. Accumulates take the
// same stripe locks as same-node ranks, and read-modify-writes work on the same words.
//
// Threads: all functions may be called from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <sys/uio.h>

#include "rma/base/result.hpp"
#include "rma/engine/stripes.hpp"
#include "rma/kernels/copy.hpp"
#include "rma/node/directory.hpp"
#include "rma/node/node.hpp"
#include "rma/server/wire/parts.hpp"
#include "rma/server/wire/wire.hpp"

namespace tessera::rma::server {

/// The slice that a request addresses, and where the request starts in it.
struct SliceLocation {
  RegionId region;
  detail::DirectorySlice slice;
  std::uint64_t offset = 0;    ///< where the request starts in the slice
  std::byte* start = nullptr;  ///< the slice; null if it is not mapped here
};

class Executor {
 public:
  /// `shard`: of the directory of slices, which this executor locks.
  explicit Executor(detail::Node& node, int shard = 0, const PackingLimits& limits = {}) noexcept
      : node_(node),
        stripes_(node),
        directory_(node.arena(), node.lock_context(), shard),
        limits_(limits) {}

  /// Finds the slice that `header` addresses and checks that everything `pattern` touches is inside
  /// it. Errors: closed (no such region or slice), out_of_range.
  [[nodiscard]] Result<SliceLocation> find(const FrameHeader& header, const Pattern& pattern) const;
  /// Calls action(location) with the result of find() and returns its status. The slice cannot be
  /// freed during the call. Errors: those of find() and of the action.
  template <class Action>
  Status visit(const FrameHeader& header, const Pattern& pattern, Action&& action) const;
  /// Calls action(memory) with the mailboxes that the delivery `header` names, if the whole
  /// delivery fits. They cannot be withdrawn during the call. Errors: closed (none, or no longer),
  /// out_of_range.
  template <class Action>
  Status visit_mail(const FrameHeader& header, Action&& action) const;

  /// True if the runs of `pattern` are long enough for the kernel to move each one separately.
  [[nodiscard]] static bool is_long(const Pattern& pattern) noexcept;
  /// True if the rows should move directly between memory and the stream.
  [[nodiscard]] bool goes_direct(const Pattern& pattern) const noexcept;
  /// Appends the locations of the runs of `pattern`, in order, if they are mapped and goes_direct()
  /// is true. Otherwise returns false and leaves `pieces` unchanged.
  bool pieces_of(const SliceLocation& location, const Pattern& pattern,
                 std::vector<iovec>& pieces) const;

  /// Moves packed bytes. Errors: peer_lost, unsupported (both only for memory in another process).
  Status put(const SliceLocation& location, const Pattern& pattern, const std::byte* packed) const;
  Status get(const SliceLocation& location, const Pattern& pattern, std::byte* packed) const;
  /// Requires: no run cuts an element, which decode_accumulate() ensures. Errors: as put().
  Status accumulate(const SliceLocation& location, const AccumulateTerms& terms,
                    const std::byte* packed) const;
  /// Returns the previous value of the word. Errors: invalid_argument (not aligned), and as put().
  Result<std::int64_t> atomic(const SliceLocation& location, const AtomicTerms& terms,
                              std::int64_t operand, std::int64_t expected) const;

 private:
  [[nodiscard]] Result<SliceLocation> location_in(const detail::DirectorySlice& slice,
                                                  const FrameHeader& header,
                                                  const Pattern& pattern) const;
  [[nodiscard]] static Status no_slice(const FrameHeader& header);
  [[nodiscard]] static Status check_mail(const detail::DirectorySlice& slice,
                                         const FrameHeader& header);
  [[nodiscard]] static Status no_mail(const FrameHeader& header);
  Status copy(const SliceLocation& location, const CopyShape& shape, std::uint64_t offset,
              std::byte* packed, kernels::Direction direction) const;
  Status copy_pattern(const SliceLocation& location, const Pattern& pattern, std::byte* packed,
                      kernels::Direction direction) const;
  void accumulate_mapped(const SliceLocation& location, const AccumulateTerms& terms,
                         const std::byte* packed) const;
  Status accumulate_through_kernel(const SliceLocation& location, std::uint64_t offset,
                                   const std::byte* packed, std::size_t bytes,
                                   const Scale& scale) const;
  [[nodiscard]] detail::StripeLocks::Slice stripes(const SliceLocation& location) const noexcept {
    return stripes_.slice(location.region, location.slice.owner);
  }

  detail::Node& node_;
  detail::StripeLocks stripes_;
  detail::Directory directory_;
  PackingLimits limits_;
};

template <class Action>
Status Executor::visit(const FrameHeader& header, const Pattern& pattern, Action&& action) const {
  Status done;
  const bool is_there =
      directory_.visit(header.region, header.target, [&](const detail::DirectorySlice& slice) {
        const Result<SliceLocation> location = location_in(slice, header, pattern);
        done = location.ok() ? action(*location) : location.status();
      });
  return is_there ? done : no_slice(header);
}

template <class Action>
Status Executor::visit_mail(const FrameHeader& header, Action&& action) const {
  Status fits;
  const bool is_there =
      directory_.visit(header.region, header.target, [&](const detail::DirectorySlice& slice) {
        fits = check_mail(slice, header);
        if (fits.ok()) {
          action(node_.arena().at(slice.location));
        }
      });
  return is_there ? fits : no_mail(header);
}

}  // namespace tessera::rma::server
