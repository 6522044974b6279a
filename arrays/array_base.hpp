// SPDX-License-Identifier: BSD-3-Clause
//
// ArrayBase: a distributed N-dimensional array of elements of some size. Array<T> (array.hpp) gives
// it a type; this half does the work, so that it is compiled once.
//
// A one-sided operation is a short walk: check the box, then for each of its patches turn patch and
// local strides into a CopyShape and hand that to rma. Dense boxes that lie in one block skip the
// walk, and gets of arrays with a cached mode go by their copy (detail/read_path.hpp). Of several
// patches on other nodes all but the last are started at once. Nothing grows with the number of
// ranks.
//
// Invariants: 1. the region's slices are as the distribution says, in elements of element_bytes;
// 2. ghost cells belong to the slice but to no box of the distribution, so one-sided operations
// never reach them.
//
// Threads: one-sided operations from any thread; collectives by one thread at a time of a team.
// Ownership: move-only; the destructor frees, collectively. Keeps its job running.
//
// A default-constructed array is empty: it has no elements, no dimensions, no team and no job,
// until another is assigned to it. What needs any of them is closed, as of an array that was moved
// from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arrays/distribution.hpp"
#include "arrays/periodic.hpp"
#include "arrays/race_check.hpp"
#include "arrays/section.hpp"
#include "arrays/view.hpp"
#include "rma/element.hpp"
#include "rma/handle.hpp"
#include "rma/job.hpp"
#include "rma/region.hpp"

namespace tessera::arrays {

/// How an array is made; every field has a default.
struct ArrayOptions {
  std::string name = "unnamed";             ///< for messages
  std::optional<rma::Team> team = {};       ///< none: all ranks of the job
  Extents min_block = {};                   ///< blocks are at least so long (GA's chunk)
  Extents process_grid = {};                ///< positive entries are fixed, the others chosen
  Extents ghosts = {};                      ///< ghost cells at both ends of each dimension
  std::vector<rma::TeamRank> holders = {};  ///< only these members hold elements; none: all
  MemoryOrder order = MemoryOrder::row_major;
  rma::RegionOptions region = {};
};

/// Local memory of a transfer: the element at the box's lower corner, and strides in elements.
struct LocalBuffer {
  void* data = nullptr;
  Strides strides;
};

/// Run-time description of the element type, for code that isn't templated on it.
struct ElementKind {
  std::size_t bytes = 0;
  std::string name;
  std::optional<rma::ElementType> type = {};  ///< none: not a type that can be computed with

  static ElementKind of(rma::ElementType type) {
    return {rma::size_of(type), std::string(rma::to_string(type)), type};
  }
  /// Elements that are only moved.
  static ElementKind opaque(std::size_t bytes) {
    return {bytes, std::to_string(bytes) + "-byte elements", {}};
  }
  template <class T>
  static ElementKind of() {
    if constexpr (rma::Element<T>) {
      return of(rma::element_type<T>());
    } else {
      return opaque(sizeof(T));
    }
  }
};

/// What a one-sided transfer does with the elements that it names.
struct Transfer {
  enum class Kind : std::uint8_t { put, get, accumulate };
  Kind kind = Kind::get;
  std::optional<rma::Scale> scale = {};  ///< of an accumulate

  static Transfer put() { return {Kind::put}; }
  static Transfer get() { return {Kind::get}; }
  static Transfer accumulate(const rma::Scale& scale) { return {Kind::accumulate, scale}; }
};

/// What an access mode makes possible; see ArrayBase::set_access_mode().
struct ModeOptions {
  /// read_only: a copy of the array on each node, so that gets stay on the node (GA's read_only).
  /// accumulate_only: a copy of zeros on each node, so that accumulates stay on the node; what was
  /// added there is added to the array when the mode ends.
  bool copy_on_each_node = false;
  /// read_only: so much of what this rank got from other nodes is kept (GA's read_cache).
  std::size_t cache_bytes = 0;
};

namespace detail {
class ReadPath;
}

class ArrayBase {
 public:
  /// One member of elements that are structures: its place in them, and its size.
  using Field = detail::Field;

  /// An empty one.
  ArrayBase() noexcept;

  /// Collective over the team of `options`. As Array<T>::create, for elements of any kind.
  static rma::Result<ArrayBase> create(const rma::Job& job, const Extents& extents,
                                       const ElementKind& element,
                                       const ArrayOptions& options = {});
  static rma::Result<ArrayBase> create(const rma::Job& job, const Distribution& distribution,
                                       const ElementKind& element,
                                       const ArrayOptions& options = {});
  /// Collective. As Array<T>::attach.
  static rma::Result<ArrayBase> attach(const rma::Job& job, const Distribution& distribution,
                                       const ElementKind& element, void* memory, std::size_t bytes,
                                       const ArrayOptions& options = {});
  /// Collective. As Array<T>::overlay.
  static rma::Result<ArrayBase> overlay(const ArrayBase& base, const Distribution& distribution,
                                        const ElementKind& element, std::string name);
  /// Collective. A new array of zeros with the same element kind, distribution and region options.
  [[nodiscard]] rma::Result<ArrayBase> duplicate(std::string name) const;

