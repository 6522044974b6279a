// SPDX-License-Identifier: BSD-3-Clause
//
// Connector: connects this process to the agents of other nodes, and remembers failed attempts.
//
// Threads: open() by one thread at a time for each contact; the rest by any.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>

#include "rma/base/rank.hpp"
#include "rma/base/result.hpp"
#include "rma/transport/channel.hpp"

namespace tessera::rma::server {

using detail::Channel;

struct ClientOptions;

class Connector {
 public:
  /// Attempts to connect to a node for one purpose.
  struct Attempts {
    Status failure;  ///< of the last attempt; calls return it until `again`
    std::chrono::steady_clock::time_point again;
    [[nodiscard]] bool are_paused() const noexcept {
      return !failure.ok() && std::chrono::steady_clock::now() < again;
    }
  };
  using Pause = std::chrono::duration<std::int32_t, std::milli>;
  /// What is known of the attempts to connect to a node.
  struct Contact {
    Attempts of_links;
    Attempts of_transients;
    Pause pause{0};             ///< after the last attempt; 0: it succeeded
    std::atomic<int> error{0};  ///< of the last attempt, as errno
    /// Nanoseconds of the steady clock; 0: it has replied.
    std::atomic<std::int64_t> silent_since{0};
  };
  /// A failed attempt to make a transient connection does not keep links from trying, unless the
  /// node is gone.
  enum class Purpose : std::uint8_t { link, transient };

  /// `options` outlives the object.
  explicit Connector(const ClientOptions& options) noexcept : options_(options) {}

  /// Connects to the agent of `node` and authenticates this process. After a failed attempt, calls
  /// fail at once with the same error until a pause has passed. Errors: as Client::link_to().
  Result<std::unique_ptr<Channel>> open(NodeId node, Contact& contact, Purpose purpose,
                                        std::chrono::milliseconds timeout);
  /// The error to report when `reason` happened to a node; it names the node and the rank that
  /// hosts its agent.
  [[nodiscard]] Status loss_of(NodeId node, const Status& reason) const noexcept;

 private:
  using TimePoint = std::chrono::steady_clock::time_point;

  Result<std::unique_ptr<Channel>> try_to_open(NodeId node, Contact& contact,
                                               std::chrono::milliseconds timeout) const;
  void record_outcome(Contact& contact, Attempts& attempts, const Status& outcome,
                      TimePoint begun) const;
  Result<std::unique_ptr<Channel>> reach(NodeId node, Contact& contact,
                                         std::chrono::milliseconds timeout) const;
  Result<std::unique_ptr<Channel>> introduce(NodeId node, Contact& contact,
                                             std::chrono::milliseconds timeout) const;
  Status shake_hands(Channel& channel, NodeId node, TimePoint deadline) const;
  [[nodiscard]] Status describe_loss(NodeId node, const Status& reason) const;

  const ClientOptions& options_;
};

}  // namespace tessera::rma::server
