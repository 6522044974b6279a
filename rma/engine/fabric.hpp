// SPDX-License-Identifier: BSD-3-Clause
//
// Fabric: what a network offers beside streams of the kernel: paths of its own between a process
// and the agent of another node, over which requests go as over any channel, and on which a process
// puts and gets without the agent.
//
// The server knows no network but TCP; rma/verbs/ implements these for RDMA devices. A conversation
// begins over TCP, in which both ends prove who they are. Then they open a path, tell each other
// its address, and go on there:
//
//     process                                        agent
//     open_path(), address()      ── request ─▶      open_path(), connect(), address()
//     connect()                   ◀─ answer ──
//     watch(the TCP connection)                      watch(the TCP connection)
//
// The TCP connection stays, silent: the kernel closes it when the process at its other end is gone,
// which a device may not notice before something is sent.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "rma/completion.hpp"
#include "rma/engine/channel.hpp"
#include "rma/rank.hpp"
#include "rma/region_id.hpp"
#include "rma/result.hpp"
#include "rma/shape.hpp"
#include "rma/transport.hpp"

namespace tessera::rma::detail {

/// Where bytes of a node's memory lie for the devices of other nodes.
struct RemoteSpan {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;  ///< that the key covers from there
  std::uint64_t key = 0;
};

/// What the ends of a path tell each other; its bytes are the network's own.
inline constexpr std::size_t path_address_bytes = 128;
using PathAddressBytes = std::array<std::byte, path_address_bytes>;

/// What an agent writes at once into the memory of who asked for it.
inline constexpr std::size_t most_pushed_bytes = std::size_t{4} << 20U;
inline constexpr std::int64_t most_pushed_runs = 8192;

/// A get that the other end carries out.
struct PushRequest {
  WorldRank rank;             ///< whose slice is read
  RegionId region;            ///< of that region
  std::uint64_t offset = 0;   ///< in the slice, where the shape's remote side begins
  CopyShape shape;            ///< its local side is the asker's memory
  std::uint64_t address = 0;  ///< there, where it begins
  std::uint32_t key = 0;      ///< of that memory
};

/// What a path needs of the conversation that goes over it.
/// Threads: all functions may be called from any thread.
class Requests {
 public:
  virtual ~Requests() = default;
  /// Asks the agent where a rank's slice lies, from `offset` on; calls `meanwhile` while the answer
  /// is on its way, and waits for it.
  /// Errors: unsupported where it is reached by requests only; closed, out_of_range, peer_lost.
  virtual Result<RemoteSpan> locate(WorldRank rank, RegionId region, std::uint64_t offset,
                                    const std::function<void()>& meanwhile) = 0;
  /// Asks the agent to write bytes of a slice into this process's memory (a host-assisted get, seed
  /// 000 §5.2.3). `done` ends when all are there; `held` is kept until then. Errors: peer_lost;
  /// nothing ends then. Requires: most_pushed_bytes and most_pushed_runs are kept.
  virtual Status ask_to_push(const PushRequest& request, Completion& done,
                             std::shared_ptr<const void> held) = 0;
  /// Whether all changes that were sent as requests are known to be in effect there.
  [[nodiscard]] virtual bool is_fenced(WorldRank rank, RegionId region) const noexcept = 0;
  /// Returns when `done` has nothing under way.
  virtual void wait(Completion& done) = 0;
  /// Gives what is under way a chance to end, asleep if it takes long.
  virtual void wait_a_little() = 0;
  /// The error that ended the conversation, if it has.
  [[nodiscard]] virtual Status loss() const = 0;
  /// The error to report for `reason`: names the node that is lost.
  [[nodiscard]] virtual Status loss_of(const Status& reason) const = 0;
};

/// One end of a connection between a process and an agent.
/// Threads: as Channel; what endpoint() returns is used by any number of threads besides.
class Path : public Channel {
 public:
  /// What the other end needs to connect.
  [[nodiscard]] virtual PathAddressBytes address() const = 0;
  /// Errors: protocol when `other` is no address; unreachable.
  virtual Status connect(const PathAddressBytes& other) = 0;
  /// For an agent: writes what `shape` takes from `from` on, in memory that was exposed, to the
  /// other end's memory from `to` on, before all that is sent next. Doesn't wait; what there is no
  /// room for goes later. Errors: unsupported where memory isn't known to the device; peer_lost.
  virtual Status push(const std::byte* from, const CopyShape& shape, const RemoteSpan& to) = 0;
  /// Returns when all that was written over it is in its place at the other end: before something
  /// is said that goes another way. Errors: peer_lost.
  virtual Status settle(Requests& requests) = 0;
  /// Takes over the stream beside it, whose end is the path's, and whose descriptor.
  virtual void watch(std::unique_ptr<Channel> beside) = 0;

  /// Operations on `peer` of the node at the other end: without the agent where that is better,
  /// else as `by_requests` does them. `requests` outlives it.
  virtual std::unique_ptr<Endpoint> endpoint(WorldRank peer, std::unique_ptr<Endpoint> by_requests,
                                             Requests& requests) = 0;
};

/// A process's, or an agent thread's, use of the network. It outlives its paths.
/// Threads: all functions may be called from any thread.
class Fabric {
 public:
  virtual ~Fabric() = default;

  /// Errors: limit_exceeded, no_memory, unreachable.
  virtual Result<std::unique_ptr<Path>> open_path() = 0;

  /// Hands out what has come to paths and operations; returns how many came. Never waits.
  virtual int progress() = 0;
  /// True while operations are under way that progress() ends.
  [[nodiscard]] virtual bool is_busy() const noexcept = 0;
  /// The descriptors of paths on which bytes or room have come since the last call.
  virtual std::vector<int> take_arrivals() = 0;
  /// From now on descriptor() becomes readable when something comes; false when that has happened
  /// already, unseen by progress().
  virtual bool arm() = 0;
  [[nodiscard]] virtual int descriptor() const noexcept = 0;

  /// To be called every few seconds: hears what happened to the device, and tidies up.
  virtual void look_after() = 0;

  /// For an agent: lets paths reach this node's memory at `from`; fewer than `bytes` it may be.
  /// Errors: unsupported where it can't be, with the reason.
  virtual Result<RemoteSpan> expose(std::byte* from, std::uint64_t bytes) = 0;
};

/// Makes the fabrics of a process.
class FabricSource {
 public:
  virtual ~FabricSource() = default;
  /// Errors: limit_exceeded, no_memory, unreachable.
  virtual Result<std::unique_ptr<Fabric>> create() = 0;
  /// Whether its paths' endpoints have atomic_by_device().
  [[nodiscard]] virtual bool has_atomics() const noexcept { return false; }
};

}  // namespace tessera::rma::detail
