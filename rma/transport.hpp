// SPDX-License-Identifier: BSD-3-Clause
//
// The contract between this library and a way of moving bytes: Transport, Segment, Endpoint.
//
// A Transport gives memory to a team (Segment) and paths to single peers (Endpoint). What it says
// in its Capabilities it must be able to do; what it doesn't say the library composes from what it
// does: strided transfers from contiguous ones, accumulate and atomics from get and put under the
// node's locks. The least that a transport must offer is allocate, and contiguous put and get
// (tests/support/toy_transport.cpp is exactly that, in under 300 lines).
//
// The rules that every implementation keeps, and that tests/contract checks on each of them:
//  1. An operation that returns ok() has called, or will call, Completion::end exactly once, from
//     any thread; one that returns an error, or throws std::bad_alloc, has not and never will.
//  2. A put or accumulate ends when its source may be reused; a get when its data is here.
//  3. After fence() all that ended before is visible to every rank that may look.
//  4. Operations that ended in some order take effect at one target in that order.
//  5. Aligned puts and gets of 1, 2, 4 and 8 bytes never tear.
//  6. No operation needs anything to be called by the target.
//  7. A lost peer is an error (peer_lost), never a hang.
//
// Threads: endpoints are used by any number of threads at a time; allocate and free by one thread
// at a time of a team, as all collectives.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rma/completion.hpp"
#include "rma/element.hpp"
#include "rma/log.hpp"
#include "rma/processors.hpp"
#include "rma/rank.hpp"
#include "rma/region_id.hpp"
#include "rma/result.hpp"
#include "rma/shape.hpp"
#include "rma/tuning.hpp"

namespace tessera::rma {

class Team;
namespace detail {
class Node;
class NodeLink;
class NodeMap;
class StripeLocks;
}  // namespace detail

/// What a transport does natively.
struct Capabilities {
  bool load_store = false;     ///< Segment::direct gives pointers to the slices of same-node ranks
  bool attach = false;         ///< can make memory remote that the user already has
  bool strided = false;        ///< put and get take any CopyShape, not only contiguous ones
  bool accumulate = false;     ///< Endpoint::accumulate, for any CopyShape
  bool atomics = false;        ///< Endpoint::fetch_add, swap and compare_swap on 32 and 64 bits
  bool strict = false;         ///< native accumulates and atomics keep Atomics::strict
  bool always_fenced = false;  ///< Endpoint::is_fenced is always true: fences pass it over
  /// Accumulates and atomics on a region over several nodes are atomic only if this transport does
  /// all of them, those between ranks of a node too.
  bool does_all_updates = false;
  bool device_atomics = false;  ///< devices of this rank and of its node's agent do 8-byte atomics
};

/// Which operations on a region are allowed while the mode holds; others are refused where they are
/// called.
enum class AccessMode : std::uint8_t {
  any,              ///< put, get, accumulate, atomics and local loads and stores
  read_only,        ///< get and local loads
  accumulate_only,  ///< accumulate
  no_local_access,  ///< everything but local loads and stores; pages lie on all NUMA nodes
};

/// Whether ranks, or threads of one, may use the same bytes at the same time, other than all of
/// them reading.
enum class Conflicts : std::uint8_t {
  possible,
  none,  ///< the program promises that: accumulates take no locks, and those that meet lose some
};

/// How accumulate and read-modify-write on one word relate.
enum class Atomics : std::uint8_t {
  separate,  ///< each atomic among its own kind only
  strict,    ///< atomic against each other too; both take the same lock
  /// As separate, but read-modify-writes are of 8 bytes only and done by the network's device at
  /// the target's node, also those of ranks of that node; its processors take no part. Where the
  /// team is on one node, a member has no such device, or the memory is sparse or attached:
  /// separate. Region::atomics() tells.
  device,
};

/// Fixed when a region is allocated, but for the access mode and the conflicts
/// (Region::set_access_mode).
struct RegionOptions {
  bool sparse = false;      ///< memory is taken when touched, not at once: for large address spaces
  bool huge_pages = false;  ///< ask the kernel for huge pages; without them it works all the same
  AccessMode access_mode = AccessMode::any;
  Conflicts conflicts = Conflicts::possible;
  Atomics atomics = Atomics::separate;
  std::string name = {};  ///< for messages and profiles; need not be the same on all ranks
  std::string_view kind = "region";  ///< what the memory is for, such as "array"; lives longer
};

/// Where the slices of same-node ranks are mapped in this process. The slice of the i-th of the
/// team's members on this node starts at base + i * stride, or at base + offsets[i] where slices
/// are too unequal for a stride. Null base: no direct access.
struct DirectMap {
  std::byte* base = nullptr;
  std::size_t stride = 0;
  std::span<const std::uint64_t> offsets = {};  ///< owned by the segment; empty: use stride
};

/// The memory that the members of a team gave in one collective allocation, seen from one rank.
class Segment {
 public:
  virtual ~Segment() = default;

