// SPDX-License-Identifier: BSD-3-Clause
//
// ArrayBase: a distributed N-dimensional array of elements of a size that is known at run time.
// Array<T> (array.hpp) adds the element type; this class does the work, so that it is compiled
// once.
//
// A one-sided operation checks the selection, cuts it into patches, turns each patch and the local
// strides into a CopyShape, and passes that to rma (array_transfers.cpp). A box inside one block
// needs no cutting. With an access mode that makes copies, the copy on this node serves the
// operation, or a cache serves gets (detail/tile_cache.hpp). If several patches of a get lie on
// other nodes, all but the last are started without waiting. Time and memory do not grow with the
// number of ranks.
//
// Invariants: 1. the region's slices have the layout of the distribution, in elements of
// element_bytes; 2. ghost cells belong to the slice but to no box of the distribution, so one-sided
// operations never reach them.
//
// Threads: one-sided operations from any thread; for each team, collectives from one thread at a
// time. Ownership: move-only; the destructor frees the array, collectively. An array keeps its job
// running.
//
// A default-constructed array is empty: it has no elements, dimensions, team or job until another
// array is assigned to it. Operations on it fail with `closed`, as on an array that was moved from.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arrays/distribution.hpp"
#include "arrays/race_check.hpp"
#include "arrays/selection.hpp"
#include "arrays/view.hpp"
#include "rma/base/catch_bad_alloc.hpp"
#include "rma/element.hpp"
#include "rma/handle.hpp"
#include "rma/job.hpp"
#include "rma/region.hpp"

namespace tessera::arrays {

/// How an array is made; every field has a default.
struct ArrayOptions {
  std::string name = "unnamed";             ///< in messages
  std::optional<rma::Team> team = {};       ///< unset: all ranks of the job
  Extents min_block = {};                   ///< minimum block length in elements (GA's chunk)
  Extents process_grid = {};                ///< positive entries are fixed, the others chosen
  Extents ghosts = {};                      ///< ghost cells at both ends of each dimension
  std::vector<rma::TeamRank> holders = {};  ///< only these members hold elements; empty: all
  MemoryOrder order = MemoryOrder::row_major;
  rma::RegionOptions region = {};
};

/// Run-time description of the element type, for code that isn't templated on it.
struct ElementKind {
  std::size_t bytes = 0;
  std::string name;
  /// The kind of one of Tessera's arithmetic types.
  std::optional<rma::ElementType> type = {};  ///< unset: a type without arithmetic

  static ElementKind of(rma::ElementType type) {
    return {rma::size_of(type), std::string(rma::to_string(type)), type};
  }
  /// Elements of `bytes` bytes that are moved but not computed with.
  static ElementKind opaque(std::size_t bytes) {
    return {bytes, std::to_string(bytes) + "-byte elements", {}};
  }
  /// The kind of T: arithmetic if T is an rma::Element, else opaque.
  template <class T>
  static ElementKind of() {
    if constexpr (rma::Element<T>) {
      return of(rma::element_type<T>());
    } else {
      return opaque(sizeof(T));
    }
  }
};

/// What a one-sided transfer does with the elements.
struct Transfer {
  enum class Kind : std::uint8_t { put, get, accumulate };
  Kind kind = Kind::get;
  std::optional<rma::Scale> scale = {};  ///< for an accumulate

  static Transfer put() { return {Kind::put}; }
  static Transfer get() { return {Kind::get}; }
  static Transfer accumulate(const rma::Scale& scale) { return {Kind::accumulate, scale}; }
};

/// Optimisations that an access mode allows; see ArrayBase::set_access_mode().
struct ModeOptions {
  /// read_only: each node keeps a copy of the array, so that gets stay on the node (GA's
  /// read_only). accumulate_only: each node keeps an array of sums, which begin at zero, so that
  /// accumulates stay on the node; the sums are added to the array when the mode ends.
  bool copy_on_each_node = false;
  /// read_only: how many bytes of elements that came from other nodes this rank keeps (GA's
  /// read_cache).
  std::size_t cache_bytes = 0;
};

namespace detail {
class TileCache;
struct PatchTransfer;
}  // namespace detail

/// An array of elements of any kind; see above.
class ArrayBase {
 public:
  /// An empty array.
  ArrayBase() noexcept;

