// SPDX-License-Identifier: BSD-3-Clause
//
// VerbsEndpoint: operations on one rank of another node. The device does them if the target's
// memory is registered and rows are long; otherwise they go as requests to the agent, over the same
// connection.
//
//     put   ≤ inline              the data are in the request;            complete at return
//     put   ≤ 4 KiB               copied into a buffer, then written;     complete at return
//     put   longer                written directly from the source;       complete at the target
//     get   registered memory     read directly to the destination;
//     get   ≤ 1 KiB               read into a buffer, copied from there;
//     get   longer                read directly to the destination.
//
// The node's arena is registered slab by slab; other memory is registered at its first use. If the
// device cannot register the memory, all its transfers use buffers.
//
// Order. All operations use one queue pair, which keeps order, and the agent executes a request
// after all earlier writes. But the device does not wait for the agent. After requests that changed
// memory and are not yet fenced, small operations also go as requests, and large ones fence first
// (docs/memory-model.md).
//
// Atomics go as requests, except in regions with Atomics::device: there only the device does them.
//
// Threads: all functions may be called from any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "rma/kernels/copy.hpp"
#include "rma/transport/rdma.hpp"
#include "rma/transport/transport.hpp"
#include "rma/transport/verbs/connection.hpp"
#include "rma/transport/verbs/local_ranges.hpp"

namespace tessera::rma::verbs {

/// The most pieces of local memory in one request.
[[nodiscard]] std::uint32_t max_pieces(const DeviceLimits& limits) noexcept;

class VerbsEndpoint final : public Endpoint {
 public:
  VerbsEndpoint(VerbsConnection& connection, WorldRank peer, std::unique_ptr<Endpoint> by_requests,
                detail::Requests& requests) noexcept;

  Status put(const Target& to, const void* from, const CopyShape& shape, Completion& done) override;
  Result<bool> put_now(const Target& to, const void* from, std::size_t bytes) override;
  Status get(void* to, const Target& from, const CopyShape& shape, Completion& done) override;
  Status accumulate(const Target& to, const void* from, const CopyShape& shape, const Scale& scale,
                    Completion& done) override;
  Status atomic(const Target& at, const AtomicRequest& request, Completion& done) override;
  Status atomic_list(const Target& at, const AtomicList& list, Completion& done) override;
  Status atomic_by_device(const Target& at, const AtomicRequest& request) override;
  Status put_fragments(const Target& to, Fragments fragments, Completion& done) override;
  Status get_fragments(const Target& from, Fragments fragments, Completion& done) override;
  Status accumulate_fragments(const Target& to, Fragments fragments, const Scale& scale,
                              Completion& done) override;

  Status fence() override;
  Status start_fence(Completion& done) override;
  [[nodiscard]] bool is_fenced(RegionId region) const noexcept override;

 private:
  using Direction = kernels::Direction;
  struct Local {
    std::uint32_t key = 0;
    std::uint32_t remote_key = 0;
    std::size_t bytes = 0;  // that the registration covers
    std::shared_ptr<const Registration> held;
  };

  using ReachableSpan = std::optional<detail::RemoteSpan>;  // none: reachable by requests only
  struct Run {
    Direction direction = Direction::to_remote;
    std::byte* local = nullptr;
    std::size_t bytes = 0;
  };

