// SPDX-License-Identifier: BSD-3-Clause
//
// ArrayBase's transfers: selection → patches → CopyShape → rma.
#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <optional>
#include <string_view>
#include <utility>

#include "arrays/array_base.hpp"
#include "arrays/detail/local_overlap.hpp"
#include "arrays/detail/single_block.hpp"
#include "arrays/detail/tile_cache.hpp"
#include "rma/transfer.hpp"

namespace tessera::arrays {

using rma::Code;
using rma::Handle;
using rma::Result;
using rma::Status;

// A patch and its counterpart in local memory.
struct detail::PatchTransfer {
  rma::TeamRank owner;
  std::int64_t offset;  // in the owner's slice, in bytes
  std::byte* local;
  rma::CopyShape shape;  // of no bytes if the patch has no element of the selection
};

namespace {

using detail::PatchTransfer;

// Local memory of a box: the address of the element with the global index `origin`.
struct LocalBox {
  std::byte* data;
  const Index& origin;
  const Strides& strides;
};

// A step beyond the box selects its first element only, as a step of the box's length does.
std::int64_t step_along(const Section& section, int dim) {
  return std::clamp<std::int64_t>(section.steps()[dim], 1,
                                  std::max<std::int64_t>(section.box().extent(dim), 1));
}

PatchTransfer transfer_of(const Section& section, const Patch& patch, const LocalBox& local,
                          std::size_t element_bytes) {
  Extents extents = patch.box.extents();
  Strides strides = patch.strides;
  std::int64_t remote_elements = patch.offset;
  std::int64_t local_elements = 0;
  for (int dim = 0; dim < section.ndims(); ++dim) {
    const std::int64_t step = step_along(section, dim);
    const std::int64_t before = (patch.box.lo(dim) - local.origin[dim] + step - 1) / step;
    const std::int64_t first = local.origin[dim] + before * step;
    const std::int64_t length = patch.box.hi(dim) - first;
    extents[dim] = length <= 0 ? 0 : (length - 1) / step + 1;
    remote_elements += (first - patch.box.lo(dim)) * patch.strides[dim];
    local_elements += before * local.strides[dim];
    strides[dim] *= step;
  }
  const auto bytes = static_cast<std::int64_t>(element_bytes);
  return {patch.owner, remote_elements * bytes, local.data + local_elements * bytes,
          copy_shape(extents, patch.order, local.strides, strides, element_bytes)};
}

PatchTransfer transfer_of(const FieldBox& where, const Patch& patch, const LocalBox& local,
                          std::size_t element_bytes) {
  const std::int64_t before = distance(local.origin, patch.box.lo(), local.strides);
  return {patch.owner,
          patch.offset * static_cast<std::int64_t>(element_bytes) +
              static_cast<std::int64_t>(where.field.offset),
          local.data + before * static_cast<std::int64_t>(where.field.bytes),
          field_shape(patch.box.extents(), patch.order, local.strides, where.field, patch.strides,
                      element_bytes)};
}

// For a box, also a periodic one.
template <class Selection>
PatchTransfer transfer_of(const Selection& /*where*/, const Patch& patch, const LocalBox& local,
                          std::size_t element_bytes) {
  const auto bytes = static_cast<std::int64_t>(element_bytes);
  const std::int64_t before = distance(local.origin, patch.box.lo(), local.strides);
  return {patch.owner, patch.offset * bytes, local.data + before * bytes,
          copy_shape(patch, local.strides, element_bytes)};
}

const Box& box_of(const Box& box) {
  return box;
}
const Box& box_of(const Section& section) {
  return section.box();
}
const Box& box_of(const FieldBox& where) {
  return where.box;
}

// Calls `action(box, origin)` for each part of a selection inside the array: a box, and the global
// index that the first element of local memory has there.
template <class Selection, class Action>
Status for_each_piece(const Selection& where, const Extents& /*extents*/, Action&& action) {
  return action(box_of(where), box_of(where).lo());
}
template <class Action>
Status for_each_piece(const PeriodicBox& where, const Extents& extents, Action&& action) {
  TESSERA_ASSIGN_OR_RETURN(auto pieces, PeriodicPieces::split(where.box, extents, where.periodic));
  for (const PeriodicPiece& piece : pieces) {
    Index origin = where.box.lo();
    for (int dim = 0; dim < origin.ndims(); ++dim) {
      origin[dim] -= piece.shift[dim];
    }
    TESSERA_RETURN_IF_ERROR(action(piece.inside, origin));
  }
  return {};
}

template <class Selection>
Status check_selection(const Selection& where, const ArrayBase& array) {
  return check_inside(where, array.extents());
}
Status check_selection(const FieldBox& where, const ArrayBase& array) {
  TESSERA_RETURN_IF_ERROR(check_inside(where.box, array.extents()));
  const std::size_t bytes = array.element_bytes();
  const ElementField& field = where.field;
  if (field.bytes == 0 || field.bytes > bytes || field.offset > bytes - field.bytes) {
    return Status::error(Code::out_of_range,
                         fmt::format("a field of {} bytes at byte {} does not lie in an element "
                                     "of {} bytes",
                                     field.bytes, field.offset, bytes));
  }
  return {};
}

// Whether local memory has the extents of the selection: a view the same, and one stride for each
// dimension; contiguous memory room for all elements.
Status check_fits(const Extents& wanted, const UntypedMemory& memory, std::string_view noun) {
  if (memory.room < volume(wanted)) {
    return Status::error(Code::invalid_argument,
                         fmt::format("the local buffer has {} elements, but the {} has {}",
                                     memory.room, noun, volume(wanted)));
  }
  if (memory.extents == nullptr) {
    return {};
  }
  if (*memory.extents != wanted) {
    return Status::error(Code::invalid_argument,
                         fmt::format("the local view is {}, but the box is {}",
                                     to_string(*memory.extents), to_string(wanted)));
  }
  const int given = memory.strides->ndims();
  if (given != wanted.ndims()) {
    return Status::error(
        Code::invalid_argument,
        fmt::format("the view has {} stride{} for {} dimension{}", given, given == 1 ? "" : "s",
                    wanted.ndims(), wanted.ndims() == 1 ? "" : "s"));
  }
  return {};
}

// The strides of local memory, as single_block.hpp needs them.
detail::DenseRows strides_of(const ContiguousMemory& /*memory*/) {
  return {};
}
detail::GivenStrides strides_of(const UntypedMemory& memory) {
  return {*memory.strides};
}
bool find_single(const detail::DistributionData& data, const Box& box, std::size_t element_bytes,
                 const UntypedMemory& memory, detail::SingleBlock& found) {
  return memory.strides == nullptr
             ? detail::find_single_block(data, box, element_bytes, detail::DenseRows(), found)
             : detail::find_single_block(data, box, element_bytes, strides_of(memory), found);
}
// Whether find_single_block() may use local memory for a box.
bool has_extents_of(const Box& /*box*/, const ContiguousMemory& /*memory*/) {
  return true;
}
bool has_extents_of(const Box& box, const UntypedMemory& memory) {
  return memory.extents == nullptr ||
         (*memory.extents == box.extents() && memory.strides->ndims() == memory.extents->ndims());
}

template <Transfer::Kind kind, class... Scale>
Status run_single(rma::Job& job, const rma::RemoteAddress& at, void* local,
                  const rma::CopyShape& shape, const Scale&... scale) {
  if constexpr (kind == Transfer::Kind::put) {
    return rma::put(job, at, local, shape);
  } else if constexpr (kind == Transfer::Kind::get) {
    return rma::get(job, at, local, shape);
  } else {
    return rma::accumulate(job, at, local, shape, scale...);
  }
}

}  // namespace

ArrayBase::Use ArrayBase::use_of(Transfer::Kind kind) noexcept {
  return kind == Transfer::Kind::put   ? Use::put
         : kind == Transfer::Kind::get ? Use::get
                                       : Use::accumulate;
}

template <class Selection>
Status ArrayBase::explain(Status status, std::string_view verb, const Selection& where) const {
  return status.ok() ? Status()
                     : name_rank(std::move(status).context(fmt::format(
                           "{} of {} of {}", verb, arrays::to_string(where), describe())));
}

template <class Selection>
Status ArrayBase::check(Use use, const Selection& where, const UntypedMemory& memory) const {
  const auto find_error = [&]() -> Status {
    if (!job_) [[unlikely]] {
      return explain_closed();
    }
    TESSERA_RETURN_IF_ERROR(check_selection(where, *this));
    const Extents wanted = where.extents();
    TESSERA_RETURN_IF_ERROR(
        check_fits(wanted, memory, std::same_as<Selection, Section> ? "section" : "box"));
    if ((uses_ & use) == 0) [[unlikely]] {
      return explain_use(use);
    }
    if (memory.data == nullptr && volume(wanted) > 0) [[unlikely]] {
      return Status::error(Code::invalid_argument, "the local buffer is null");
    }
    // The elements that are read may overlap in memory; those that a get writes must not.
    return use == Use::get && memory.strides != nullptr
               ? detail::check_apart(wanted, *memory.strides)
               : Status();
  };
  return explain(find_error(), to_string(use), where);
}

Status ArrayBase::check_transfer(const Box& box, const UntypedMemory& memory,
                                 const Transfer& transfer) const {
  return check(use_of(transfer.kind), box, memory);
}

template <class Selection>
Result<std::int64_t> ArrayBase::count(const Selection& where) const {
  Status wrong = job_ ? check_selection(where, *this) : explain_closed();
  if (!wrong.ok()) {
    return explain(std::move(wrong), "get", where);
  }
  return volume(where.extents());
}

Result<std::int64_t> ArrayBase::count_anywhere(const Box& box) const {
  TESSERA_RETURN_IF_ERROR(explain(check_volume(box), "buffer", box));
  return box.volume();
}

// Calls `action(transfer, is_only)` for each patch, and returns the first error. Requires: check()
// found no error.
template <class Selection, class Action>
Status ArrayBase::for_each_patch(Use use, const Selection& where, const UntypedMemory& memory,
                                 Action&& action) const {
  constexpr bool is_box = std::same_as<Selection, Box> || std::same_as<Selection, PeriodicBox>;
  const Strides dense = memory.strides == nullptr ? dense_strides(where.extents()) : Strides();
  const Strides& strides = memory.strides == nullptr ? dense : *memory.strides;
  auto* const data = static_cast<std::byte*>(memory.data);
  return for_each_piece(where, extents(), [&](const Box& box, const Index& origin) -> Status {
    if constexpr (is_box) {
      if (tiles_ && use == Use::get) [[unlikely]] {
        const std::int64_t before = distance(origin, box.lo(), strides);
        return tiles_->get(box,
                           {data + before * static_cast<std::int64_t>(element_.bytes), strides});
      }
      note(use, box);
    } else {
      note(use, where);
    }
    Patches patches = distribution_.patches(box, team().rank().value);
    const bool is_only = patches.remaining() == 1;
    for (const Patch& patch : patches) {
      const PatchTransfer part = transfer_of(where, patch, {data, origin, strides}, element_.bytes);
      if (part.shape.run_bytes > 0) {
        TESSERA_RETURN_IF_ERROR(action(part, is_only));
      }
    }
    return {};
  });
}

Status ArrayBase::run(const Transfer& transfer, const PatchTransfer& part) const {
  const rma::RemoteAddress at = region_.at(part.owner, static_cast<std::uint64_t>(part.offset));
  switch (transfer.kind) {
    case Transfer::Kind::put:
      return rma::put(*job_, at, part.local, part.shape);
    case Transfer::Kind::get:
      return rma::get(*job_, at, part.local, part.shape);
    case Transfer::Kind::accumulate:
      break;
  }
  return rma::accumulate(*job_, at, part.local, part.shape, *transfer.scale);
}

Handle ArrayBase::start(const Transfer& transfer, const PatchTransfer& part) const {
  const rma::RemoteAddress at = region_.at(part.owner, static_cast<std::uint64_t>(part.offset));
  switch (transfer.kind) {
    case Transfer::Kind::put:
      return rma::put_async(*job_, at, part.local, part.shape);
    case Transfer::Kind::get:
      return rma::get_async(*job_, at, part.local, part.shape);
    case Transfer::Kind::accumulate:
      break;
  }
  return rma::accumulate_async(*job_, at, part.local, part.shape, *transfer.scale);
}

// A box in one block needs one transfer. All else, and errors, are for transfer_patches().
template <Transfer::Kind kind, class Local, class... Scale>
Status ArrayBase::transfer_box(const Box& box, Local memory, const Scale&... scale) const {
  constexpr Use use = kind == Transfer::Kind::put   ? Use::direct_put
                      : kind == Transfer::Kind::get ? Use::direct_get
                                                    : Use::direct_accumulate;
  detail::SingleBlock single;
  if ((uses_ & use) == 0 || memory.data == nullptr || !has_extents_of(box, memory) ||
      !detail::find_single_block(distribution_.data(), box, element_.bytes, strides_of(memory),
                                 single) ||
      single.elements > memory.room ||
      (kind == Transfer::Kind::get && single.may_overlap && !strides_of(memory).are_apart(box)))
      [[unlikely]] {
    return transfer_patches(box, memory, Transfer{kind, scale...});
  }
  const rma::RemoteAddress at{members_[single.owner.value], region_id_,
                              static_cast<std::uint64_t>(single.offset)};
  Status status = run_single<kind>(*job_, at, memory.data, single.shape, scale...);
  if (!status.ok()) [[unlikely]] {
    status = explain(std::move(status), to_string(use), box);
  }
  return status;
}

// Contiguous memory isn't in the order of a column-major array, but a box may lie in one block.
Status ArrayBase::transfer_patches(const Box& box, const ContiguousMemory& memory,
                                   const Transfer& kind) const {
  if (distribution_.order() == MemoryOrder::column_major && is_inside(box, extents())) {
    const Strides strides = dense_strides(box.extents());
    UntypedMemory strided = memory;
    strided.strides = &strides;
    return transfer(box, strided, kind);
  }
  return transfer_patches(box, UntypedMemory(memory), kind);
}

// With several owners, elements from other nodes are on their way while the rest is copied. The
// last patch from another node uses a blocking get, which is faster than a started one with a wait.
Status ArrayBase::transfer_patches(const Box& box, const UntypedMemory& memory,
                                   const Transfer& transfer) const {
  const Use use = use_of(transfer.kind);
  detail::SingleBlock single;
  // With the race check, a box in one block comes here, too.
  if ((uses_ & use) != 0 && state_->races && !node_copy_ && !tiles_ && memory.data != nullptr &&
      has_extents_of(box, memory) &&
      find_single(distribution_.data(), box, element_.bytes, memory, single) &&
      single.elements <= memory.room && !(use == Use::get && single.may_overlap)) {
    note(use, box);
    return explain(run(transfer, {single.owner, single.offset, static_cast<std::byte*>(memory.data),
                                  single.shape}),
                   to_string(use), box);
  }
  TESSERA_RETURN_IF_ERROR(check(use, box, memory));
  if (node_copy_) [[unlikely]] {
    Status allowed = check_operation(transfer);
    return explain(allowed.ok() ? node_copy_->transfer(box, memory, transfer) : std::move(allowed),
                   to_string(use), box);
  }
  std::optional<PatchTransfer> last;
  Handle far;
  Status status =
      for_each_patch(use, box, memory, [&](const PatchTransfer& part, bool is_only) -> Status {
        if (use != Use::get || is_only || region_.direct(part.owner) != nullptr) {
          return run(transfer, part);
        }
        if (last) {
          far.collect(start(transfer, *last));
        }
        last = part;
        return {};
      });
  if (last && status.ok()) {
    status = run(transfer, *last);
  }
  Status fetched = far.is_empty() ? Status() : far.wait();
  return explain(status.ok() ? std::move(fetched) : std::move(status), to_string(use), box);
}

template <class Selection>
Handle ArrayBase::transfer_async(const Selection& where, const UntypedMemory& memory,
                                 const Transfer& transfer) const {
  const auto failed = [&](Status status) {
    return job_ ? Handle::failed(*job_, std::move(status)) : Handle::failed(std::move(status));
  };
  const Use use = use_of(transfer.kind);
  if (Status wrong = check(use, where, memory); !wrong.ok()) {
    return failed(std::move(wrong));
  }
  if (node_copy_) [[unlikely]] {
    Status allowed = check_operation(transfer);
    return allowed.ok() ? node_copy_->transfer_async(where, memory, transfer)
                        : failed(explain(std::move(allowed), to_string(use), where));
  }
  Handle all;
  Status status = for_each_patch(use, where, memory, [&](const PatchTransfer& part, bool) {
    all.collect(start(transfer, part));
    return Status();
  });
  if (!status.ok()) {
    all.collect(failed(explain(std::move(status), to_string(use), where)));
  }
  return all;
}

using Kind = Transfer::Kind;
using rma::Scale;
template Status ArrayBase::transfer_box<Kind::put>(const Box&, ContiguousMemory) const;
template Status ArrayBase::transfer_box<Kind::put>(const Box&, UntypedMemory) const;
template Status ArrayBase::transfer_box<Kind::get>(const Box&, ContiguousMemory) const;
template Status ArrayBase::transfer_box<Kind::get>(const Box&, UntypedMemory) const;
template Status ArrayBase::transfer_box<Kind::accumulate>(const Box&, ContiguousMemory,
                                                          const Scale&) const;
template Status ArrayBase::transfer_box<Kind::accumulate>(const Box&, UntypedMemory,
                                                          const Scale&) const;
template Handle ArrayBase::transfer_async(const Box&, const UntypedMemory&, const Transfer&) const;
template Handle ArrayBase::transfer_async(const Section&, const UntypedMemory&,
                                          const Transfer&) const;
template Handle ArrayBase::transfer_async(const PeriodicBox&, const UntypedMemory&,
                                          const Transfer&) const;
template Handle ArrayBase::transfer_async(const FieldBox&, const UntypedMemory&,
                                          const Transfer&) const;
template Result<std::int64_t> ArrayBase::count(const Box&) const;
template Result<std::int64_t> ArrayBase::count(const Section&) const;
template Result<std::int64_t> ArrayBase::count(const PeriodicBox&) const;
template Result<std::int64_t> ArrayBase::count(const FieldBox&) const;

}  // namespace tessera::arrays