  /// Collective over the team of `options`. As Array<T>::create, for elements of any kind.
  static rma::Result<ArrayBase> create(const rma::Job& job, const Extents& extents,
                                       const ElementKind& element,
                                       const ArrayOptions& options = {});
  static rma::Result<ArrayBase> create(const rma::Job& job, const Distribution& distribution,
                                       const ElementKind& element,
                                       const ArrayOptions& options = {});
  /// Collective. As Array<T>::attach; `memory` has `bytes` bytes.
  static rma::Result<ArrayBase> attach(const rma::Job& job, const Distribution& distribution,
                                       const ElementKind& element, void* memory, std::size_t bytes,
                                       const ArrayOptions& options = {});
  /// Collective. As Array<T>::overlay.
  static rma::Result<ArrayBase> overlay(const ArrayBase& base, const Distribution& distribution,
                                        const ElementKind& element, std::string name);
  /// Collective. A new array of zeros with the same element kind, distribution and region options.
  /// Errors: as create(); closed.
  [[nodiscard]] rma::Result<ArrayBase> duplicate(std::string name) const;

  /// After a move, operations that need the memory of the source fail with `closed`, as for an
  /// empty array. Do not call team() of such an array, or job() of an empty one.
  ArrayBase(ArrayBase&& other) noexcept;
  ArrayBase& operator=(ArrayBase&& other) noexcept;
  ~ArrayBase();

  /// Collective. Makes dimension `dim` longer, for example by time steps. Existing elements keep
  /// their indices and values; new ones are zero, and so are all ghost cells until they are
  /// updated. The other dimensions stay as they are distributed. Dimension `dim` is distributed
  /// again as before: evenly if it was even, with more blocks of the same size in cyclic
  /// distributions, and else the last block becomes longer. So elements move to other ranks only if
  /// `dim` was cut. Views, Halos and other handles of the memory from before are closed, whose
  /// errors say that the array was grown. Memory given to attach() is no longer used. Errors, which
  /// leave the array as it was: invalid_argument (no such dimension, a shorter extent, an access
  /// mode other than the first), unsupported (an overlay; a dimension without blocks), no_memory,
  /// closed. Cost: memory for the old and the new array together, and a copy of all elements; so
  /// grow by many steps at a time.
  rma::Status grow(int dim, std::int64_t extent);

  /// Collective. Frees the memory. Requires: operations on the array are complete. Idempotent.
  rma::Status free();
  /// Local. Errors: closed if the array was freed, moved from or never made.
  [[nodiscard]] rma::Status check_open() const {
    return is_open() ? rma::Status() : explain_closed();
  }

  /// Local. Errors: closed; invalid_argument if the access mode forbids loads and stores.
  [[nodiscard]] rma::Status check_local_access() const {
    return (uses_ & Use::local_access) != 0 ? rma::Status() : explain_use(Use::local_access);
  }

  /// Local. Errors: closed; invalid_argument if the access mode forbids such a transfer.
  [[nodiscard]] rma::Status check_transfer(const Transfer& transfer) const {
    const Use use = use_of(transfer.kind);
    return (uses_ & use) != 0 ? rma::Status() : explain_use(use);
  }
  /// Local. The errors that a transfer of a box would find before it moves anything.
  [[nodiscard]] rma::Status check_transfer(const Box& box, const UntypedMemory& memory,
                                           const Transfer& transfer) const;
  /// Local. Errors: unsupported if each node keeps an array of sums, and the transfer combines
  /// elements by another operation.
  [[nodiscard]] rma::Status check_operation(const Transfer& transfer) const;
  /// Local. For collectives whose members read, or write, elements of any owner. Errors: closed;
  /// invalid_argument if the access mode forbids it.
  [[nodiscard]] rma::Status check_readable() const;
  [[nodiscard]] rma::Status check_writable() const;
  /// The array that serves the transfers that the access mode allows: this one, or its copy on this
  /// node.
  [[nodiscard]] const ArrayBase& server() const noexcept {
    return node_copy_ ? *node_copy_ : *this;
  }

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] int ndims() const noexcept { return distribution_.ndims(); }
  [[nodiscard]] const Extents& extents() const noexcept { return distribution_.extents(); }
  /// All indices of the array.
  [[nodiscard]] Box box() const noexcept { return Box::whole(extents()); }
  /// The size of an element in bytes.
  [[nodiscard]] std::size_t element_bytes() const noexcept { return element_.bytes; }
  /// The type of elements, if it is known.
  [[nodiscard]] const ElementKind& element() const noexcept { return element_; }
  /// The location of each element.
  [[nodiscard]] const Distribution& distribution() const noexcept { return distribution_; }
  /// The team over which the array is distributed. Requires: not an empty array.
  [[nodiscard]] rma::Team& team() const noexcept { return region_.team(); }
  /// The job of the array. Requires: not an empty array.
  [[nodiscard]] rma::Job& job() const noexcept { return *job_; }
  /// For this layer and those above: the memory of the array.
  [[nodiscard]] rma::Region& region() const noexcept { return region_; }

