// SPDX-License-Identifier: BSD-3-Clause
//
// ReplyReceiver: receives the replies of a connection, stores their data and ends the operations
// that wait for them.
//
// A payload that came together with its reply is stored from where it lies. Long replies are
// received directly into their destinations; short rows are received into a buffer and unpacked.
//
// An allocation failure fails only the operation that needed the memory.
//
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "rma/base/result.hpp"
#include "rma/server/client/reply_table.hpp"
#include "rma/server/connection/frame_reader.hpp"
#include "rma/server/connection/packed_buffer.hpp"
#include "rma/server/wire/wire.hpp"

namespace tessera::rma::server {

class ClientConnection;

class ReplyReceiver final : public FrameSink {
 public:
  /// For the connection `link`, which contains the receiver.
  explicit ReplyReceiver(ClientConnection& link) noexcept : link_(link) {}

  // As FrameSink says.
  Status begin(const FrameHeader& header, std::span<const std::byte> descriptor,
               std::span<const std::byte> payload, std::vector<iovec>& into) override;
  Status end(const FrameHeader& header) override;

  /// The number of replies since begin_count().
  [[nodiscard]] int count() const noexcept { return count_; }
  void begin_count() noexcept { count_ = 0; }
  /// The lists of gets that failed as a whole since the last call: request each get separately.
  [[nodiscard]] std::vector<std::unique_ptr<BatchedGets>> take_failed_gets() {
    return std::exchange(failed_gets_, {});
  }
  /// Ends the reply of another link whose bytes were arriving.
  void end_arriving(const Status& reason);
  /// Frees memory that was not used since the last call. Requires: no reply has come in part.
  void release_unused() noexcept { packed_.release_unused(); }

 private:
  Status check(const FrameHeader& header) const;
  Status place_data(const FrameHeader& header, std::span<const std::byte> payload,
                    std::vector<iovec>& into);
  void find_pieces(const PendingReply& pending, std::size_t bytes, std::vector<iovec>& into);
  Status end_unasked(const FrameHeader& header);
  [[nodiscard]] Status not_pending(std::uint64_t operation) const;
  [[nodiscard]] Status failure_in(const FrameHeader& header) const;
  Status store(const FrameHeader& header, const PendingReply& pending);

  ClientConnection& link_;
  ClientConnection* owner_ = nullptr;  // the link that the arriving reply belongs to
  // Operation of the arriving reply, if it belongs to another link; 0: none.
  std::uint64_t arriving_ = 0;
  const std::byte* payload_ = nullptr;  // the reply's payload, unless it is at its destination
  PackedBuffer packed_;                 // the payload, if it did not come with the reply
  Status allocation_error_;             // no memory for the arriving reply
  int count_ = 0;
  std::vector<std::unique_ptr<BatchedGets>> failed_gets_;
};

}  // namespace tessera::rma::server
