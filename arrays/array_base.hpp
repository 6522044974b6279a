// SPDX-License-Identifier: BSD-3-Clause
//
// ArrayBase: a distributed N-dimensional array of elements of some size. Array<T> (array.hpp) gives
// it a type; this half does the work, so that it is compiled once.
//
// Every one-sided operation is the same short walk: check the box, then for each of its patches
// turn patch and local strides into a CopyShape and hand that to rma. Nothing is allocated on the
// way, and nothing grows with the number of ranks.
//
// Invariants: 1. the region's slices are as the distribution says, in elements of element_bytes;
// 2. ghost cells belong to the slice but to no box of the distribution, so one-sided operations
// never reach them.
//
// Threads: one-sided operations from any thread; collectives by one thread at a time of a team.
// Ownership: move-only; the destructor frees, collectively. Keeps its job running.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "arrays/distribution.hpp"
#include "rma/element.hpp"
#include "rma/handle.hpp"
#include "rma/job.hpp"
#include "rma/region.hpp"

namespace tessera::arrays {

/// How an array is made; every field has a default.
struct ArrayOptions {
  std::string name = "unnamed";        ///< for messages
  std::optional<rma::Team> team = {};  ///< none: all ranks of the job
  Extents min_block = {};              ///< blocks are at least so long (GA's chunk)
  Extents process_grid = {};           ///< positive entries are fixed, the others chosen
  Extents ghosts = {};                 ///< ghost cells at both ends of each dimension
  MemoryOrder order = MemoryOrder::row_major;
  rma::RegionOptions region = {};
};

/// Local memory of a transfer: the element at the box's lower corner, and strides in elements.
struct LocalBuffer {
  void* data = nullptr;
  Strides strides;
};

class ArrayBase {
 public:
  /// Of an array that was moved from, what needs its memory is closed, and team() must not be
  /// asked.
  ArrayBase(ArrayBase&& other) noexcept;
  ArrayBase& operator=(ArrayBase&& other) noexcept;
  ~ArrayBase() = default;

  /// Collective. Gives the memory back; operations on the array must be complete. Idempotent.
  rma::Status free();
  /// Local. Errors: closed when the array was freed or moved from.
  [[nodiscard]] rma::Status check_open() const {
    return is_open() ? rma::Status() : explain_closed();
  }

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] int ndims() const noexcept { return distribution_.ndims(); }
  [[nodiscard]] const Extents& extents() const noexcept { return distribution_.extents(); }
  /// All of the array.
  [[nodiscard]] Box box() const noexcept { return Box::whole(extents()); }
  [[nodiscard]] std::size_t element_bytes() const noexcept { return element_bytes_; }
  [[nodiscard]] const Distribution& distribution() const noexcept { return distribution_; }
  [[nodiscard]] rma::Team& team() const noexcept { return region_.team(); }
  [[nodiscard]] rma::Job& job() const noexcept { return job_; }
  [[nodiscard]] rma::Region& region() noexcept { return region_; }

  /// What this rank owns, without ghost cells; empty if nothing.
  /// Requires: at most one block a rank.
  [[nodiscard]] Box own_box() const noexcept { return distribution_.box_of(team().rank()); }
  [[nodiscard]] Box box_of(rma::TeamRank rank) const noexcept { return distribution_.box_of(rank); }
  /// Requires: is_inside(index, extents()).
  [[nodiscard]] rma::TeamRank owner(const Index& index) const noexcept {
    return distribution_.owner(index);
  }

  /// One-sided. Returns when this rank's operations on this array are complete at their targets.
  rma::Status fence();
  /// Collective. fence() of all members and a barrier: everything that anybody wrote is visible to
  /// everybody. Errors: what the fence of any member found, on all of them.
  rma::Status sync() { return sync(rma::Status()); }
  /// Collective. The end of a collective operation in which this rank found `mine`: sync(), but an
  /// error of any member's own work goes before those of the fences.
  rma::Status sync(rma::Status mine);

  /// "array 'A' (float64, 100 x 100)".
  [[nodiscard]] std::string describe() const;

 protected:
  /// What is known of the elements here.
  struct ElementKind {
    std::size_t bytes = 0;
    std::string name;
  };
  ArrayBase(const rma::Job& job, std::string name, const Distribution& distribution,
            rma::Region region, ElementKind element);

  /// Collective. What Array<T>::create needs.
  struct Made {
    Distribution distribution;
    rma::Region region;
  };
  static rma::Result<Made> make(const rma::Job& job, const Extents& extents,
                                const ElementKind& element, const ArrayOptions& options);
  static rma::Result<Made> make(const rma::Job& job, const Distribution& distribution,
                                const ElementKind& element, const ArrayOptions& options);

  [[nodiscard]] rma::Status put_box(const Box& box, const LocalBuffer& from) const;
  [[nodiscard]] rma::Status get_box(const Box& box, const LocalBuffer& to) const;
  [[nodiscard]] rma::Status accumulate_box(const Box& box, const LocalBuffer& from,
                                           const rma::Scale& scale) const;
  [[nodiscard]] rma::Handle put_box_async(const Box& box, const LocalBuffer& from) const;
  [[nodiscard]] rma::Handle get_box_async(const Box& box, const LocalBuffer& to) const;
  [[nodiscard]] rma::Handle accumulate_box_async(const Box& box, const LocalBuffer& from,
                                                 const rma::Scale& scale) const;

  /// Errors: invalid_argument when `given` elements are fewer than the box has.
  [[nodiscard]] rma::Status check_room(std::string_view verb, const Box& box,
                                       std::int64_t given) const;
  /// Errors: invalid_argument when a view's extents are not the box's, or its strides others than
  /// its extents.
  [[nodiscard]] rma::Status check_view(std::string_view verb, const Box& box, const Extents& given,
                                       const Strides& strides) const;
  /// Errors: as check_inside, with what was attempted in front.
  [[nodiscard]] rma::Status check_element(std::string_view verb, const Index& index) const {
    return is_inside(index, extents()) ? rma::Status() : explain_outside(verb, index);
  }
  /// "get of [0,4) x [0,5) of array 'A' (float64, 100 x 100)".
  [[nodiscard]] std::string describe(std::string_view verb, const Box& box) const;
  [[nodiscard]] rma::RemoteAddress address(const Patch& patch) const noexcept {
    return region_.at(patch.owner, static_cast<std::uint64_t>(patch.offset) * element_bytes_);
  }
  /// Takes over a status of an operation, with what was attempted in front.
  [[nodiscard]] rma::Status explain(rma::Status status, std::string_view verb,
                                    const Box& box) const;

 private:
  friend class Halo;
  [[nodiscard]] bool is_open() const noexcept { return region_ && !is_freed_; }
  [[nodiscard]] rma::Status explain_closed() const;
  [[nodiscard]] rma::Status explain_outside(std::string_view verb, const Index& index) const;
  template <class Action>
  rma::Status for_each_patch(std::string_view verb, const Box& box, const LocalBuffer& local,
                             Action&& action) const;

  mutable rma::Job job_;
  std::string name_;
  std::string type_name_;
  Distribution distribution_;
  rma::Region region_;
  std::size_t element_bytes_ = 0;
  bool is_freed_ = false;
};

}  // namespace tessera::arrays
