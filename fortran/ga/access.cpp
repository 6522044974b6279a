// SPDX-License-Identifier: BSD-3-Clause
//
// Local access: the addresses of elements of this process, or of another process on its node.
// Memory is coherent, so the release of an access does nothing.
#include <fmt/format.h>

#include "fortran/ga/cut.hpp"
#include "fortran/ga/operations.hpp"
#include "fortran/ga/session.hpp"

namespace tessera::ga {

namespace {

using arrays::Patch;

/// The extents of the memory that holds a box with these strides: those of the slowest dimension
/// don't matter.
Extents memory_extents(const Box& box, const Strides& strides) {
  Extents extents = box.extents();
  for (int dim = 1; dim < box.ndims(); ++dim) {
    extents[dim] = strides[dim - 1] / strides[dim];
  }
  return extents;
}

/// The address of an element of some rank's slice. Errors: invalid_argument if the rank is on
/// another node.
Result<void*> address_of(const Record& record, rma::TeamRank owner, std::int64_t offset) {
  const arrays::ArrayBase& array = record.array();
  TESSERA_RETURN_IF_ERROR(array.check_local_access());
  std::byte* const slice = array.region().direct(owner);
  if (slice == nullptr) {
    return Status::error(Code::invalid_argument,
                         fmt::format("the elements of {} that process {} owns are on another node",
                                     record.describe(), owner.value))
        .hint("access only what GA_Distribution names for processes of this node; get the rest");
  }
  return slice + offset * static_cast<std::int64_t>(array.element_bytes());
}

Status give(const Record& record, const Patch& patch, const PointerOut& pointer,
            const LeadOut& lead) {
  TESSERA_ASSIGN_OR_RETURN(void* const at, address_of(record, patch.owner, patch.offset));
  lead.set(memory_extents(patch.box, patch.strides));
  return pointer.set(at, record.type());
}

/// The one patch of a box. Errors: invalid_argument if the box is in several blocks.
Result<Patch> patch_of(const Record& record, const Box& box) {
  for (const Patch& patch : record.array().distribution().patches(box)) {
    if (patch.box == box) {
      return patch;
    }
    break;
  }
  return Status::error(Code::invalid_argument,
                       fmt::format("a patch of {} is in several blocks", record.describe()))
      .hint("access one block at a time: what GA_Distribution gives for one process");
}

Result<Box> box_of_block(const Record& record, std::int64_t number) {
  const std::int64_t blocks = arrays::volume(record.starts.blocks(record.ndims()));
  if (number < 0 || number >= blocks) {
    return Status::error(Code::out_of_range, fmt::format("there is no block {} of {}, which has {}",
                                                         number, record.describe(), blocks));
  }
  return block_box(record.starts, record.extents(), number);
}

/// The number of the block at these coordinates.
Result<std::int64_t> number_at_grid(const Record& record, const Index& at) {
  const Extents blocks = record.starts.blocks(record.ndims());
  std::int64_t number = 0;
  for (int dim = 0; dim < record.ndims(); ++dim) {
    if (at[dim] < 0 || at[dim] >= blocks[dim]) {
      return Status::error(
          Code::out_of_range,
          fmt::format("there is no block {} in the {} blocks of {}", arrays::to_string(at),
                      arrays::to_string(blocks), record.describe()));
    }
    number = number * blocks[dim] + at[dim];
  }
  return number;
}

}  // namespace

Status access(Record& record, const Box& box, const PointerOut& pointer, const LeadOut& lead) {
  TESSERA_ASSIGN_OR_RETURN(const Patch patch, patch_of(record, box));
  return give(record, patch, pointer, lead);
}

Status access_block(Record& record, std::int64_t number, const PointerOut& pointer,
                    const LeadOut& lead) {
  TESSERA_ASSIGN_OR_RETURN(const Box box, box_of_block(record, number));
  return access(record, box, pointer, lead);
}

Status access_block_grid(Record& record, const Index& at, const PointerOut& pointer,
                         const LeadOut& lead) {
  TESSERA_ASSIGN_OR_RETURN(const std::int64_t number, number_at_grid(record, at));
  return access_block(record, number, pointer, lead);
}

Status access_block_segment(Record& record, std::int64_t rank, const PointerOut& pointer,
                            const IntOut& length) {
  if (rank < 0 || rank >= record.group().size()) {
    return Status::error(
        Code::out_of_range,
        fmt::format("there is no process {} in the group of {}", rank, record.describe()));
  }
  const rma::TeamRank owner{static_cast<std::int32_t>(rank)};
  const std::int64_t elements = record.array().distribution().local_elements(owner);
  length.set(elements);
  if (elements == 0) {
    return {};  // a process without elements may have no mapped memory
  }
  TESSERA_ASSIGN_OR_RETURN(void* const at, address_of(record, owner, 0));
  return pointer.set(at, record.type());
}

}  // namespace tessera::ga