  /// This rank's slice; null when it is empty.
  [[nodiscard]] virtual std::byte* local() const noexcept = 0;
  [[nodiscard]] virtual DirectMap direct() const noexcept { return {}; }

  /// Called around the owner's own loads and stores, possibly nested. Does nothing where memory is
  /// coherent.
  virtual Status begin_access() { return {}; }
  virtual Status end_access() { return {}; }

  /// Local. The region is used so from now on. Called on all members between two meetings, when no
  /// operation on the segment is under way.
  virtual void set_access(AccessMode /*mode*/, Conflicts /*conflicts*/) noexcept {}

  /// Collective. Gives the memory back; the segment is destroyed next. Called when no operation on
  /// it is under way at any rank.
  virtual Status free() = 0;

  /// Local. In place of free() where the members cannot meet any more, because one of them died or
  /// left: this rank will not touch the memory again, others may still. Gives back what can be.
  virtual void abandon() noexcept {}
};

/// A place in a segment: what a RemoteAddress becomes inside.
struct Target {
  Segment* segment = nullptr;
  TeamRank rank;             ///< whose slice
  std::uint64_t offset = 0;  ///< bytes from the slice's start
  RegionId region = {};      ///< whose memory the segment is
};

/// The place `bytes` behind `target`.
[[nodiscard]] inline Target moved(const Target& target, std::int64_t bytes) noexcept {
  Target result = target;
  result.offset += static_cast<std::uint64_t>(bytes);
  return result;
}

/// An atomic read-modify-write of one word. For 4 bytes the operands' low halves count.
struct AtomicRequest {
  enum class Kind : std::uint8_t { fetch_add, swap, compare_swap };
  Kind kind = Kind::fetch_add;
  int bytes = 8;                     ///< 4 or 8; the target is aligned to it
  std::int64_t operand = 0;          ///< added, or stored
  std::int64_t expected = 0;         ///< compare_swap: stored only if the word is this
  std::int64_t* previous = nullptr;  ///< receives the word from before, sign-extended; not null
};

/// A transport's path to one peer.
class Endpoint {
 public:
  virtual ~Endpoint() = default;

  /// Copies local bytes to the target. `shape` is checked and normalised; contiguous unless
  /// Capabilities::strided.
  virtual Status put(const Target& to, const void* from, const CopyShape& shape,
                     Completion& done) = 0;
  /// Completes a put of a few contiguous bytes before it returns, if it can: true when it has, and
  /// then no Completion is signalled.
  virtual Result<bool> put_now(const Target& /*to*/, const void* /*from*/, std::size_t /*bytes*/) {
    return false;
  }
  /// The same of a get and an accumulate.
  virtual Result<bool> get_now(void* /*to*/, const Target& /*from*/, std::size_t /*bytes*/) {
    return false;
  }
  virtual Result<bool> accumulate_now(const Target& /*to*/, const void* /*from*/,
                                      std::size_t /*bytes*/, const Scale& /*scale*/) {
    return false;
  }
  virtual Result<bool> atomic_now(const Target& /*at*/, const AtomicRequest& /*request*/) {
    return false;
  }
  /// The same of shapes that are checked and normalised, and have levels.
  virtual Result<bool> put_shape_now(const Target& /*to*/, const void* /*from*/,
                                     const CopyShape& /*shape*/) {
    return false;
  }
  virtual Result<bool> get_shape_now(void* /*to*/, const Target& /*from*/,
                                     const CopyShape& /*shape*/) {
    return false;
  }
  virtual Result<bool> accumulate_shape_now(const Target& /*to*/, const void* /*from*/,
                                            const CopyShape& /*shape*/, const Scale& /*scale*/) {
    return false;
  }
  /// Copies target bytes to local memory.
  virtual Status get(void* to, const Target& from, const CopyShape& shape, Completion& done) = 0;
  /// Adds scale × local elements to the target's, atomically for each element.
  virtual Status accumulate(const Target& to, const void* from, const CopyShape& shape,
                            const Scale& scale, Completion& done);
  virtual Status atomic(const Target& at, const AtomicRequest& request, Completion& done);
  /// An atomic of 8 bytes by the network device at the target's node, ordered behind this rank's
  /// earlier operations on that slice; it is never done in software. Returns when request.previous
  /// is set.
  virtual Status atomic_by_device(const Target& at, const AtomicRequest& request);

  /// The same for lists of fragments, whose offsets add to the target's. They are checked, and none
  /// is empty; the list itself may go when the call returns. One that is not overridden starts an
  /// operation for each fragment.
  virtual Status put_fragments(const Target& to, Fragments fragments, Completion& done);
  virtual Status get_fragments(const Target& from, Fragments fragments, Completion& done);
  virtual Status accumulate_fragments(const Target& to, Fragments fragments, const Scale& scale,
                                      Completion& done);

