// SPDX-License-Identifier: BSD-3-Clause
//
// Record: what the layer knows of an array, before and after its allocation. Group: of a group of
// processes. Records: the table from GA's integer handles to records.
//
// Everything here is in the internal form: indices from 0, half-open boxes, the last dimension
// fastest. A Fortran array of m x n is an array of n x m here, in the same memory.
//
// A handle is -1000 + the number of its slot. The lowest free slot is used, so handles are equal on
// all processes that create and destroy the same arrays.
//
// Threads: lookups from any; creation and destruction from one at a time.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "arrays/array_base.hpp"
#include "arrays/box.hpp"
#include "arrays/index.hpp"
#include "fortran/ga/types.hpp"
#include "rma/armci/groups.hpp"
#include "rma/base/result.hpp"
#include "rma/team.hpp"

namespace tessera::ga {

using arrays::Box;
using arrays::Extents;
using arrays::Index;
using arrays::Strides;
using rma::Code;
using rma::Result;
using rma::Status;

inline constexpr int max_dims = 7;
inline constexpr std::int64_t first_handle = -1000;
/// GA keeps this many characters of a name.
inline constexpr std::size_t max_name = 30;

/// A group of processes. Its number is the same on all processes that know it.
struct Group {
  static constexpr std::int64_t world = -1;
  static constexpr std::int64_t mirror = 0;

  std::int64_t number = world;
  /// Empty on processes that are not members.
  rma::Team team = {};
  /// World ranks, in the group's order; also on processes that are not members.
  std::vector<rma::WorldRank> members = {};
  /// The rank of this process; -1 if it is not a member.
  std::int64_t rank = -1;
  /// The number of the ARMCI group with the same processes, which has the communicator.
  ARMCI_Group below = rma::armci::Groups::world;

  [[nodiscard]] std::int64_t size() const noexcept {
    return static_cast<std::int64_t>(members.size());
  }
  [[nodiscard]] bool has_me() const noexcept { return rank >= 0; }
  /// Errors: invalid_argument if this process is not a member; closed without a session.
  [[nodiscard]] Status check_member() const;
};

/// The index at which each block begins, for each dimension, as GA programs give and see them.
/// Equal entries make empty blocks. No entries: not given.
struct Starts {
  std::array<std::vector<std::int64_t>, max_dims> of;

  [[nodiscard]] bool is_given() const noexcept { return !of[0].empty(); }
  /// The number of blocks along each dimension.
  [[nodiscard]] Extents blocks(int ndims) const;
};

/// The minimum lengths of blocks that a program requests; none: GA's default cut.
struct Chunk {
  Extents lengths = {};

  [[nodiscard]] bool is_given() const noexcept { return !lengths.is_empty(); }
};

enum class ArrayLayout : std::uint8_t {
  regular,          ///< at most one block on each process, also at given starts
  block_cyclic,     ///< blocks dealt round robin
  scalapack,        ///< blocks on a cyclic grid, one local matrix
  tiled,            ///< blocks on a cyclic grid, block by block
  tiled_irregular,  ///< the same with given starts
};

/// The properties that a program has set before the array is allocated.
struct Plan {
  Type type = Type::c_double;
  Extents extents = {};  ///< empty: ga_set_data was not called
  std::string name = {};
  Group* group = nullptr;  ///< null: the default group at the time of allocation
  ArrayLayout layout = ArrayLayout::regular;
  Chunk chunk = {};
  Starts starts = {};
  Extents block = {};
  Extents grid = {};
  Extents ghosts = {};
  bool has_corners = true;                 ///< ghost updates fill the corners too
  std::vector<std::int64_t> holders = {};  ///< of a restricted array: ranks in the group
};

class Record {
 public:
  Record(std::int64_t handle, std::int64_t number) noexcept : handle_(handle), number_(number) {}
  Record(const Record&) = delete;
  Record& operator=(const Record&) = delete;

  Plan plan;
  /// Of a regular array: GA's cut, with empty blocks. Of others: one start for each block.
  Starts starts;

  [[nodiscard]] std::int64_t handle() const noexcept { return handle_; }
  /// In the order of creation, which is the same on all processes of common arrays.
  [[nodiscard]] std::int64_t number() const noexcept { return number_; }
  [[nodiscard]] bool is_allocated() const noexcept { return array_ != nullptr; }
  /// Requires: is_allocated().
  [[nodiscard]] arrays::ArrayBase& array() const noexcept { return *array_; }
  [[nodiscard]] const std::shared_ptr<arrays::ArrayBase>& shared_array() const noexcept {
    return array_;
  }
  void set_array(std::shared_ptr<arrays::ArrayBase> array) noexcept { array_ = std::move(array); }
  /// The name as a text of C that lives as long as the record.
  [[nodiscard]] char* c_name() noexcept { return plan.name.data(); }

  [[nodiscard]] Type type() const noexcept { return plan.type; }
  [[nodiscard]] const Extents& extents() const noexcept { return plan.extents; }
  [[nodiscard]] int ndims() const noexcept { return plan.extents.ndims(); }
  /// Requires: is_allocated().
  [[nodiscard]] Group& group() const noexcept { return *plan.group; }
  [[nodiscard]] Box box() const noexcept { return Box::whole(plan.extents); }
  /// "array 'A' (handle -1000)", for messages.
  [[nodiscard]] std::string describe() const;

 private:
  std::int64_t handle_;
  std::int64_t number_;
  std::shared_ptr<arrays::ArrayBase> array_;  ///< points to an Array<T> of an arithmetic type's T
};

/// An operand: a box of an array that is allocated.
struct Part {
  Record* record = nullptr;
  Box box = {};
};
inline Part part_of(Record& record) {
  return {&record, record.box()};
}
inline Part part_of(Record& record, const Box& box) {
  return {&record, box};
}

/// The process's table. It is empty without a session.
class Records {
 public:
  /// Null for an invalid handle.
  static Record* find(std::int64_t handle) noexcept {
    const auto slot = static_cast<std::uint64_t>(handle) - static_cast<std::uint64_t>(first_handle);
    return slot < count ? slots[slot] : nullptr;
  }
  static Record& add();
  static void remove(const Record& record) noexcept;
  /// In order of handles.
  static std::vector<Record*> all();
  static void clear() noexcept;

 private:
  static constinit Record** slots;
  static constinit std::uint64_t count;
};

}  // namespace tessera::ga