  /// Of an array that was moved from, or is empty, what needs its memory is closed, and team() must
  /// not be asked; nor must job() of an empty one.
  ArrayBase(ArrayBase&& other) noexcept;
  ArrayBase& operator=(ArrayBase&& other) noexcept;
  ~ArrayBase();

  /// Collective. Gives the memory back; operations on the array must be complete. Idempotent.
  rma::Status free();
  /// Local. Errors: closed when the array was freed or moved from.
  [[nodiscard]] rma::Status check_open() const {
    return is_open() ? rma::Status() : explain_closed();
  }

  /// Local. Errors: closed; invalid_argument when the access mode forbids loads and stores.
  [[nodiscard]] rma::Status check_local_access() const {
    return (uses_ & Use::local_access) != 0 ? rma::Status() : explain_use(Use::local_access);
  }

  /// Local. Errors: closed; invalid_argument when the access mode forbids such a transfer.
  [[nodiscard]] rma::Status check_transfer(const Transfer& transfer) const {
    return (uses_ & use_of(transfer)) != 0 ? rma::Status() : explain_use(use_of(transfer));
  }
  /// Local. What collectives ask of an array of which members read, or write, elements wherever
  /// they lie. Errors: closed; invalid_argument when the access mode forbids it.
  [[nodiscard]] rma::Status check_readable() const;
  [[nodiscard]] rma::Status check_writable() const;
  /// This array, or the copy of it on this node that serves such transfers.
  [[nodiscard]] const ArrayBase& where_to(Transfer::Kind kind) const noexcept;

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] int ndims() const noexcept { return distribution_.ndims(); }
  [[nodiscard]] const Extents& extents() const noexcept { return distribution_.extents(); }
  /// All of the array.
  [[nodiscard]] Box box() const noexcept { return Box::whole(extents()); }
  [[nodiscard]] std::size_t element_bytes() const noexcept { return element_.bytes; }
  [[nodiscard]] const ElementKind& element() const noexcept { return element_; }
  [[nodiscard]] const Distribution& distribution() const noexcept { return distribution_; }
  [[nodiscard]] rma::Team& team() const noexcept { return region_.team(); }
  [[nodiscard]] rma::Job& job() const noexcept { return *job_; }
  [[nodiscard]] rma::Region& region() const noexcept { return region_; }

  /// What this rank owns, without ghost cells; empty if nothing.
  /// Requires: at most one block a rank.
  [[nodiscard]] Box own_box() const noexcept { return distribution_.box_of(team().rank()); }
  [[nodiscard]] Box box_of(rma::TeamRank rank) const noexcept { return distribution_.box_of(rank); }
  /// Requires: is_inside(index, extents()).
  [[nodiscard]] rma::TeamRank owner(const Index& index) const noexcept {
    return distribution_.owner(index);
  }

  /// Collective. Tells what the array will be used for until the next such call: everybody's other
  /// uses are refused with invalid_argument, and copies may serve those that are left (`options`,
  /// for read_only and accumulate_only). It begins with a synchronisation, so that all uses before
  /// are complete (the access modes of [ARMCIMPI12] §VIII.A). An array whose region was allocated
  /// with a mode keeps that one; given again, it begins anew, which adds what the copies have.
  /// Errors: invalid_argument (options that differ among members or don't fit the mode), no_memory.
  /// Cost: copy_on_each_node takes the array's size on each node if there are several; to add those
  /// up, each node sends its copy once, and all meet as often as there are nodes.
  rma::Status set_access_mode(rma::AccessMode mode, const ModeOptions& options = {});
  [[nodiscard]] rma::AccessMode access_mode() const noexcept { return access_mode_; }

  /// One-sided. Returns when this rank's operations on this array are complete at their targets.
  rma::Status fence() const;
  /// Collective. fence() of all members and a barrier: everything that anybody wrote is visible to
  /// everybody. Errors: what the fence of any member found, on all of them.
  rma::Status sync() const { return sync(rma::Status()); }
  /// Collective. The end of a collective operation in which this rank found `mine`: sync(), but an
  /// error of any member's own work goes before those of the fences.
  rma::Status sync(rma::Status mine) const;

