// SPDX-License-Identifier: BSD-3-Clause
//
// WorkRequestBatch: turns the runs of one transfer into device requests, posted in batches with one
// doorbell each. Runs that are adjacent at the target share one request, which gathers them from
// local memory or scatters them to it ([ARMCI06] §5.2.3).
//
// Threads: one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "rma/base/result.hpp"
#include "rma/transport/rdma.hpp"
#include "rma/transport/verbs/library.hpp"

namespace tessera::rma::verbs {

class WorkRequestBatch {
 public:
  /// Posts a list of requests.
  using Post = std::function<Status(ibv_send_wr* first, std::uint32_t count)>;
  /// Requests in a list.
  static constexpr std::uint32_t max_requests = 16;

  struct Options {
    ibv_wr_opcode opcode = IBV_WR_RDMA_WRITE;
    detail::RemoteSpan remote;  ///< offsets count from its beginning
    std::uint32_t max_pieces = 1;
    std::size_t max_bytes = 0;  ///< largest request
  };
  WorkRequestBatch(const Options& options, Post post) noexcept;

  /// Adds a run: `bytes` at `local`, in memory of that key, and at `offset` bytes (which may be
  /// negative) from the start of the remote span. Errors: of posting.
  Status add(const std::byte* local, std::uint32_t local_key, std::int64_t offset,
             std::size_t bytes);
  /// Posts the remaining requests.
  Status finish();

 private:
  static constexpr std::uint32_t max_pieces = 16;
  [[nodiscard]] bool joins_last(std::int64_t offset, std::size_t bytes) const noexcept;
  void begin_request(std::int64_t offset) noexcept;
  void add_piece(const std::byte* local, std::uint32_t local_key, std::size_t bytes) noexcept;

  Options options_;
  Post post_;
  std::uint32_t count_ = 0;
  std::array<ibv_send_wr, max_requests> requests_{};
  std::array<std::array<ibv_sge, max_pieces>, max_requests> pieces_{};
  std::int64_t end_ = 0;        // of the last request, as an offset
  std::size_t last_bytes_ = 0;  // of it
};

}  // namespace tessera::rma::verbs
