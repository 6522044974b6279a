// SPDX-License-Identifier: BSD-3-Clause
//
// CostModel: which protocol is the cheapest, from what the device and this machine were measured to
// take (device_times.hpp). Where a setting names a protocol, nobody asks here.
//
// The formulas are rough on purpose: two protocols that differ by little are both good.
//
// Threads: a value that doesn't change.
#pragma once

#include <cstddef>

namespace tessera::rma::verbs {

/// In nanoseconds. The values here are those of a network adapter of 100 Gbit/s.
struct DeviceTimes {
  double request = 150;          ///< one more small write among several
  double write_wait = 1'500;     ///< a small write, until its completion is read
  double read_wait = 2'000;      ///< a small read, likewise
  double written_kib = 85;       ///< each KiB of long writes
  double read_kib = 85;          ///< of long reads
  double copied_kib = 80;        ///< of a copy in memory
  double registration = 20'000;  ///< registering and deregistering a page
  double registered_kib = 20;    ///< each KiB more
  friend bool operator==(const DeviceTimes&, const DeviceTimes&) = default;
};

class CostModel {
 public:
  CostModel() = default;
  /// `message_bytes`: of the buffers in which requests go.
  CostModel(const DeviceTimes& times, std::size_t message_bytes) noexcept
      : times_(times), message_bytes_(message_bytes) {}

  [[nodiscard]] const DeviceTimes& times() const noexcept { return times_; }

  /// Rows of this many bytes and more are better a request for the device each; shorter ones are
  /// better packed, sent and unpacked. A power of two, 64 to 32768.
  [[nodiscard]] std::size_t least_row() const noexcept;

  /// Whether a get of so many bytes had better be written by the other end (host-assisted,
  /// [ARMCI06] §5.2.3) than read by this one: the device's reads have to be weaker than its writes
  /// by more than the request costs, which wakes the agent.
  [[nodiscard]] bool is_better_assisted(std::size_t bytes) const noexcept;

  /// Whether memory that is registered for one use only had better not be: it goes through buffers
  /// then.
  [[nodiscard]] bool is_better_copied(std::size_t bytes) const noexcept;

  /// What rows of `bytes` together take longer packed than one by one, in nanoseconds; less than 0:
  /// packing is better.
  [[nodiscard]] double loss_by_packing(std::size_t bytes, std::size_t rows) const noexcept;

  /// Of `bytes` of memory in so many pieces, in nanoseconds.
  [[nodiscard]] double price_of_registering(std::size_t bytes, std::size_t pieces) const noexcept;

  /// Bytes between two pieces of memory that cost as much to register as a piece of its own does.
  [[nodiscard]] std::size_t max_gap() const noexcept;

 private:
  DeviceTimes times_;
  std::size_t message_bytes_ = 8192;
};

}  // namespace tessera::rma::verbs
