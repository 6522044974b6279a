// SPDX-License-Identifier: BSD-3-Clause
//
// DatagramContext, DatagramConnection: the network of tests/support/datagram_provider.hpp.
//
// Threads: as RdmaContext and RdmaConnection. The context's lock protects its connections, too.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "rma/transport/rdma.hpp"
#include "tests/support/datagram_provider.hpp"
#include "tests/support/datagram_socket.hpp"

namespace tessera::rma::test {

class DatagramConnection;

class DatagramContext final : public detail::RdmaContext {
 public:
  DatagramContext(DatagramSocket socket, std::shared_ptr<detail::ReachableMemory> memory,
                  bool claims_order)
      : socket_(std::move(socket)), memory_(std::move(memory)), claims_order_(claims_order) {}

  Result<std::unique_ptr<detail::RdmaConnection>> open_connection() override;
  int progress() override;
  [[nodiscard]] bool is_busy() const noexcept override { return under_way_.load() > 0; }
  std::vector<int> take_ready_descriptors() override;
  bool arm() override;
  [[nodiscard]] int descriptor() const noexcept override { return -1; }
  void maintain() override {}
  Result<detail::RemoteSpan> expose(std::byte* from, std::uint64_t bytes) override;

  // For its connections. All but mutex() and deliver_all() require that the mutex is locked.
  [[nodiscard]] std::mutex& mutex() noexcept { return mutex_; }
  /// Delivers what has arrived, also what is held back.
  void deliver_all();
  [[nodiscard]] DatagramSocket& socket() noexcept { return socket_; }
  [[nodiscard]] bool claims_order() const noexcept { return claims_order_; }
  [[nodiscard]] bool may_reach(std::uint64_t address, std::uint64_t bytes) const noexcept;
  void remove(std::uint32_t number) { connections_.erase(number); }
  void record_arrival(int descriptor);
  /// Counts what progress() has to complete.
  void count(std::int64_t change) noexcept { under_way_.fetch_add(change); }

 private:
  int dispatch(std::vector<Datagram> datagrams);
  void send_queued();

  std::mutex mutex_;
  DatagramSocket socket_;
  std::shared_ptr<detail::ReachableMemory> memory_;
  const bool claims_order_;
  std::unordered_map<std::uint32_t, DatagramConnection*> connections_;
  std::vector<int> arrivals_;
  std::atomic<std::int64_t> under_way_{0};
};

class DatagramConnection final : public detail::RdmaConnection {
 public:
  DatagramConnection(DatagramContext& context, std::uint32_t number) noexcept
      : context_(context), number_(number) {}
  ~DatagramConnection() override;
  DatagramConnection(const DatagramConnection&) = delete;
  DatagramConnection& operator=(const DatagramConnection&) = delete;

  Result<std::size_t> send(std::span<const iovec> pieces) override;
  Result<std::size_t> receive(std::span<const iovec> into) override;
  [[nodiscard]] Status check() const override;
  [[nodiscard]] int descriptor() const noexcept override { return descriptor_; }
  [[nodiscard]] bool shows_room() const noexcept override { return false; }
  Status on_readable() override;
  [[nodiscard]] std::string peer() const override;

  [[nodiscard]] detail::RdmaAddressBytes address() const override;
  Status connect(const detail::RdmaAddressBytes& other) override;
  [[nodiscard]] bool has_ordered_writes() const noexcept override {
    return context_.claims_order();
  }
  Status push(const std::byte*, const CopyShape&, const detail::RemoteSpan&) override;
  Status wait_for_writes(detail::Requests& requests) override;
  void watch(std::unique_ptr<detail::Channel> beside) override;
  std::unique_ptr<Endpoint> endpoint(WorldRank peer, std::unique_ptr<Endpoint> by_requests,
                                     detail::Requests& requests) override;

  /// Begins a write or a read of at most DatagramSocket::max_payload bytes; a part of `done` ends
  /// with it. Returns false if too much is under way. Errors: peer_lost; no part ends then.
  Result<bool> write(std::uint64_t address, const std::byte* from, std::size_t bytes,
                     Completion& done);
  Result<bool> read(std::uint64_t address, std::byte* to, std::size_t bytes, Completion& done);

  // For the context, with its mutex locked.
  void take(const Datagram& datagram);
  void send_queued();
  /// Lets the owner try again to send a message that had no room.
  void offer_room();

 private:
  struct Operation {
    Completion* done = nullptr;
    std::byte* to = nullptr;  // null: a write
    std::size_t bytes = 0;
  };
  struct Flush {
    Completion* done = nullptr;
    std::uint64_t until = 0;  // the number of the last write that it waits for
  };
  Result<bool> begin(DatagramKind kind, std::uint64_t address, const std::byte* from,
                     const Operation& operation);
  void queue(DatagramKind kind, std::uint64_t number, std::vector<std::byte> payload = {},
             std::uint64_t address = 0, std::uint64_t bytes = 0);
  bool pass(const Datagram& datagram);
  void take_message(const Datagram& datagram);
  void serve(const Datagram& request);
  void finish(const Datagram& answer);
  void end_flushes();
  void lose(const Status& reason);
  [[nodiscard]] Status described(const Status& reason) const;

  DatagramContext& context_;
  const std::uint32_t number_;
  DatagramName peer_name_;
  std::uint32_t peer_number_ = 0;
  std::unique_ptr<detail::Channel> beside_;
  std::atomic<int> descriptor_{-1};
  const detail::Requests* requests_ = nullptr;

  std::deque<Datagram> queued_;
  bool wants_room_ = false;  // a message had none
  std::uint64_t sent_messages_ = 0;
  std::uint64_t consumed_messages_ = 0;                    // of those, by the other end
  std::uint64_t received_messages_ = 0;                    // in order
  std::map<std::uint64_t, std::vector<std::byte>> early_;  // messages before whose turn
  std::deque<std::vector<std::byte>> stream_;              // messages to be read
  std::size_t read_of_first_ = 0;
  std::uint64_t last_operation_ = 0;
  std::map<std::uint64_t, Operation> operations_;
  std::map<std::uint64_t, Operation>::size_type writes_ = 0;  // of operations_
  std::vector<Flush> flushes_;
  std::chrono::steady_clock::time_point ended_{};  // when the stream beside it ended
  std::atomic<bool> is_lost_{false};
  Status loss_;
};

}  // namespace tessera::rma::test