  /// One-sided. As Array's put, get and accumulate, for those who know the elements only by their
  /// size: bindings, files, operations on whole arrays.
  [[nodiscard]] rma::Status put_box(const Box& box, const LocalBuffer& from) const;
  [[nodiscard]] rma::Status get_box(const Box& box, const LocalBuffer& to) const;
  [[nodiscard]] rma::Status accumulate_box(const Box& box, const LocalBuffer& from,
                                           const rma::Scale& scale) const;
  [[nodiscard]] rma::Handle put_box_async(const Box& box, const LocalBuffer& from) const;
  [[nodiscard]] rma::Handle get_box_async(const Box& box, const LocalBuffer& to) const;
  [[nodiscard]] rma::Handle accumulate_box_async(const Box& box, const LocalBuffer& from,
                                                 const rma::Scale& scale) const;

  /// The same for local memory of `room` elements that has the box's without gaps, row by row.
  /// Errors: also invalid_argument when there is too little room.
  [[nodiscard]] rma::Status put_dense(const Box& box, const void* from, std::int64_t room) const;
  [[nodiscard]] rma::Status get_dense(const Box& box, void* to, std::int64_t room) const;
  [[nodiscard]] rma::Status accumulate_dense(const Box& box, const void* from, std::int64_t room,
                                             const rma::Scale& scale) const;

  /// One-sided. The elements of a section; of a box that reaches over the ends of periodic
  /// dimensions; and one field of each element of a box, which local memory holds packed, so that
  /// its strides count fields. Complete: as put, get and accumulate.
  [[nodiscard]] rma::Handle transfer_async(const Section& section, const LocalBuffer& local,
                                           const Transfer& transfer) const;
  [[nodiscard]] rma::Handle transfer_async(const Box& box, PeriodicDims periodic,
                                           const LocalBuffer& local,
                                           const Transfer& transfer) const;
  [[nodiscard]] rma::Handle transfer_async(const Box& box, const Field& field,
                                           const LocalBuffer& local,
                                           const Transfer& transfer) const;

  /// Local. Errors: invalid_argument when `given` elements are fewer than the box has.
  [[nodiscard]] rma::Status check_room(std::string_view verb, const Box& box,
                                       std::int64_t given) const;
  /// What members compare in collectives on this array, and what profiles show. Lives as long as
  /// the array.
  [[nodiscard]] rma::Label label(std::string_view verb) const noexcept {
    return {.verb = verb, .kind = "array", .name = name_, .number = region_id_.value};
  }
  /// "array 'A' (float64, 100 x 100)".
  [[nodiscard]] std::string describe() const;

  /// Job::name_rank(), if there is a job.
  [[nodiscard]] rma::Status name_rank(rma::Status status) const {
    return job_ ? job_->name_rank(std::move(status)) : status;
  }

  /// For this layer: what views of this array's memory ask. Null if it is empty or was moved from.
  [[nodiscard]] const std::shared_ptr<detail::ArrayLife>& life() const noexcept { return life_; }
  /// For this layer, and those above. What local accesses tell of themselves while they last: to
  /// one of this rank's blocks, or to all.
  [[nodiscard]] detail::LocalUse begin_local_use(bool may_write,
                                                 std::optional<std::int64_t> block = {}) const {
    return {life_ ? life_->races : nullptr, may_write, block};
  }
  /// For this layer. Local. Another name for this array, which stays usable when that one is moved,
  /// and is closed when that one is freed. It frees nothing. Requires: the array is open.
  [[nodiscard]] ArrayBase alias() const;

 protected:
  /// check_room() of a section.
  [[nodiscard]] rma::Status check_room(std::string_view verb, const Section& section,
                                       std::int64_t given) const;
  /// The same for a box that may reach outside.
  [[nodiscard]] rma::Status check_periodic_room(std::string_view verb, const Box& box,
                                                std::int64_t given) const;
  /// Errors: invalid_argument when a view's extents are not the box's, or its strides others than
  /// its extents.
  [[nodiscard]] rma::Status check_view(std::string_view verb, const Box& box, const Extents& given,
                                       const Strides& strides) const;
  [[nodiscard]] rma::Status check_view(std::string_view verb, const Section& section,
                                       const Extents& given, const Strides& strides) const;
  /// The same for a box that may reach outside.
  [[nodiscard]] rma::Status check_shape(std::string_view verb, const Box& box, const Extents& given,
                                        const Strides& strides) const;
  /// Errors: as check_inside, with what was attempted in front.
  [[nodiscard]] rma::Status check_element(std::string_view verb, const Index& index) const {
    return is_inside(index, extents()) ? rma::Status() : explain_outside(verb, index);
  }
  /// Where an element is that is to be changed in one step. Errors: as check_element; closed, and
  /// invalid_argument for a mode in which nothing is put.
  [[nodiscard]] rma::Result<rma::RemoteAddress> atomic_address(std::string_view verb,
                                                               const Index& index) const;
  /// "get of [0,4) x [0,5) of array 'A' (float64, 100 x 100)".
  [[nodiscard]] std::string describe(std::string_view verb, const Box& box) const;
  [[nodiscard]] rma::RemoteAddress address(const Patch& patch) const noexcept {
    return region_.at(patch.owner, static_cast<std::uint64_t>(patch.offset) * element_.bytes);
  }
  /// Takes over a status of an operation, with what was attempted in front.
  [[nodiscard]] rma::Status explain(rma::Status status, std::string_view verb,
                                    const Box& box) const;