  /// The box that this rank owns, without ghost cells; it may be empty. Requires: at most one block
  /// on each rank.
  [[nodiscard]] Box own_box() const noexcept { return distribution_.box_of(team().rank()); }
  /// The box that a rank owns, without ghost cells. Requires: at most one block on each rank.
  [[nodiscard]] Box box_of(rma::TeamRank rank) const noexcept { return distribution_.box_of(rank); }
  /// The rank that owns the element. Requires: is_inside(index, extents()).
  [[nodiscard]] rma::TeamRank owner(const Index& index) const noexcept {
    return distribution_.owner(index);
  }

  /// Collective. Declares how the array is used until the next call. All other uses fail with
  /// invalid_argument meanwhile, and with `options` (for read_only and accumulate_only) copies
  /// serve the allowed ones. Begins with a synchronisation, so that earlier operations are complete
  /// (the access modes of [ARMCIMPI12] §VIII.A). If the same mode is set again, it ends and begins
  /// again: the sums of the copies are then added to the array. An array whose region was allocated
  /// with a mode keeps that mode. Errors: invalid_argument (options that differ among members or
  /// don't fit the mode), no_memory. Cost: copy_on_each_node takes the array's size in memory on
  /// each node, if there are several nodes. To add the copies, each node sends its copy once, in as
  /// many collective steps as there are nodes.
  rma::Status set_access_mode(rma::AccessMode mode, const ModeOptions& options = {});
  [[nodiscard]] rma::AccessMode access_mode() const noexcept { return access_mode_; }

  /// One-sided. Returns when this rank's operations on this array are complete at their owners.
  /// Errors: those of operations that this rank did not wait for; peer_lost.
  rma::Status fence() const;
  /// Collective. fence() of all members and a barrier: afterwards all members see all writes.
  /// Errors: those that the fence of any member found, on all members.
  rma::Status sync() const { return sync(rma::Status()); }
  /// Collective. Ends a collective operation in which this rank found the status `own_status`: as
  /// sync(), but an error in any member's `own_status` takes precedence over errors of fences.
  rma::Status sync(rma::Status own_status) const;
  /// Collective. The same for what body() returns; no_memory if memory runs out in it.
  template <std::invocable Body>
  rma::Status sync(Body&& body) const {
    return sync(rma::detail::catch_bad_alloc(std::forward<Body>(body)));
  }

  /// One-sided. As put, get and accumulate of Array, for callers that know only the size of
  /// elements: bindings, files, operations on whole arrays. A selection is a Box, a Section, a
  /// PeriodicBox or a FieldBox.
  template <class Selection>
  [[nodiscard]] rma::Status transfer(const Selection& where, const UntypedMemory& memory,
                                     const Transfer& transfer) const {
    switch (transfer.kind) {
      case Transfer::Kind::put:
        return transfer_as<Transfer::Kind::put>(where, memory);
      case Transfer::Kind::get:
        return transfer_as<Transfer::Kind::get>(where, memory);
      case Transfer::Kind::accumulate:
        break;
    }
    return transfer_as<Transfer::Kind::accumulate>(where, memory, *transfer.scale);
  }
  template <class Selection>
  [[nodiscard]] rma::Handle transfer_async(const Selection& where, const UntypedMemory& memory,
                                           const Transfer& transfer) const;
  [[nodiscard]] rma::Status put_box(const Box& box, const LocalBuffer& from) const {
    return transfer_as<Transfer::Kind::put>(box, from);
  }
  [[nodiscard]] rma::Status get_box(const Box& box, const LocalBuffer& to) const {
    return transfer_as<Transfer::Kind::get>(box, to);
  }
  [[nodiscard]] rma::Status accumulate_box(const Box& box, const LocalBuffer& from,
                                           const rma::Scale& scale) const {
    return transfer_as<Transfer::Kind::accumulate>(box, from, scale);
  }
  [[nodiscard]] rma::Handle put_box_async(const Box& box, const LocalBuffer& from) const {
    return transfer_async(box, from, Transfer::put());
  }
  [[nodiscard]] rma::Handle get_box_async(const Box& box, const LocalBuffer& to) const {
    return transfer_async(box, to, Transfer::get());
  }
  [[nodiscard]] rma::Handle accumulate_box_async(const Box& box, const LocalBuffer& from,
                                                 const rma::Scale& scale) const {
    return transfer_async(box, from, Transfer::accumulate(scale));
  }

