// SPDX-License-Identifier: BSD-3-Clause
//
// Device: an open RDMA device, with one of its ports, its protection domain and its limits. All
// other objects of this transport are made from it, and keep it alive.
//
// device_choice.hpp chooses the device, port and GID.
//
// Threads: all functions may be called from any thread; poll_events() by one at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "rma/base/result.hpp"
#include "rma/transport/verbs/connection_address.hpp"
#include "rma/transport/verbs/device_choice.hpp"
#include "rma/transport/verbs/handles.hpp"
#include "rma/transport/verbs/library.hpp"

namespace tessera::rma::verbs {

/// The device's limits. It may still refuse queues of this depth for lack of memory.
struct DeviceLimits {
  std::size_t max_message = 0;          ///< bytes of one request;
  std::uint32_t max_send_sge = 0;       ///< pieces of local memory in one request;
  std::uint32_t max_inline = 0;         ///< bytes that a request may carry itself;
  std::uint32_t max_queue_depth = 0;    ///< requests in one queue pair;
  std::uint32_t max_completions = 0;    ///< in one completion queue;
  std::uint32_t max_srq = 0;            ///< receives in one shared queue;
  std::uint32_t srq_sge = 0;            ///< pieces of local memory in one of these;
  std::uint8_t reads_as_initiator = 0;  ///< reads and atomics in flight, of one queue pair;
  std::uint8_t reads_as_target = 0;     ///< those that one queue pair serves at once;
  bool has_atomics = false;             ///< on 8 bytes, atomic to all queue pairs of the device;
  bool keeps_words = true;              ///< other threads never see part of an aligned word;
  std::uint32_t domains = 0;            ///< for all processes together, as the next three;
  std::uint32_t completion_queues = 0;
  std::uint32_t queue_pairs = 0;
  std::uint32_t receive_queues = 0;          ///< shared ones;
  std::uint32_t mtu = 0;                     ///< bytes of the port's packets;
  ibv_fork_status fork = IBV_FORK_DISABLED;  ///< unless this says "unneeded": fork_init() before
                                             ///< registering
};

enum class EventKind {
  device_lost,             ///< nothing works any longer; reported once
  port_down,               ///< our port: requests are retried until they fail
  port_up,                 ///< our port
  queue_error,             ///< of `queue_pair`, which has gone to its error state
  completion_queue_error,  ///< it overflowed: no completion of `completions` can be relied upon
  receive_queue_error,     ///< of `receives`: its messages are lost
  low_on_receives,         ///< `receives` has reached its limit, which is off until it is set again
  other,                   ///< for the log only
};

/// An event of the device that does not belong to a request.
struct DeviceEvent {
  EventKind kind = EventKind::other;
  std::uint32_t queue_pair = 0;         ///< its number; 0 if the event is of something else
  const ibv_cq* completions = nullptr;  ///< for comparison only: it may be destroyed
  const ibv_srq* receives = nullptr;    ///< for comparison only: it may be destroyed
  std::string text;                     ///< the event as a sentence
};

class Device {
 public:
  /// Opens the device that `options` name, or the best one. Errors: unsupported, invalid_argument
  /// (device_choice.hpp); no_memory and limit_exceeded if the device's resources are exhausted.
  static Result<std::shared_ptr<Device>> open(std::shared_ptr<VerbsLibrary> library,
                                              const DeviceOptions& options);

  [[nodiscard]] const std::string& name() const noexcept { return choice_.name; }
  /// The port, network and GID in use.
  [[nodiscard]] const PortChoice& port() const noexcept { return choice_.port; }
  [[nodiscard]] const DeviceLimits& limits() const noexcept { return limits_; }
  /// For messages: "mlx5_0:1, RoCE v2, 10.0.0.1 (GID 3), MTU 4096".
  [[nodiscard]] std::string describe() const;

  [[nodiscard]] const std::shared_ptr<VerbsLibrary>& library() const noexcept { return library_; }
  [[nodiscard]] ibv_context* context() const noexcept { return choice_.context.get(); }
  [[nodiscard]] ibv_pd* domain() const noexcept { return domain_.get(); }
  /// Readable if poll_events() would return an event.
  [[nodiscard]] int event_descriptor() const noexcept { return context()->async_fd; }

  /// Events since the last call, oldest first. Never waits.
  std::vector<DeviceEvent> poll_events();

 private:
  Device(std::shared_ptr<VerbsLibrary> library, DeviceChoice choice) noexcept;
  Status prepare();
  void find_limits();
  Status find_inline_limit();
  DeviceEvent explain(const ibv_async_event& event) const;

  std::shared_ptr<VerbsLibrary> library_;
  DeviceChoice choice_;  // holds the context: outlives the domain
  OwnedDomain domain_;
  DeviceLimits limits_;
  bool is_lost_ = false;
};

/// The error for a `what` that the device cannot make; `error` is the system's, and `limit` the
/// device's limit for these (0 if it has none).
Status cannot_make(const Device& device, std::string_view what, std::uint32_t limit, int error);

}  // namespace tessera::rma::verbs
