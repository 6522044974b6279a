// SPDX-License-Identifier: BSD-3-Clause
//
// Ghost cells. Each process gets its ghost cells from the elements' owners; all dimensions are
// periodic. As in GA, an update of an array without ghost cells has no effect.
#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "arrays/selection.hpp"
#include "fortran/ga/nonblocking.hpp"
#include "fortran/ga/operations.hpp"
#include "rma/region.hpp"

namespace tessera::ga {

namespace {

using arrays::ArrayBase;
using arrays::Transfer;

// This process's block with its ghost cells, and its memory.
class OwnBlock {
 public:
  static Result<OwnBlock> begin(const Record& record) {
    const ArrayBase& array = record.array();
    TESSERA_RETURN_IF_ERROR(array.check_local_access());
    if (!array.distribution().is_one_block_per_rank()) {
      return Status::error(
                 Code::invalid_argument,
                 record.describe() + " has several blocks on a process, and no ghost cells")
          .hint("NGA_Access_block gives such blocks");
    }
    return OwnBlock(array);
  }

  [[nodiscard]] bool is_empty() const noexcept { return own_.is_empty(); }
  [[nodiscard]] const Box& own() const noexcept { return own_; }
  [[nodiscard]] const Box& with_ghosts() const noexcept { return with_ghosts_; }
  /// The address of an element, and the strides of the block.
  [[nodiscard]] Memory at(const Index& index) const noexcept {
    const std::int64_t elements = arrays::distance(with_ghosts_.lo(), index, strides_);
    return {slice_ + elements * static_cast<std::int64_t>(element_bytes_), strides_};
  }
  [[nodiscard]] std::size_t element_bytes() const noexcept { return element_bytes_; }

  /// A side of the block: the ghost cells before or after it along one dimension.
  [[nodiscard]] Box side(int dim, bool is_after, const Box& across) const noexcept {
    Box box = across;
    box.set(dim, is_after ? own_.hi(dim) : with_ghosts_.lo(dim),
            is_after ? with_ghosts_.hi(dim) : own_.lo(dim));
    return box;
  }

 private:
  explicit OwnBlock(const ArrayBase& array)
      : own_(array.own_box()),
        with_ghosts_(own_),
        slice_(array.region().local()),
        element_bytes_(array.element_bytes()) {
    const Extents& widths = array.distribution().ghosts();
    for (int dim = 0; dim < own_.ndims() && !own_.is_empty(); ++dim) {
      with_ghosts_.set(dim, own_.lo(dim) - widths[dim], own_.hi(dim) + widths[dim]);
    }
    strides_ = arrays::dense_strides(with_ghosts_.extents(), array.distribution().order());
  }