  /// A handle that failed; of no job if there is none.
  [[nodiscard]] rma::Handle failed(rma::Status status) const;

 private:
  /// A set of operations: those that the access mode allows now, none when the array is closed. The
  /// direct_ ones are those that the array itself serves, rather than a copy on the node, and of
  /// which no log is kept.
  enum Use : std::uint8_t {
    put = 1,
    get = 2,
    accumulate = 4,
    local_access = 8,
    direct_get = 16,
    direct_accumulate = 32,
    direct_put = 64,
  };
  /// How the memory of an array comes about.
  struct Memory;

  ArrayBase(const rma::Job& job, std::shared_ptr<detail::ArrayLife> life,
            const Distribution& distribution, rma::Region region, ElementKind element);
  static rma::Result<ArrayBase> make(const rma::Job& job, const Distribution& distribution,
                                     const ElementKind& element, const ArrayOptions& options,
                                     const Memory& memory);
  [[nodiscard]] std::uint8_t uses_of(rma::AccessMode mode) const noexcept;
  static std::string_view to_string(Use use) noexcept;

  [[nodiscard]] bool is_open() const noexcept {
    return region_ && !is_freed_ && !life_->is_freed.load(std::memory_order_relaxed);
  }
  rma::Status end_life() noexcept;
  /// For the search for races, if there is one.
  template <class... What>
  void note(Use use, const What&... what) const noexcept {
    if (life_->races) [[unlikely]] {
      life_->races->note(touch_kind(use), what...);
    }
  }
  static detail::TouchKind touch_kind(Use use) noexcept {
    return use == Use::put   ? detail::TouchKind::put
           : use == Use::get ? detail::TouchKind::get
                             : detail::TouchKind::accumulate;
  }
  /// "freed", "moved from" or "never made", of an array that is not open; and the error that it is.
  [[nodiscard]] std::string_view why_closed() const noexcept;
  [[nodiscard]] rma::Status closed(std::string array) const;
  /// Errors: those of check_inside(); closed if there is nothing that `place` could be inside of.
  template <class Place>
  [[nodiscard]] rma::Status check_inside_of(const Place& place) const {
    return job_ ? check_inside(place, extents()) : explain_closed();
  }
  [[nodiscard]] rma::Status explain_closed() const;
  [[nodiscard]] rma::Status check_use(Use use, const Box& box, const LocalBuffer& local) const;
  [[nodiscard]] rma::Status explain_use(Use use) const;
  void use_as(rma::AccessMode mode) noexcept;
  [[nodiscard]] rma::Status begin_mode(const ModeOptions& options);
  [[nodiscard]] rma::Status end_mode();
  [[nodiscard]] rma::Handle start(const Transfer& transfer, const rma::RemoteAddress& at,
                                  std::byte* local, const rma::CopyShape& shape) const;
  [[nodiscard]] rma::Handle finish(rma::Handle started, rma::Status status) const;
  static Use use_of(const Transfer& transfer) noexcept;
  [[nodiscard]] rma::Status explain_outside(std::string_view verb, const Index& index) const;
  template <class LocalStride, class Action>
  bool try_single_block(Use use, const Box& box, void* local, std::int64_t room,
                        LocalStride local_stride, Action&& action, rma::Status& status) const;
  template <class Action>
  rma::Status for_each_patch(Use use, const Box& box, const LocalBuffer& local,
                             Action&& action) const;

  mutable std::optional<rma::Job> job_;  // none: empty
  std::shared_ptr<detail::ArrayLife> life_;
  std::string name_;
  ElementKind element_;
  Distribution distribution_ = Distribution::none();
  mutable rma::Region region_;
  const rma::WorldRank* members_ = nullptr;  // of the team, beside the region for small transfers
  rma::RegionId region_id_ = {};
  std::unique_ptr<detail::ReadPath> reading_;
  std::unique_ptr<ArrayBase> adding_;  // this node's sums, until the mode ends
  rma::AccessMode access_mode_ = rma::AccessMode::any;
  std::uint8_t uses_ = 0;
  bool is_freed_ = false;
  bool is_alias_ = false;
};

}  // namespace tessera::arrays
