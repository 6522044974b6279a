// SPDX-License-Identifier: BSD-3-Clause
//
// RequestReceiver: receives the requests of one connection and has each executed by the handler of
// its kind (request_handlers.hpp), in the order of the stream. A request is executed when its
// payload is complete. Requests for other nodes have one handler of their own, which passes them on
// (forwarder.hpp).
//
// Payloads that came together with their request are used where they lie. Longer puts of long rows
// and long deliveries are received directly into their target. Other payloads are received into a
// buffer.
//
// All input is checked. A malformed frame ends the connection. A valid request that cannot be
// executed is answered with its error. A slice may be freed while its payload is arriving, so
// memory is looked up again, and pinned, whenever bytes are stored into it.
//
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "rma/server/agent/executor.hpp"
#include "rma/server/agent/lock_server.hpp"
#include "rma/server/agent/request_handlers.hpp"
#include "rma/server/connection/frame_reader.hpp"
#include "rma/server/connection/packed_buffer.hpp"

namespace tessera::rma::server {

class RequestReceiver final : public FrameSink {
 public:
  /// All references outlive the receiver.
  RequestReceiver(ServerConnection& connection, detail::Node& node, RemoteLockServer& locks,
                  const ServerConnectionOptions& options);

  // As FrameSink says.
  Status begin(const FrameHeader& header, std::span<const std::byte> descriptor,
               std::span<const std::byte> payload, std::vector<iovec>& into) override;
  Status end(const FrameHeader& header) override;
  Status caught_up() override;
  [[nodiscard]] bool takes(const FrameHeader& header) override;
  [[nodiscard]] bool is_latency_critical(const FrameHeader& header) const override;
  Result<std::size_t> receive_payload(Channel& channel, std::vector<iovec>& destinations,
                                      std::size_t next, iovec rest) override;
  void store_payload(std::span<const iovec> destinations,
                     std::span<const std::byte> bytes) override;

  /// A request cannot be passed on yet.
  [[nodiscard]] bool waits_for_trunk() const noexcept { return waits_for_trunk_; }
  /// That request may be retried.
  void resume() noexcept { waits_for_trunk_ = false; }
  /// Whether urgent requests came since the last call: the peer, or a rank in a collective, waits
  /// for them.
  [[nodiscard]] bool take_urgent() noexcept { return std::exchange(was_urgent_, false); }
  /// What would be incomplete if the connection ended now. Requires: a request has come in part.
  [[nodiscard]] std::string unfinished() const;
  /// Frees memory that was not used since the last call. Requires: no request has come in part.
  void release_unused() noexcept { packed_.release_unused(); }

 private:
  [[nodiscard]] bool is_for_other(const FrameHeader& header) const;
  Status check_peer(const FrameHeader& header) const;
  Status check_forwarded(const FrameHeader& header) const;
  Status check_form(const FrameHeader& header) const;
  Status place_payload(std::span<const std::byte> payload, std::vector<iovec>& into);
  void find_destinations(std::vector<iovec>& into);
  template <class Store>
  void store_in_place(Store&& store);

  RequestContext context_;
  Request current_;
  PackedBuffer packed_;  // the payload, if it did not come with the request and is not in place
  bool is_in_place_ = false;  // the payload goes directly to memory
  bool is_stale_ = false;     // the origin has changed its route since
  bool was_urgent_ = false;
  bool waits_for_trunk_ = false;
  std::uint64_t executed_ = 0;  // forwarded requests executed and not yet acknowledged
};

}  // namespace tessera::rma::server
