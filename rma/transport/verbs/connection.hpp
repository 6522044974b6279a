// SPDX-License-Identifier: BSD-3-Clause
//
// VerbsConnection: one end of a reliable connection between a process and an agent. It carries
// messages, which form the stream of requests and replies, and the process's own reads and writes
// of the other node's memory, all in posting order.
//
// Messages. The bytes of a stream are copied into registered buffers, and out of the receive
// buffers at the other end. All connections of an RDMA context share its receive buffers; credits
// (credits.hpp) control their use. The two directions are counted separately: replies never wait
// for requests. If a burst leaves a receiver without buffers, the devices retry for as long as the
// connection exists.
//
// Completion. The device completes requests in order, and signals only some of them: when a thread
// waits for the request, when buffers are scarce, and at least once in a fixed number of requests.
//
// Threads: as detail::RdmaConnection; post() by any.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "rma/transport/rdma.hpp"
#include "rma/transport/verbs/context.hpp"
#include "rma/transport/verbs/credits.hpp"
#include "rma/transport/verbs/fifo.hpp"
#include "rma/transport/verbs/queue_pair.hpp"

namespace tessera::rma::verbs {

/// What to do when a request completes.
struct OnCompletion {
  Completion* done = nullptr;
  int buffer = -1;               ///< to be freed
  std::byte* copy_to = nullptr;  ///< receives the buffer's first `copy_bytes` before it is freed
  std::size_t copy_bytes = 0;
  std::shared_ptr<const void> held = nullptr;  ///< memory that the request uses
  bool is_flush = false;                       ///< all earlier writes are then in effect
  bool is_last = false;                        ///< a thread waits until nothing is under way

  /// Nothing depends on the completion.
  [[nodiscard]] bool may_be_unsignaled() const noexcept {
    return done == nullptr && held == nullptr && !is_flush && !is_last;
  }
};

class VerbsConnection final : public detail::RdmaConnection {
 public:
  static Result<std::unique_ptr<VerbsConnection>> open(VerbsContext& context);
  ~VerbsConnection() override;
  VerbsConnection(const VerbsConnection&) = delete;
  VerbsConnection& operator=(const VerbsConnection&) = delete;

  Result<std::size_t> send(std::span<const iovec> pieces) override;
  Result<std::size_t> receive(std::span<const iovec> into) override;
  [[nodiscard]] Status check() const override;
  [[nodiscard]] int descriptor() const noexcept override;
  [[nodiscard]] bool shows_room() const noexcept override { return false; }
  Status on_readable() override;
  [[nodiscard]] std::string peer() const override;

  [[nodiscard]] detail::RdmaAddressBytes address() const override;
  Status connect(const detail::RdmaAddressBytes& other) override;
  Status push(const std::byte* from, const CopyShape& shape, const detail::RemoteSpan& to) override;
  Status wait_for_writes(detail::Requests& requests) override;
  void watch(std::unique_ptr<detail::Channel> tcp_channel) override;
  std::unique_ptr<Endpoint> endpoint(WorldRank peer, std::unique_ptr<Endpoint> by_requests,
                                     detail::Requests& requests) override;

  /// Posts requests, linked by `next`, as one batch; `on_completion` is carried out when the last
  /// completes. Returns the number of the last, or 0 without posting if there is no room now.
  /// Errors: peer_lost; `on_completion` is then not used.
  /// Requires: count ≤ max_batch().
  Result<std::uint64_t> post(ibv_send_wr* first, std::uint32_t count, OnCompletion on_completion);
  [[nodiscard]] std::uint32_t max_batch() const noexcept;
  [[nodiscard]] std::uint32_t max_inline() const noexcept { return inline_bytes_; }
  /// `done` completes when all earlier writes are in effect. Waits while too much is under way.
  /// Errors: peer_lost; `done` then does not complete.
  Status start_flush(detail::Requests& requests, Completion& done);
  /// Records that the request of that number writes.
  void record_write(std::uint64_t number) noexcept;
  /// All writes up to this request are known to be in effect.
  [[nodiscard]] std::uint64_t flushed() const noexcept { return flushed_.load(); }

  [[nodiscard]] VerbsContext& context() const noexcept { return context_; }

  /// For the VerbsContext.
  void take_completion(const ibv_wc& completion);
  /// Posts requests that had no room, and credit updates.
  void post_unposted();
  /// See Credits::recall_unused().
  void recall_unused();
  /// No completion will come any longer: completes everything that waits for one, with an error.
  void abandon(const Status& reason);

 private:
  VerbsConnection(VerbsContext& context, QueuePair queue);
  struct Message {
    std::uint32_t buffer = 0;
    std::uint32_t bytes = 0;
    std::uint32_t read = 0;
    CreditUse backing = CreditUse::kept;
    std::unique_ptr<std::byte[]> copy = nullptr;  // in place of the buffer
  };
  struct PendingCompletion {
    std::uint64_t number = 0;
    OnCompletion on_completion;
  };
  // Requests that had no room, with their pieces.
  struct DeferredRequests {
    std::vector<ibv_send_wr> requests;
    std::vector<ibv_sge> pieces;
  };
  Status reserve_window();
  Status post_or_defer(ibv_send_wr* first, std::uint32_t count);
  void post_deferred();
  [[nodiscard]] bool take_room(std::uint32_t count);
  Result<std::uint64_t> post_locked(ibv_send_wr* first, std::uint32_t count,
                                    OnCompletion on_completion);
  Status post_message(std::span<const std::byte> bytes, CreditUpdate update,
                      OnCompletion on_completion);
  void post_credit_update();
  void post_update_soon();
  [[nodiscard]] bool are_buffers_scarce() const;
  void take_message(const ibv_wc& completion);
  void store_message(std::uint32_t buffer, std::uint32_t bytes, CreditUse backing);
  void release_message(Message& message);
  void complete_until(std::uint64_t number, const Status& status);
  bool record_completed(std::uint64_t number, PendingCompletion& completed);
  void finish(OnCompletion& on_completion, std::uint64_t number, const Status& status);
  void lose(const Status& reason);
  [[nodiscard]] Status loss() const;
  void drain() noexcept;

  VerbsContext& context_;
  QueuePair queue_;
  std::uint32_t inline_bytes_;
  detail::RemoteSpan flush_target_;               // a byte at the other end that no process writes
  std::unique_ptr<detail::Channel> tcp_channel_;  // never null once watch() was called
  std::atomic<const detail::Requests*> requests_{nullptr};  // of the endpoints; names the operation
                                                            // in an error
  std::atomic<int> descriptor_{-1};

  std::mutex sending_;
  std::uint64_t posted_ = 0;
  std::uint64_t ended_ = 0;
  std::uint64_t last_signaled_ = 0;  // the last signaled request
  Fifo<PendingCompletion> pending_;
  Fifo<DeferredRequests> deferred_;  // of assisted gets; messages wait until these are posted
  bool is_short_of_room_ = false;  // for messages: their sender must be notified when there is some
  std::uint32_t reserved_ = 0;     // buffers reserved for this connection
  Credits credits_;
  std::atomic<std::uint64_t> flushed_{0};
  std::atomic<std::uint64_t> last_write_{0};  // by any endpoint

  std::mutex receiving_;
  Fifo<Message> messages_;

  std::atomic<bool> is_lost_{false};
  mutable std::mutex reason_mutex_;
  Status reason_;
};

}  // namespace tessera::rma::verbs
