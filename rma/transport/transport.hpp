// SPDX-License-Identifier: BSD-3-Clause
//
// The contract between this library and a means of moving bytes. A Transport has up to three
// interfaces, and the library uses each without the others:
//
//     MemoryTransport      memory   gives memory to a team (Segment)
//     DataTransport        data     gives paths to single peers (Endpoint)
//     NodeControlChannel   control  messages, locks and peer states between nodes
//
// It must implement what its Capabilities claim. The library composes the rest: strided transfers
// from contiguous ones, accumulate and atomics from get and put under the node's locks. The minimum
// is allocate, and contiguous put and get (tests/support/toy_transport.cpp is exactly that, in
// under 300 lines).
//
// Rules for every implementation, which tests/contract checks on each of them:
// 1. An operation that returns ok() has called, or will call, Completion::end exactly once, from
//   any thread. One that returns an error, or throws std::bad_alloc, has not and never will.
// 2. A put or accumulate ends when its source may be reused; a get when its data have arrived.
// 3. After fence(), all that ended before is visible to every rank that may read it.
// 4. Operations that ended in some order take effect at one target in that order.
// 5. Aligned puts and gets of 1, 2, 4 and 8 bytes never tear.
// 6. No operation requires a call by the target.
// 7. A lost peer is an error (peer_lost), never a hang.
//
// Threads: any number of threads use an endpoint at a time; one thread of a team at a time calls
// allocate and free, as for all collectives.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rma/base/log.hpp"
#include "rma/base/rank.hpp"
#include "rma/base/result.hpp"
#include "rma/element.hpp"
#include "rma/region_id.hpp"
#include "rma/shape.hpp"
#include "rma/transport/completion.hpp"
#include "rma/tuning.hpp"

namespace tessera::rma {

class Team;
namespace detail {
class NodeControlChannel;
struct NodeContext;
}  // namespace detail

/// What a transport does itself.
struct Capabilities {
  bool load_store = false;     ///< Segment::direct gives pointers to the slices of same-node ranks.
  bool attach = false;         ///< can make memory that the user already has remotely accessible.
  bool strided = false;        ///< put and get take any CopyShape, not only contiguous ones
  bool accumulate = false;     ///< Endpoint::accumulate, for any CopyShape
  bool atomics = false;        ///< Endpoint::atomic, all kinds, on 32 and 64 bits
  bool strict = false;         ///< native accumulates and atomics keep Atomics::strict
  bool always_fenced = false;  ///< Endpoint::is_fenced is always true: fences skip it
  /// Accumulates and atomics on a region over several nodes are atomic only if this transport does
  /// all of them, also those between ranks of one node.
  bool handles_all_updates = false;
  bool device_atomics = false;  ///< devices of this rank and of its node's agent do 8-byte atomics
};

/// Which operations on a region are allowed while the mode holds. Others are refused at the call.
enum class AccessMode : std::uint8_t {
  any,              ///< put, get, accumulate, atomics and local loads and stores
  read_only,        ///< get and local loads
  accumulate_only,  ///< accumulate
  no_local_access,  ///< all except local loads and stores; pages lie on all NUMA nodes
};

/// Whether ranks, or threads of one rank, may access the same bytes at the same time. Concurrent
/// reads do not count.
enum class Conflicts : std::uint8_t {
  possible,
  none,  ///< promised by the program: accumulates take no locks, and concurrent ones lose updates
};

/// How accumulate and read-modify-write on the same word relate.
enum class Atomics : std::uint8_t {
  separate,  ///< each is atomic only against operations of its own kind
  strict,    ///< atomic against each other too; both take the same lock
  /// As separate, but the network device at the target's node does the read-modify-writes, also
  /// those of ranks on that node. They have 8 bytes only, and the node's processors take no part.
  /// Becomes `separate` if the team is on one node, a member has no such device, or the memory is
  /// sparse or attached; Region::atomics() returns the mode in effect.
  device,
};

/// Fixed when a region is allocated, except the access mode and the conflicts
/// (Region::set_access_mode).
struct RegionOptions {
  bool sparse = false;      ///< memory is committed when touched, not at once: for large address
                            ///< spaces
  bool huge_pages = false;  ///< ask the kernel for huge pages; works without them too
  AccessMode access_mode = AccessMode::any;
  Conflicts conflicts = Conflicts::possible;
  Atomics atomics = Atomics::separate;
  std::string name = {};             ///< for messages and profiles; may differ among ranks
  std::string_view kind = "region";  ///< what the memory is for, such as "array"; must outlive the
                                     ///< region
};

/// Where the slices of same-node ranks are mapped in this process. The slice of the team's i-th
/// member on this node starts at base + i * stride, or at base + offsets[i] if the slices are too
/// unequal for a stride. Null base: no direct access.
struct DirectMap {
  std::byte* base = nullptr;
  std::size_t stride = 0;
  std::span<const std::uint64_t> offsets = {};  ///< owned by the segment; empty: use stride
};

/// The memory that the members of a team gave in one collective allocation, as seen from one rank.
class Segment {
 public:
  virtual ~Segment() = default;

