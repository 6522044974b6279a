// SPDX-License-Identifier: BSD-3-Clause
//
// ArrayBase's transfers other than boxes: sections, boxes past periodic ends, fields.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "arrays/array_base.hpp"
#include "rma/transfer.hpp"

namespace tessera::arrays {

using rma::Code;
using rma::Handle;
using rma::Status;

namespace {

// The part of a patch that belongs to a section.
struct SectionPart {
  Index first;      // the first element, by global indices
  Extents extents;  // how many along each dimension
  Strides strides;  // in the owner's slice
  bool is_empty = false;
};

// A step beyond the box selects its first element only, as a step of the box's length does.
std::int64_t step_along(const Section& section, int dim) {
  return std::clamp<std::int64_t>(section.steps()[dim], 1,
                                  std::max<std::int64_t>(section.box().extent(dim), 1));
}

SectionPart cut(const Patch& patch, const Section& section) {
  SectionPart part{patch.box.lo(), patch.box.extents(), patch.strides};
  for (int dim = 0; dim < section.ndims(); ++dim) {
    const std::int64_t step = step_along(section, dim);
    const std::int64_t beyond = patch.box.lo(dim) - section.box().lo(dim);
    part.first[dim] = section.box().lo(dim) + (beyond + step - 1) / step * step;
    const std::int64_t length = patch.box.hi(dim) - part.first[dim];
    part.is_empty = part.is_empty || length <= 0;
    part.extents[dim] = length <= 0 ? 0 : (length - 1) / step + 1;
    part.strides[dim] *= step;
  }
  return part;
}

// The offset of the part's first element in local memory that holds the section packed.
std::int64_t local_part_offset(const SectionPart& part, const Section& section,
                               const Strides& local) {
  std::int64_t place = 0;
  for (int dim = 0; dim < section.ndims(); ++dim) {
    place += (part.first[dim] - section.box().lo(dim)) / step_along(section, dim) * local[dim];
  }
  return place;
}

}  // namespace

ArrayBase::Use ArrayBase::use_of(const Transfer& transfer) noexcept {
  return transfer.kind == Transfer::Kind::put   ? Use::put
         : transfer.kind == Transfer::Kind::get ? Use::get
                                                : Use::accumulate;
}

Handle ArrayBase::start(const Transfer& transfer, const rma::RemoteAddress& at, std::byte* local,
                        const rma::CopyShape& shape) const {
  switch (transfer.kind) {
    case Transfer::Kind::put:
      return rma::put_async(*job_, at, local, shape);
    case Transfer::Kind::get:
      return rma::get_async(*job_, at, local, shape);
    case Transfer::Kind::accumulate:
      break;
  }
  return rma::accumulate_async(*job_, at, local, shape, *transfer.scale);
}

Handle ArrayBase::transfer_async(const Section& section, const LocalBuffer& local,
                                 const Transfer& transfer) const {
  const Use use = use_of(transfer);
  Status wrong = check_inside_of(section);
  if (wrong.ok()) {
    wrong = check_use(use, Box::whole(section.extents()), local);
  }
  if (!wrong.ok()) {
    return failed(std::move(wrong).context(
        fmt::format("{} of {} of {}", to_string(use), arrays::to_string(section), describe())));
  }
  if (const ArrayBase& copy = where_to(transfer.kind); &copy != this) {
    return copy.transfer_async(section, local, transfer);
  }
  note(use, section);
  const auto bytes = static_cast<std::int64_t>(element_.bytes);
  Handle all;
  for (const Patch& patch : distribution_.patches(section.box(), team().rank().value)) {
    const SectionPart part = cut(patch, section);
    if (!part.is_empty) {
      const std::int64_t offset =
          patch.offset + distance(patch.box.lo(), part.first, patch.strides);
      all.collect(start(
          transfer, region_.at(patch.owner, static_cast<std::uint64_t>(offset * bytes)),
          static_cast<std::byte*>(local.data) +
              local_part_offset(part, section, local.strides) * bytes,
          copy_shape(part.extents, patch.order, local.strides, part.strides, element_.bytes)));
    }
  }
  return all;
}

Handle ArrayBase::transfer_async(const Box& box, PeriodicDims periodic, const LocalBuffer& local,
                                 const Transfer& transfer) const {
  const Use use = use_of(transfer);
  auto pieces = PeriodicPieces::split(box, extents(), periodic);
  const Status usable = pieces.ok() ? check_use(use, box, local) : Status();
  if (!pieces.ok() || !usable.ok()) {
    Status wrong = pieces.ok() ? usable : job_ ? std::move(pieces).status() : explain_closed();
    return failed(explain(std::move(wrong), to_string(use), box));
  }
  Handle all;
  for (const PeriodicPiece& piece : *pieces) {
    const Box there = piece.inside.shifted(piece.shift);
    const LocalBuffer part{
        static_cast<std::byte*>(local.data) + distance(box.lo(), there.lo(), local.strides) *
                                                  static_cast<std::int64_t>(element_.bytes),
        local.strides};
    switch (transfer.kind) {
      case Transfer::Kind::put:
        all.collect(put_box_async(piece.inside, part));
        break;
      case Transfer::Kind::get:
        all.collect(get_box_async(piece.inside, part));
        break;
      case Transfer::Kind::accumulate:
        all.collect(accumulate_box_async(piece.inside, part, *transfer.scale));
        break;
    }
  }
  return all;
}

Handle ArrayBase::transfer_async(const Box& box, const Field& field, const LocalBuffer& local,
                                 const Transfer& transfer) const {
  const Use use = use_of(transfer);
  Status wrong = check_inside_of(box);
  if (wrong.ok()) {
    wrong = check_use(use, box, local);
  }
  if (wrong.ok() && (field.bytes == 0 || field.bytes > element_.bytes ||
                     field.offset > element_.bytes - field.bytes)) {
    wrong = Status::error(Code::out_of_range,
                          fmt::format("a field of {} bytes at byte {} does not lie in an element "
                                      "of {} bytes",
                                      field.bytes, field.offset, element_.bytes));
  }
  if (!wrong.ok()) {
    return failed(explain(std::move(wrong), to_string(use), box));
  }
  if (const ArrayBase& copy = where_to(transfer.kind); &copy != this) {
    return copy.transfer_async(box, field, local, transfer);
  }
  note(use, box, field);
  Handle all;
  for (const Patch& patch : distribution_.patches(box, team().rank().value)) {
    const std::int64_t place = distance(box.lo(), patch.box.lo(), local.strides);
    all.collect(
        start(transfer, address(patch) + field.offset,
              static_cast<std::byte*>(local.data) + place * static_cast<std::int64_t>(field.bytes),
              field_shape(patch.box.extents(), patch.order, local.strides, field, patch.strides,
                          element_.bytes)));
  }
  return all;
}

}  // namespace tessera::arrays