  Box own_;
  Box with_ghosts_;
  std::byte* slice_;
  std::size_t element_bytes_;
  Strides strides_;
};

bool has_cells(const Record& record) {
  return record.array().distribution().has_ghosts();
}

// Starts to get the ghost cells in `cells`.
rma::Handle get_cells(const Record& record, const OwnBlock& block, const Box& cells) {
  if (block.is_empty() || cells.is_empty()) {
    return {};
  }
  return record.array().transfer_async(arrays::periodic(cells), block.at(cells.lo()),
                                       Transfer::get());
}

// Starts to get all ghost cells; each dimension's sides have the corners with earlier dimensions.
Result<rma::Handle> get_all(const Record& record) {
  TESSERA_ASSIGN_OR_RETURN(const OwnBlock block, OwnBlock::begin(record));
  rma::Handle all;
  Box across = block.own();
  for (int dim = 0; dim < record.ndims(); ++dim) {
    for (const bool is_after : {false, true}) {
      all.collect(get_cells(record, block, block.side(dim, is_after, across)));
    }
    if (record.plan.has_corners) {
      across.set(dim, block.with_ghosts().lo(dim), block.with_ghosts().hi(dim));
    }
  }
  return all;
}

// Collective. Runs `start`, which starts transfers, between two synchronisations.
template <class Start>
Status between_syncs(Record& record, const Start& start) {
  TESSERA_RETURN_IF_ERROR(pgroup_sync(record.group()));
  Result<rma::Handle> started = start();
  Status own_status = started.status();
  if (started.ok()) {
    own_status = started->wait();
  }
  return record.array().sync(std::move(own_status));
}

Status give_block(const Record& record, const OwnBlock& block, const Index& first,
                  const PointerOut& pointer, const LeadOut& lead) {
  lead.set(block.with_ghosts().extents());
  return pointer.set(block.at(first).data, record.type());
}

// Row by row, from this process's memory.
void copy_cells(const OwnBlock& block, const Box& box, const Memory& to) {
  const int last = box.ndims() - 1;
  const auto bytes = static_cast<std::int64_t>(block.element_bytes());
  Extents rows = box.extents();
  rows[last] = 1;
  Index within = Index::zeros(box.ndims());
  do {
    Index from = within;
    for (int dim = 0; dim <= last; ++dim) {
      from[dim] += box.lo(dim);
    }
    const std::int64_t at = arrays::distance(Index::zeros(box.ndims()), within, to.strides);
    std::memcpy(static_cast<std::byte*>(to.data) + at * bytes, block.at(from).data,
                static_cast<std::size_t>(box.extent(last) * bytes));
  } while (arrays::advance(within, rows, arrays::MemoryOrder::row_major));
}

}  // namespace

Status access_ghosts(Record& record, const DimsOut& dims, const PointerOut& pointer,
                     const LeadOut& lead) {
  TESSERA_ASSIGN_OR_RETURN(const OwnBlock block, OwnBlock::begin(record));
  dims.set(block.with_ghosts().extents());
  return give_block(record, block, block.with_ghosts().lo(), pointer, lead);
}

// `at` counts from the first ghost cell.
Status access_ghost_element(Record& record, const PointerOut& pointer, const Index& at,
                            const LeadOut& lead) {
  TESSERA_ASSIGN_OR_RETURN(const OwnBlock block, OwnBlock::begin(record));
  const Extents extents = block.with_ghosts().extents();
  if (!arrays::is_inside(at, extents)) {
    return Status::error(
        Code::out_of_range,
        fmt::format("there is no element {} in the {} elements of this process's "
                    "block of {}, counted from its first ghost cell",
                    arrays::to_string(at), arrays::to_string(extents), record.describe()));
  }
  Index index = at;
  for (int dim = 0; dim < record.ndims(); ++dim) {
    index[dim] += block.with_ghosts().lo(dim);
  }
  return give_block(record, block, index, pointer, lead);
}

Status update_ghosts(Record& record) {
  return has_cells(record) ? between_syncs(record, [&] { return get_all(record); }) : Status();
}

Result<bool> update_ghosts_flag(Record& record) {
  TESSERA_RETURN_IF_ERROR(update_ghosts(record));
  return true;
}

Status update_ghosts_nb(Record& record, const IntOut& request) {
  if (!has_cells(record)) {
    return Requests::begin(request, {});
  }
  TESSERA_ASSIGN_OR_RETURN(rma::Handle started, get_all(record));
  return Requests::begin(request, std::move(started));
}

Result<bool> update_ghost_dir(Record& record, std::int64_t axis, std::int64_t direction,
                              bool has_corners) {
  if (axis < 0 || axis >= record.ndims() || (direction != 1 && direction != -1)) {
    return Status::error(Code::invalid_argument,
                         fmt::format("{} has {} dimensions, and directions are 1 and -1, not {}",
                                     record.describe(), record.ndims(), direction));
  }
  if (!has_cells(record)) {
    return true;
  }
  TESSERA_RETURN_IF_ERROR(between_syncs(record, [&]() -> Result<rma::Handle> {
    TESSERA_ASSIGN_OR_RETURN(const OwnBlock block, OwnBlock::begin(record));
    const Box& across = has_corners ? block.with_ghosts() : block.own();
    return get_cells(record, block, block.side(static_cast<int>(axis), direction > 0, across));
  }));
  return true;
}

// The side, edge or corner in the direction of `mask`.
Status nbget_ghost_dir(Record& record, const Index& mask, const IntOut& request) {
  TESSERA_ASSIGN_OR_RETURN(const OwnBlock block, OwnBlock::begin(record));
  Box cells = block.own();
  for (int dim = 0; dim < record.ndims(); ++dim) {
    if (mask[dim] < -1 || mask[dim] > 1) {
      return Status::error(
          Code::invalid_argument,
          fmt::format("the direction of a dimension is -1, 0 or 1, not {}", mask[dim]));
    }
    if (mask[dim] != 0) {
      cells = block.side(dim, mask[dim] > 0, cells);
    }
  }
  if (mask == Index::zeros(record.ndims())) {
    return Requests::begin(request, {});
  }
  return Requests::begin(request, get_cells(record, block, cells));
}

// From this process's block and ghost cells, if they have all of it.
Status get_ghost_block(Record& record, const Box& box, const Memory& memory) {
  if (record.array().distribution().is_one_block_per_rank()) {
    TESSERA_ASSIGN_OR_RETURN(const OwnBlock block, OwnBlock::begin(record));
    if (!block.is_empty() && block.with_ghosts().contains(box)) {
      copy_cells(block, box, memory);
      return {};
    }
  }
  return record.array().transfer(arrays::periodic(box), memory, Transfer::get());
}

}  // namespace tessera::ga