  [[nodiscard]] std::optional<ReachableSpan> find_cached(RegionId region, std::uint64_t offset);
  Result<ReachableSpan> request_location(RegionId region, std::uint64_t offset,
                                         const std::function<void()>& meanwhile);
  Result<ReachableSpan> find(RegionId region, std::uint64_t offset);
  Result<ReachableSpan> find_and_prepare(const Target& target, std::size_t moved, const Run& run);
  [[nodiscard]] bool goes_as_words(std::size_t bytes) const noexcept;
  Result<bool> may_go_direct(const Target& target, std::size_t bytes);
  [[nodiscard]] std::optional<Local> find_local(Direction direction, std::byte* at,
                                                std::size_t bytes) const;
  [[nodiscard]] std::optional<Local> find_first_part(Direction direction, std::byte* at,
                                                     std::size_t bytes) const;
  [[nodiscard]] bool is_copied(Direction direction, const std::byte* at,
                               std::size_t bytes) const noexcept;
  Status move(Direction direction, const Target& target, std::byte* local, std::size_t bytes,
              Completion& done);
  Result<std::size_t> move_piece(Direction direction, const detail::RemoteSpan& remote,
                                 std::byte* local, std::size_t bytes, Completion& done);
  Status move_in_place(Direction direction, const detail::RemoteSpan& remote, std::byte* local,
                       std::size_t bytes, Local known, Completion& done);
  Status move_by_buffer(Direction direction, const detail::RemoteSpan& remote, std::byte* local,
                        std::size_t bytes, Completion& done);
  Status put_inline(const detail::RemoteSpan& remote, const std::byte* from, std::size_t bytes);
  // The rows of a transfer. for_each(visit) calls visit(local, offset in the slice, bytes) for each
  // row, until one call returns an error.
  using VisitRow = std::function<Status(std::byte*, std::uint64_t, std::size_t)>;
  struct TransferRows {
    LocalRows local;
    std::uint64_t offset = 0;  // the lowest in the slice
    std::uint64_t bytes = 0;   // up to the highest
    std::function<Status(const VisitRow&)> for_each;
  };
  struct RegisteredRange {
    detail::RemoteSpan remote;  // from the rows' offset on
    std::shared_ptr<const LocalRanges> local;
  };
  [[nodiscard]] static TransferRows rows_of(const Target& target, std::byte* local,
                                            const CopyShape& shape);
  [[nodiscard]] static TransferRows rows_of(const Target& target, Fragments fragments);
  Result<std::optional<RegisteredRange>> find_registered_range(Direction direction, RegionId region,
                                                               const TransferRows& rows);
  Result<bool> move_rows(Direction direction, RegionId region, const TransferRows& rows,
                         Completion& done);
  Result<bool> move_shape(Direction direction, const Target& target, std::byte* local,
                          const CopyShape& shape, Completion& done);
  Result<bool> move_fragments(Direction direction, const Target& target, Fragments fragments,
                              Completion& done);
  static Status conclude(Status status, bool has_begun, Completion& done);
  // rma/transport/verbs/assisted_gets.cpp
  Result<bool> get_assisted(std::byte* to, const Target& from, const CopyShape& shape,
                            Completion& done);
  Result<bool> request_run(std::byte* to, const Target& from, std::size_t bytes, Completion& done);
  Result<bool> request_rows(std::byte* to, const Target& from, const CopyShape& shape,
                            Completion& done);
  Status request_in_parts(const detail::AssistedGetRequest& request,
                          const std::shared_ptr<const void>& held, Completion& done);
  Result<detail::RemoteSpan> find_word(const Target& at);
  Status change_word(const detail::RemoteSpan& word, const AtomicRequest& request);
  Status post(Direction direction, ibv_send_wr* first, std::uint32_t count,
              const OnCompletion& on_completion);
  Result<int> take_buffer();
  void record_write(std::uint64_t number) noexcept;

  VerbsConnection& connection_;
  const VerbsContextOptions& options_;
  std::size_t min_row_;
  std::size_t min_assisted_;  // larger gets are assisted
  WorldRank peer_;
  std::unique_ptr<Endpoint> by_requests_;
  detail::Requests& requests_;

  struct Piece {
    std::uint64_t offset = 0;  // in the slice
    detail::RemoteSpan span;   // no bytes: reachable by requests only
  };
  std::mutex locations_mutex_;
  std::unordered_map<std::uint32_t, std::vector<Piece>> locations_;  // by region
  std::atomic<std::uint64_t> last_write_{0};                         // its number on the connection
};

}  // namespace tessera::rma::verbs
