// SPDX-License-Identifier: BSD-3-Clause
//
// RdmaContext: what a network offers besides TCP streams. It makes connections of its own
// (RdmaConnection) between a process and the agent of another node. Requests travel over a
// RdmaConnection as over any Channel, and a process puts and gets on it without the agent.
//
// The server itself knows only TCP; rma/transport/verbs/ implements these interfaces for RDMA
// devices. A connection begins over TCP, where both ends authenticate. Then they open a path,
// exchange its addresses, and continue there:
//
//     process                                        agent
//     open_connection(), address()      ── request ─▶      open_connection(), connect(), address()
//     connect()                   ◀── reply ──
//     watch(the TCP connection)                      watch(the TCP connection)
//
// The TCP connection stays open without traffic. The kernel closes it when the process at the other
// end is gone; a device may notice that only when it sends.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "rma/base/rank.hpp"
#include "rma/base/result.hpp"
#include "rma/region_id.hpp"
#include "rma/shape.hpp"
#include "rma/transport/channel.hpp"
#include "rma/transport/completion.hpp"
#include "rma/transport/transport.hpp"

namespace tessera::rma::detail {

/// Where bytes of a node's memory are for the devices of other nodes.
struct RemoteSpan {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;  ///< covered by the key from there on
  std::uint64_t key = 0;
};

/// What the ends of a path send each other to connect; the network defines the bytes.
inline constexpr std::size_t rdma_address_bytes = 128;
using RdmaAddressBytes = std::array<std::byte, rdma_address_bytes>;

/// The memory of this node that paths may reach. All slices that are allocated lie in it.
/// Threads: all functions may be called from any thread.
class ReachableMemory {
 public:
  virtual ~ReachableMemory() = default;
  /// Where it is mapped in this process.
  [[nodiscard]] virtual std::span<std::byte> bytes() const noexcept = 0;
  /// Commits that part and never returns its pages to the system: for devices, which refer to
  /// pages. Errors: no_memory. Requires: it begins and ends at multiples of 64 KiB.
  virtual Status keep(std::span<std::byte> part) = 0;
};

/// What a network may know of the process that uses it.
struct RdmaProviderContext {
  WorldRank rank;
  const Settings* settings = nullptr;
  std::shared_ptr<ReachableMemory> memory = nullptr;
};

/// Limits of one assisted get, which the agent writes into the requester's memory at once.
inline constexpr std::size_t max_assisted_get_bytes = std::size_t{4} << 20U;
inline constexpr std::int64_t max_assisted_get_runs = 8192;

/// A get that the agent at the other end carries out (assisted get).
struct AssistedGetRequest {
  WorldRank rank;             ///< whose slice is read
  RegionId region;            ///< of that region
  std::uint64_t offset = 0;   ///< in the slice, where the shape's remote side begins
  CopyShape shape;            ///< its local side is the requester's memory
  std::uint64_t address = 0;  ///< where it begins there
  std::uint32_t key = 0;      ///< of that memory
};

/// What a path needs from the client connection that uses it.
/// Threads: all functions may be called from any thread.
class Requests {
 public:
  virtual ~Requests() = default;
  /// Asks the agent where a rank's slice is, from `offset` on. Calls `meanwhile` while the reply is
  /// on its way, and waits for the reply.
  /// Errors: unsupported if the slice can be reached by requests only; closed, out_of_range,
  /// peer_lost.
  virtual Result<RemoteSpan> locate(WorldRank rank, RegionId region, std::uint64_t offset,
                                    const std::function<void()>& meanwhile) = 0;
  /// Asks the agent to write bytes of a slice into this process's memory (a host-assisted get,
  /// [ARMCI06] §5.2.3). `done` is complete when all have arrived; `held` is kept until then.
  /// Errors: peer_lost; then `done` does not end. Requires: max_assisted_get_bytes and
  /// max_assisted_get_runs are not exceeded.
  virtual Status request_assisted_get(const AssistedGetRequest& request, Completion& done,
                                      std::shared_ptr<const void> held) = 0;
  /// Whether all changes that were sent as requests are known to have taken effect there.
  [[nodiscard]] virtual bool is_fenced(WorldRank rank, RegionId region) const noexcept = 0;
  /// Returns when no operation of `done` is under way.
  virtual void wait(Completion& done) = 0;
  /// Lets operations that are under way advance; sleeps if they take long.
  virtual void wait_briefly() = 0;
  /// The error that ended the connection, or OK.
  [[nodiscard]] virtual Status loss() const = 0;
  /// The error to report for `reason`, which names the lost node.
  [[nodiscard]] virtual Status loss_of(const Status& reason) const = 0;
};

/// One end of an RDMA connection between a process and an agent.
/// Threads: as Channel; any number of threads may use what endpoint() returns.
class RdmaConnection : public Channel {
 public:
  /// What the other end needs to connect.
  [[nodiscard]] virtual RdmaAddressBytes address() const = 0;
  /// Errors: protocol if `other` is not an address; unreachable.
  virtual Status connect(const RdmaAddressBytes& other) = 0;
  /// Whether a message arrives after the writes that this end posted before it. If not, the caller
  /// of send() waits for the writes first, and push() is not used.
  [[nodiscard]] virtual bool has_ordered_writes() const noexcept { return true; }
  /// For an agent: writes what `shape` describes from `from` on, in exposed memory, to the other
  /// end's memory from `to` on, before all that is sent later. Doesn't wait; what the queues have
  /// no room for is written later. Errors: unsupported if the device doesn't know the memory;
  /// peer_lost.
  virtual Status push(const std::byte* from, const CopyShape& shape, const RemoteSpan& to) = 0;
  /// Returns when all that was written over the path has arrived in the other end's memory. Needed
  /// before a message about it goes another way, or without has_ordered_writes(). Errors:
  /// peer_lost.
  virtual Status wait_for_writes(Requests& requests) = 0;
  /// Takes over the TCP stream `beside`, with its descriptor. When the stream ends, the path ends.
  virtual void watch(std::unique_ptr<Channel> beside) = 0;

