// SPDX-License-Identifier: BSD-3-Clause
//
// CostModel: which protocol is the cheapest, from measured times of the device and this machine
// (device_times.hpp). Not used if a setting names the protocol.
//
// The formulas are rough on purpose: if two protocols differ little, either is good.
//
// Threads: a value that doesn't change.
#pragma once

#include <cstddef>

namespace tessera::rma::verbs {

/// In nanoseconds. The defaults are those of a network adapter of 100 Gbit/s.
struct DeviceTimes {
  double request = 150;          ///< one more small write among several
  double write_wait = 1'500;     ///< a small write, until its completion is polled
  double read_wait = 2'000;      ///< a small read, until its completion is polled
  double written_kib = 85;       ///< each KiB of long writes
  double read_kib = 85;          ///< of long reads
  double copied_kib = 80;        ///< of a copy in memory
  double registration = 20'000;  ///< registering and deregistering a page
  double registered_kib = 20;    ///< each further KiB
  friend bool operator==(const DeviceTimes&, const DeviceTimes&) = default;
};

class CostModel {
 public:
  CostModel() = default;
  /// `message_bytes`: size of the buffers that carry requests.
  CostModel(const DeviceTimes& times, std::size_t message_bytes) noexcept
      : times_(times), message_bytes_(message_bytes) {}

  [[nodiscard]] const DeviceTimes& times() const noexcept { return times_; }

  /// Rows of at least this many bytes are better sent as a device request each; shorter ones are
  /// better packed, sent and unpacked. A power of two, 64 to 32768.
  [[nodiscard]] std::size_t min_row() const noexcept;

  /// Whether a get of this size is faster if the other end writes the data (host-assisted,
  /// [ARMCI06] §5.2.3) than if this end reads it. That is so if the device's reads are slower than
  /// its writes by more than the cost of the request, which wakes the agent.
  [[nodiscard]] bool prefers_assisted(std::size_t bytes) const noexcept;

  /// Whether memory that is registered for one use only is better copied through buffers.
  [[nodiscard]] bool prefers_copy(std::size_t bytes) const noexcept;

  /// How much longer packed rows of `bytes` in total take than single requests, in nanoseconds;
  /// negative if packing is faster.
  [[nodiscard]] double packing_loss(std::size_t bytes, std::size_t rows) const noexcept;

  /// Cost of registering `bytes` of memory in `pieces` pieces, in nanoseconds.
  [[nodiscard]] double registration_cost(std::size_t bytes, std::size_t pieces) const noexcept;

  /// The largest gap, in bytes, between two pieces of memory that costs no more than a registration
  /// of its own.
  [[nodiscard]] std::size_t max_gap() const noexcept;

 private:
  DeviceTimes times_;
  std::size_t message_bytes_ = 8192;
};

}  // namespace tessera::rma::verbs