  /// The label of a collective on this array: members compare it, and profiles show it. Valid as
  /// long as the array exists.
  [[nodiscard]] rma::Label label(std::string_view verb) const noexcept {
    return {.verb = verb, .kind = "array", .name = name_, .number = region_id_.value};
  }
  /// "array 'A' (float64, 100 x 100)".
  [[nodiscard]] std::string describe() const;

  /// Adds the rank to an error, as Job::name_rank() does, if the array has a job.
  [[nodiscard]] rma::Status name_rank(rma::Status status) const {
    return job_ ? job_->name_rank(std::move(status)) : status;
  }

  /// For this layer: state shared with the views of this array's memory. Null if the array is empty
  /// or was moved from.
  [[nodiscard]] const std::shared_ptr<detail::ArrayState>& state() const noexcept { return state_; }
  /// For this layer and those above: records a local access while it lasts, to one of this rank's
  /// blocks or to all.
  [[nodiscard]] detail::LocalUse begin_local_use(bool may_write,
                                                 std::optional<std::int64_t> block = {}) const {
    return {state_ ? state_->races : nullptr, may_write, block};
  }
  /// For this layer. Local. A second handle of this array. It stays usable when the array is moved,
  /// is closed when the array is freed, and frees nothing itself. Requires: the array is open.
  [[nodiscard]] ArrayBase alias() const;

 protected:
  /// transfer() of a kind that is known at compile time; an accumulate also needs its Scale.
  template <Transfer::Kind kind, class Selection, class... Scale>
  [[nodiscard]] rma::Status transfer_as(const Selection& where, const UntypedMemory& memory,
                                        const Scale&... scale) const {
    if constexpr (std::same_as<Selection, Box>) {
      return memory.strides == nullptr
                 ? transfer_box<kind>(where, ContiguousMemory{memory.data, memory.room}, scale...)
                 : transfer_box<kind>(where, memory, scale...);
    } else {
      return transfer_async(where, memory, Transfer{kind, scale...}).wait();
    }
  }
  /// The same for a box. Local is ContiguousMemory or UntypedMemory with strides.
  template <Transfer::Kind kind, class Local, class... Scale>
  [[nodiscard]] rma::Status transfer_box(const Box& box, Local memory, const Scale&... scale) const;
  /// Local. The number of elements of a selection, for a get. Errors: the selection isn't inside
  /// the array.
  template <class Selection>
  [[nodiscard]] rma::Result<std::int64_t> count(const Selection& where) const;
  /// Local. The number of elements of a box that may lie outside the array. Errors:
  /// invalid_argument (it doesn't fit 63 bits).
  [[nodiscard]] rma::Result<std::int64_t> count_anywhere(const Box& box) const;
  /// Errors: as check_inside(), with the attempted operation in front.
  [[nodiscard]] rma::Status check_element(std::string_view verb, const Index& index) const {
    return is_inside(index, extents()) ? rma::Status() : explain_outside(verb, index);
  }
  /// The address of an element for an atomic operation. Errors: as check_element(); closed;
  /// invalid_argument if the access mode forbids puts.
  [[nodiscard]] rma::Result<rma::RemoteAddress> atomic_address(std::string_view verb,
                                                               const Index& index) const;

 private:
  /// A set of operations: those that the access mode allows, none if the array is closed. The
  /// direct_ ones are operations that the array itself serves, not a copy on the node, and that no
  /// race check logs.
  enum Use : std::uint8_t {
    put = 1,
    get = 2,
    accumulate = 4,
    local_access = 8,
    direct_get = 16,
    direct_accumulate = 32,
    direct_put = 64,
  };
  /// The memory that an array is made in.
  struct Memory;

