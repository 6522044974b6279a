// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/c/mirrored.h"

#include <optional>

#include "fortran/detail/cells.hpp"
#include "fortran/detail/collective.hpp"
#include "fortran/detail/descriptors.hpp"
#include "fortran/detail/fortran_operands.hpp"
#include "fortran/detail/mirrored.hpp"

namespace tessera::fapi {
namespace {

using arrays::ArrayBase;
using rma::Code;
using rma::Result;
using rma::Status;

const ArrayBase& copy_here(const tessera_mirrored* mirrored) {
  return capi::array_of(capi::contents_of(mirrored).here);
}

/// The box of the copies; empty if all of them is meant.
Result<std::optional<Bounds>> box_of(const ArrayBase& copy, const Descriptor* lo,
                                     const Descriptor* hi) {
  if (lo == nullptr && hi == nullptr) {
    return std::optional<Bounds>();
  }
  if (lo == nullptr || hi == nullptr) {
    return Status::error(Code::invalid_argument, "lo and hi must be given together");
  }
  TESSERA_ASSIGN_OR_RETURN(const Bounds box, bounds_of(copy, lo, hi));
  return std::optional<Bounds>(box);
}

/// The copies' box and a part of another array, for the C interface.
struct BoxCopy {
  tessera_mirrored* mirrored = nullptr;
  tessera_array* other = nullptr;
  std::optional<Bounds> box = {};
  Bounds other_box = {};
};

Status look(const Operand& other, const Descriptor* lo, const Descriptor* hi, BoxCopy& move) {
  const ArrayBase& copy = copy_here(move.mirrored);
  auto box = box_of(copy, lo, hi);
  TESSERA_RETURN_IF_ERROR(Status(box.status()).context("part of " + describe(copy)));
  move.box = *box;
  TESSERA_ASSIGN_OR_RETURN(move.other, open<tessera_array>(other.cell));
  const ArrayBase& array = capi::array_of(move.other);
  auto other_box = bounds_of(array, other);
  TESSERA_RETURN_IF_ERROR(Status(other_box.status()).context("part of " + describe(array)));
  move.other_box = *other_box;
  return {};
}

}  // namespace

extern "C" {

/// A variable for this node's copy, which continues to belong to the mirrored array.
int tessera_f_mirrored_here(const Cell* cell, Cell** place) {
  const char* const name = "tessera_mirrored%here";
  tessera_mirrored* mirrored = nullptr;
  const auto prepare = [&]() -> Status {
    TESSERA_RETURN_IF_ERROR(check_empty(place));
    TESSERA_ASSIGN_OR_RETURN(mirrored, open<tessera_mirrored>(cell));
    return {};
  };
  return run(name, prepare, [&] {
    return store_handle(name, place,
                        {.kind = HandleKind::array,
                         .handle = capi::contents_of(mirrored).here,
                         .free = keep_handle},
                        cell);
  });
}

/// `lo` and `hi`, of the copies, may both be null.
int tessera_f_mirrored_move(const Cell* cell, int is_load, const Operand* other,
                            const Descriptor* lo, const Descriptor* hi) {
  BoxCopy move;
  const auto prepare = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(move.mirrored, open<tessera_mirrored>(cell));
    return capi::report_to_team(capi::contents_of(move.mirrored).team, look(*other, lo, hi, move));
  };
  return run(is_load != 0 ? "tessera_mirrored%load" : "tessera_mirrored%merge_into", prepare, [&] {
    const std::int64_t* const from = move.box ? move.box->lo.data() : nullptr;
    const std::int64_t* const to = move.box ? move.box->hi.data() : nullptr;
    const tessera_part part = c_part(*other, move.other, move.other_box);
    return is_load != 0 ? tessera_mirrored_load(move.mirrored, from, to, part)
                        : tessera_mirrored_merge_into(move.mirrored, from, to, part);
  });
}

}  // extern "C"

}  // namespace tessera::fapi