  /// Returns when everything that ended is visible at the peer.
  virtual Status fence() = 0;
  /// The same, started only, for those who fence several peers: `done` ends when it is. One that is
  /// not overridden returns when it is.
  virtual Status start_fence(Completion& done);
  /// True when there is nothing in `region` that a fence would wait for; any_region: nothing at
  /// all.
  [[nodiscard]] virtual bool is_fenced(RegionId /*region*/) const noexcept { return false; }
};

/// What a transport may know of the job when it is made.
struct TransportContext {
  WorldRank rank;
  std::int32_t size = 1;
  const Settings* settings = nullptr;
  detail::Node* node = nullptr;            ///< this rank's node; for transports of this library
  detail::StripeLocks* stripes = nullptr;  ///< the node's accumulate locks; likewise

  // For transports between nodes.
  std::shared_ptr<detail::Node> shared_node = nullptr;  ///< `node`, to be kept
  const detail::NodeMap* nodes = nullptr;               ///< of the whole job
  int machines = 1;                                     ///< that the job's ranks are on
  AgentProcessors agent_processors = {};                ///< whether this node's agent has its own
  bool are_connected = false;  ///< the nodes, by a transport that was named before
  bool has_memory = false;     ///< a transport that was named before gives the ranks memory
  /// The job's communicator, as MPI_Comm_c2f gives it; none unless MPI started the job.
  std::optional<int> communicator = std::nullopt;
  /// Collective over all ranks of the job: what each gave, by rank; all give as much.
  std::function<Result<std::vector<std::byte>>(std::span<const std::byte>)> exchange = {};
  /// Keeps an error for the next fence of this rank to report.
  std::function<void(Status)> defer_error = {};
  /// Writes a line to the job's log.
  std::function<void(const std::string&)> warn = {};
  Log* log = nullptr;  ///< the same log, for what is not a warning at all times
};

/// The memory of one rank in a region.
struct MemoryRequest {
  std::size_t bytes = 0;
  bool is_attached = false;
  void* attached = nullptr;  ///< memory that the user has
};

class Transport {
 public:
  virtual ~Transport() = default;

  [[nodiscard]] virtual std::string_view name() const noexcept = 0;
  [[nodiscard]] virtual const Capabilities& capabilities() const noexcept = 0;

  /// True when this transport has, or can make, a path to `peer`.
  [[nodiscard]] virtual bool reaches(WorldRank peer) const = 0;

  /// Collective on `team`. Memory of `my_bytes` at this rank; sizes may differ and may be zero. All
  /// ranks succeed or all fail; the caller has made the arguments agree.
  virtual Result<std::unique_ptr<Segment>> allocate(Team& team, std::size_t my_bytes,
                                                    const RegionOptions& options) = 0;
  /// Collective on `team`. As allocate, for memory that the user already has.
  virtual Result<std::unique_ptr<Segment>> attach(Team& team, void* memory, std::size_t my_bytes,
                                                  const RegionOptions& options);

  /// Collective on `team`. What allocate() or attach() of `memory` gives, for transports that
  /// reach another one's memory and have to know of it.
  virtual Result<std::unique_ptr<Segment>> allocate_over(Transport& memory, Team& team,
                                                         const MemoryRequest& request,
                                                         const RegionOptions& options);

  /// The path to `peer`, which this transport reaches.
  virtual Result<std::unique_ptr<Endpoint>> connect(WorldRank peer) = 0;

  /// The path for Endpoint::atomic_by_device on `peer`, which may be of this rank's own node. The
  /// transport keeps it. Errors: unsupported where no device leads there; unreachable, peer_lost.
  virtual Result<Endpoint*> atomics_by_device(WorldRank peer);

  /// Moves operations that this rank started; returns how many ended. Never blocks.
  virtual int progress() { return 0; }
  /// Sleeps until `done` has nothing under way, something has moved, or for `period`. Returns
  /// done.done(). For transports that hear of progress by a means of their own.
  virtual bool wait(Completion& done, std::chrono::nanoseconds period) {
    return done.wait_for(period);
  }
  /// Called when operations were started for which no thread waits: ensures that they progress.
  virtual void stir() {}

  /// Called once, after the last operation of this rank and before the bootstrap is left, for
  /// transports that use what the bootstrap started.
  virtual void leave() noexcept {}
  /// Called once, behind the last operation of this rank. Returns when no other rank needs this
  /// process any more.
  virtual void stop() noexcept {}

  /// How teams reach other nodes by this transport; null when it reaches none.
  virtual std::unique_ptr<detail::NodeLink> node_link();
};

/// How a job makes a transport: its name and its constructor. Adding a transport to the library is
/// a folder and an entry in the list in rma/transports.cpp; a program may add its own in
/// JobOptions. One that can't work on this machine or with this bootstrap says unsupported, on all
/// ranks of a node, and the next name of TESSERA_TRANSPORT is tried.
struct TransportFactory {
  std::string name;
  std::function<Result<std::unique_ptr<Transport>>(const TransportContext&)> create;
  /// For people: what it would use on this machine, or why it can't be used; null when there is
  /// nothing to tell.
  std::function<std::string(const Settings&)> describe = nullptr;
};

}  // namespace tessera::rma