  ArrayBase(const rma::Job& job, std::shared_ptr<detail::ArrayState> state,
            const Distribution& distribution, rma::Region region, ElementKind element);
  static rma::Result<ArrayBase> make(const rma::Job& job, const Distribution& distribution,
                                     const ElementKind& element, const ArrayOptions& options,
                                     const Memory& memory);
  [[nodiscard]] std::uint8_t uses_of(rma::AccessMode mode) const noexcept;
  static std::string_view to_string(Use use) noexcept;

  [[nodiscard]] bool is_open() const noexcept {
    return region_ && !is_freed_ && !state_->is_freed.load(std::memory_order_relaxed);
  }
  rma::Status end_array_state() noexcept;
  /// Logs a use for the race check, if it is on.
  template <class... What>
  void note(Use use, const What&... what) const noexcept {
    if (state_->races) [[unlikely]] {
      state_->races->note(access_kind(use), what...);
    }
  }
  static detail::AccessKind access_kind(Use use) noexcept {
    return use == Use::put   ? detail::AccessKind::put
           : use == Use::get ? detail::AccessKind::get
                             : detail::AccessKind::accumulate;
  }
  /// "freed", "moved from" or "never made", for an array that is not open; below, the error that
  /// says so.
  [[nodiscard]] std::string_view closed_reason() const noexcept;
  [[nodiscard]] rma::Status closed(std::string array) const;
  [[nodiscard]] rma::Status explain_closed() const;
  [[nodiscard]] rma::Status explain_use(Use use) const;
  void use_as(rma::AccessMode mode) noexcept;
  [[nodiscard]] rma::Status begin_mode(const ModeOptions& options);
  [[nodiscard]] rma::Status end_mode();
  [[nodiscard]] rma::Status explain_outside(std::string_view verb, const Index& index) const;

  static Use use_of(Transfer::Kind kind) noexcept;
  // Adds the attempted operation to an error: "get of [0,4) x [0,5) of array 'A' (float64, …)".
  template <class Selection>
  [[nodiscard]] rma::Status explain(rma::Status status, std::string_view verb,
                                    const Selection& where) const;
  template <class Selection>
  [[nodiscard]] rma::Status check(Use use, const Selection& where,
                                  const UntypedMemory& memory) const;
  template <class Selection, class Action>
  rma::Status for_each_patch(Use use, const Selection& where, const UntypedMemory& memory,
                             Action&& action) const;
  [[nodiscard]] rma::Status run(const Transfer& transfer, const detail::PatchTransfer& part) const;
  [[nodiscard]] rma::Handle start(const Transfer& transfer,
                                  const detail::PatchTransfer& part) const;
  [[nodiscard]] rma::Status transfer_patches(const Box& box, const ContiguousMemory& memory,
                                             const Transfer& transfer) const;
  [[nodiscard]] rma::Status transfer_patches(const Box& box, const UntypedMemory& memory,
                                             const Transfer& transfer) const;

  mutable std::optional<rma::Job> job_;  // unset: an empty array
  std::shared_ptr<detail::ArrayState> state_;
  std::string name_;
  ElementKind element_;
  Distribution distribution_ = Distribution::none();
  mutable rma::Region region_;
  const rma::WorldRank* members_ = nullptr;  // of the team; a copy for small transfers
  rma::RegionId region_id_ = {};
  std::unique_ptr<ArrayBase> node_copy_;      // serves the transfers that the access mode allows
  std::unique_ptr<detail::TileCache> tiles_;  // serves gets in mode read_only
  rma::AccessMode access_mode_ = rma::AccessMode::any;
  std::uint8_t uses_ = 0;
  bool is_freed_ = false;
  bool is_alias_ = false;
};

/// Local. True if each index means the same bytes in both arrays, provided that they share memory.
bool is_same_layout(const ArrayBase& one, const ArrayBase& other);

/// Local. Whether boxes of two arrays share memory, as an overlay does with its base: a write to
/// one then changes the other. Requires: the boxes are inside arrays that are open. Cost: O(1); for
/// arrays with shared memory and different layouts O(n log n) time and O(n) memory, where n is the
/// number of contiguous pieces of the boxes.
bool share_memory(const ArrayBase& one, const Box& one_box, const ArrayBase& other,
                  const Box& other_box);

}  // namespace tessera::arrays