  /// This rank's slice; null if it is empty.
  [[nodiscard]] virtual std::byte* local() const noexcept = 0;
  /// Where this process may load and store directly; none by default.
  [[nodiscard]] virtual DirectMap direct() const noexcept { return {}; }

  /// Called around the owner's own loads and stores, possibly nested. Does nothing if memory is
  /// coherent.
  virtual Status begin_access() { return {}; }
  virtual Status end_access() { return {}; }

  /// Local. Sets how the region is used from now on. Called on all members between two barriers,
  /// while no operation on the segment is in flight.
  virtual void set_access(AccessMode /*mode*/, Conflicts /*conflicts*/) noexcept {}

  /// Collective. Frees the memory; the segment is destroyed next. Called while no rank has an
  /// operation on it in flight.
  virtual Status free() = 0;

  /// Local. Called instead of free() if the members cannot synchronise any more, because one died
  /// or left. This rank will not touch the memory again, others may still. Frees what can be freed.
  virtual void abandon() noexcept {}
};

/// A location in a segment: the internal form of a RemoteAddress.
struct Target {
  Segment* segment = nullptr;
  TeamRank rank;             ///< owner of the slice
  std::uint64_t offset = 0;  ///< bytes from the slice's start
  RegionId region = {};      ///< region that the segment belongs to
};

/// The location `bytes` after `target`.
[[nodiscard]] inline Target moved(const Target& target, std::int64_t bytes) noexcept {
  Target result = target;
  result.offset += static_cast<std::uint64_t>(bytes);
  return result;
}

/// An atomic read-modify-write of one word. For 4 bytes the low halves of the operands are used.
struct AtomicRequest {
  /// The numbers are also used on the wire, so new kinds are added at the end.
  enum class Kind : std::uint8_t {
    fetch_add,
    swap,
    compare_swap,
    fetch_min,  ///< of signed numbers
    fetch_max,
    fetch_or,
    fetch_and,
    fetch_xor
  };
  static constexpr int kind_count = 8;
  Kind kind = Kind::fetch_add;
  int bytes = 8;                            ///< 4 or 8; the target is aligned to it
  std::int64_t operand = 0;                 ///< added, stored or combined
  std::int64_t expected = 0;                ///< compare_swap: stored only if the word is this
  std::int64_t* previous = nullptr;         ///< receives the word from before, sign-extended
  std::int32_t* previous_narrow = nullptr;  ///< receives a word of 4 bytes, in place of `previous`

  /// Stores the word from before. Requires: one of the two pointers is set.
  void report(std::int64_t word) const noexcept {
    if (previous_narrow != nullptr) {
      *previous_narrow = static_cast<std::int32_t>(word);
    } else {
      *previous = word;
    }
  }
};

/// Atomic read-modify-writes of one kind on words of one slice, as a list.
struct AtomicList {
  struct Item {
    std::uint64_t offset = 0;  ///< added to the target's; the sum is aligned to the word
    std::int64_t operand = 0;
    std::int64_t expected = 0;
    void* previous = nullptr;  ///< receives the word from before: `bytes` bytes, aligned to them
  };
  AtomicRequest::Kind kind = AtomicRequest::Kind::fetch_add;
  int bytes = 8;
  std::span<const Item> items = {};

