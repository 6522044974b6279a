// SPDX-License-Identifier: BSD-3-Clause
//
// Rows: the runs of one transfer as requests for the device, posted in batches with one doorbell
// each. Runs that lie behind each other at the target go in one request, gathered from their places
// here or scattered to them ([ARMCI06] §5.2.3).
//
// Threads: one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "rma/engine/fabric.hpp"
#include "rma/result.hpp"
#include "rma/verbs/library.hpp"

namespace tessera::rma::verbs {

class Rows {
 public:
  /// Posts a list of requests.
  using Post = std::function<Status(ibv_send_wr* first, std::uint32_t count)>;
  /// In a list.
  static constexpr std::uint32_t most_requests = 16;

  struct Options {
    ibv_wr_opcode opcode = IBV_WR_RDMA_WRITE;
    detail::RemoteSpan remote;  ///< offsets count from where it begins
    std::uint32_t most_pieces = 1;
    std::size_t most_bytes = 0;  ///< of a request
  };
  Rows(const Options& options, Post post) noexcept;

  /// One more run: `bytes` here, in memory of that key, and from `offset` bytes behind (or before)
  /// the start of the remote span on. Errors: of posting.
  Status add(const std::byte* local, std::uint32_t local_key, std::int64_t offset,
             std::size_t bytes);
  /// Posts what is left.
  Status finish();

 private:
  static constexpr std::uint32_t most_pieces = 16;
  [[nodiscard]] bool joins_last(std::int64_t offset, std::size_t bytes) const noexcept;
  void begin_request(std::int64_t offset) noexcept;
  void add_piece(const std::byte* local, std::uint32_t local_key, std::size_t bytes) noexcept;

  Options options_;
  Post post_;
  std::uint32_t count_ = 0;
  std::array<ibv_send_wr, most_requests> requests_{};
  std::array<std::array<ibv_sge, most_pieces>, most_requests> pieces_{};
  std::int64_t end_ = 0;        // of the last request, as an offset
  std::size_t last_bytes_ = 0;  // of it
};

}  // namespace tessera::rma::verbs