  /// Operations on `peer`, a rank of the node at the other end. The endpoint bypasses the agent if
  /// that is better, else it uses `by_requests`. Requires: `requests` outlives it.
  virtual std::unique_ptr<Endpoint> endpoint(WorldRank peer, std::unique_ptr<Endpoint> by_requests,
                                             Requests& requests) = 0;
};

/// The use of the network by a process or by an agent thread. It outlives its paths.
/// Threads: all functions may be called from any thread.
class RdmaContext {
 public:
  virtual ~RdmaContext() = default;

  /// Errors: limit_exceeded, no_memory, unreachable.
  virtual Result<std::unique_ptr<RdmaConnection>> open_connection() = 0;

  /// Delivers completions and messages to paths and operations; returns how many there were. Never
  /// waits.
  virtual int progress() = 0;
  /// True while operations are under way that progress() will complete.
  [[nodiscard]] virtual bool is_busy() const noexcept = 0;
  /// The descriptors of paths on which bytes or room have arrived since the last call.
  virtual std::vector<int> take_ready_descriptors() = 0;
  /// From now on descriptor() becomes readable at the next event. False if an event has already
  /// happened that progress() has not seen.
  virtual bool arm() = 0;
  /// −1: there is none, and the context advances only while it is polled. A thread that sleeps then
  /// wakes for progress() every Poller::polling_pause().
  [[nodiscard]] virtual int descriptor() const noexcept = 0;

  /// To be called every few seconds: reads the device's events and frees what is no longer needed.
  virtual void maintain() = 0;

  /// For an agent: lets paths reach this node's memory from `from` on; it may be fewer than
  /// `bytes`.
  /// Errors: unsupported if that is impossible, with the reason.
  virtual Result<RemoteSpan> expose(std::byte* from, std::uint64_t bytes) = 0;
};

/// Makes the RdmaContext objects of a process.
class RdmaProvider {
 public:
  virtual ~RdmaProvider() = default;
  /// Errors: limit_exceeded, no_memory, unreachable.
  virtual Result<std::unique_ptr<RdmaContext>> create() = 0;
  /// Whether its paths' endpoints have atomic_by_device().
  [[nodiscard]] virtual bool has_atomics() const noexcept { return false; }
};

}  // namespace tessera::rma::detail