  /// The request for one word.
  [[nodiscard]] AtomicRequest request(const Item& item) const noexcept {
    AtomicRequest one{
        .kind = kind, .bytes = bytes, .operand = item.operand, .expected = item.expected};
    if (bytes == sizeof(std::int32_t)) {
      one.previous_narrow = static_cast<std::int32_t*>(item.previous);
    } else {
      one.previous = static_cast<std::int64_t*>(item.previous);
    }
    return one;
  }
};

/// A transport's path to one peer.
class Endpoint {
 public:
  virtual ~Endpoint() = default;

  /// Copies local bytes to the target. `shape` is checked and normalised; it is contiguous unless
  /// Capabilities::strided.
  virtual Status put(const Target& to, const void* from, const CopyShape& shape,
                     Completion& done) = 0;
  /// Completes a put of a few contiguous bytes before it returns, if possible. Returns true if it
  /// has; then no Completion is signalled.
  virtual Result<bool> put_now(const Target& /*to*/, const void* /*from*/, std::size_t /*bytes*/) {
    return false;
  }
  /// Each completes its operation before it returns, if possible, as put_now() does.
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
  /// Each does the same for a strided operation. Requires: a checked and normalised shape that has
  /// levels.
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
  /// Adds scale × local elements to the target's elements, atomically for each element.
  virtual Status accumulate(const Target& to, const void* from, const CopyShape& shape,
                            const Scale& scale, Completion& done);
  /// Does an atomic read-modify-write; calls request.report() before `done` ends.
  virtual Status atomic(const Target& at, const AtomicRequest& request, Completion& done);
  /// Does the atomics of a list, which may be destroyed when the call returns. The default starts
  /// one operation for each word.
  virtual Status atomic_list(const Target& at, const AtomicList& list, Completion& done);
  /// An 8-byte atomic done by the network device at the target's node, ordered after this rank's
  /// earlier operations on that slice; never done in software. Returns when request.previous is
  /// set.
  virtual Status atomic_by_device(const Target& at, const AtomicRequest& request);

  /// Transfers of all fragments of a list, whose offsets add to the target's. They are checked, and
  /// none is empty. The list may be destroyed when the call returns. The default starts one
  /// operation for each fragment.
  virtual Status put_fragments(const Target& to, Fragments fragments, Completion& done);
  virtual Status get_fragments(const Target& from, Fragments fragments, Completion& done);
  virtual Status accumulate_fragments(const Target& to, Fragments fragments, const Scale& scale,
                                      Completion& done);

  /// Returns when all operations that ended are visible at the peer.
  virtual Status fence() = 0;
  /// fence() without waiting, to fence several peers at once: `done` ends when the fence has. The
  /// default fences before it returns.
  virtual Status start_fence(Completion& done);
  /// True if a fence has nothing to wait for in `region`; any_region: in any region.
  [[nodiscard]] virtual bool is_fenced(RegionId /*region*/) const noexcept { return false; }
};

/// What a transport may know of the job when it is created.
struct TransportContext {
  WorldRank rank;
  std::int32_t size = 1;
  const Settings* settings = nullptr;
  bool are_connected = false;  ///< true: an earlier transport of the list connects the nodes
  bool has_memory = false;     ///< true: an earlier transport of the list gives the ranks memory
  /// Collective over all ranks of the job. Returns the bytes of all ranks, by rank; all give the
  /// same number.
  std::function<Result<std::vector<std::byte>>(std::span<const std::byte>)> exchange = {};
  /// Keeps an error for the next fence of this rank to report.
  std::function<void(Status)> defer_error = {};
  /// Writes a line to the job's log.
  std::function<void(const std::string&)> warn = {};
  Log* log = nullptr;  ///< the same log, for messages of other levels
  /// The nodes, for transports of this library (engine/node_context.hpp).
  std::shared_ptr<const detail::NodeContext> nodes = nullptr;
};

/// One rank's memory in a region.
struct MemoryRequest {
  std::size_t bytes = 0;
  bool is_attached = false;
  void* attached = nullptr;  ///< memory that the user already has
};

/// The first interface of a transport: gives memory to teams.
class MemoryTransport {
 public:
  virtual ~MemoryTransport() = default;

  /// Collective on `team`. Allocates `my_bytes` at this rank; sizes may differ and may be zero. All
  /// ranks succeed or all fail. The caller has checked that the arguments agree.
  virtual Result<std::unique_ptr<Segment>> allocate(Team& team, std::size_t my_bytes,
                                                    const RegionOptions& options) = 0;
  /// Collective on `team`. As allocate, for memory that the user already has.
  virtual Result<std::unique_ptr<Segment>> attach(Team& team, void* memory, std::size_t my_bytes,
                                                  const RegionOptions& options);
};

/// The second interface: moves data, by an Endpoint for each peer.
class DataTransport {
 public:
  virtual ~DataTransport() = default;

  /// True if this transport has, or can make, a path to `peer`.
  [[nodiscard]] virtual bool reaches(WorldRank peer) const = 0;
  /// The path to `peer`. Requires: reaches(peer).
  virtual Result<std::unique_ptr<Endpoint>> connect(WorldRank peer) = 0;
  /// The path for Endpoint::atomic_by_device on `peer`, which may be on this rank's own node. The
  /// transport owns it.
  /// Errors: unsupported if no device reaches it; unreachable, peer_lost.
  virtual Result<Endpoint*> atomics_by_device(WorldRank peer);

  /// Collective on `team`. Returns the segment that allocate() or attach() of `memory` creates;
  /// overridden by transports that access another transport's memory and must know of it.
  virtual Result<std::unique_ptr<Segment>> allocate_over(MemoryTransport& memory, Team& team,
                                                         const MemoryRequest& request,
                                                         const RegionOptions& options);

  /// Makes progress on operations that this rank started; returns how many ended. Never blocks.
  virtual int progress() { return 0; }
  /// Sleeps until `done` has nothing in flight, some operation progressed, or `period` has passed.
  /// Returns done.done(). Overridden by transports that have their own notification of progress.
  virtual bool wait(Completion& done, std::chrono::nanoseconds period) {
    return done.wait_for(period);
  }
  /// Called after operations were started for which no thread waits: ensures that they progress.
  virtual void wake_progress() {}
};

/// A transport: up to three interfaces, and its end. The third, for control, is made by
/// control_channel(): messages, locks and the state of peers on other nodes.
class Transport {
 public:
  virtual ~Transport() = default;

  [[nodiscard]] virtual std::string_view name() const noexcept = 0;
  [[nodiscard]] virtual const Capabilities& capabilities() const noexcept = 0;

  [[nodiscard]] virtual DataTransport& data() noexcept = 0;
  /// Null: it moves data only, and the memory comes from the transport that is named before it.
  [[nodiscard]] virtual MemoryTransport* memory() noexcept { return nullptr; }
  /// Null: it connects no nodes.
  virtual std::unique_ptr<detail::NodeControlChannel> control_channel();

  /// Called once, after the last operation of this rank and before Bootstrap::leave(), for
  /// transports that use what the bootstrap started.
  virtual void leave() noexcept {}
  /// Called once, after the last operation of this rank. Returns when no other rank needs this
  /// process any more.
  virtual void stop() noexcept {}
};

/// How a job creates a transport: its name and its constructor. To add a transport to the library,
/// add a folder and an entry in the list in rma/transport/list.cpp; a program may add its own in
/// JobOptions. A transport that can't work on this machine or with this bootstrap returns
/// unsupported, on all ranks of a node. Then the job tries the next name of TESSERA_TRANSPORT.
struct TransportFactory {
  std::string name;
  std::function<Result<std::unique_ptr<Transport>>(const TransportContext&)> create;
  /// For users: what it would use on this machine, or why it can't be used; null: nothing to say.
  std::function<std::string(const Settings&)> describe = nullptr;
};

}  // namespace tessera::rma
