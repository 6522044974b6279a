// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/ga/operands.hpp"

#include <fmt/format.h>

#include <array>
#include <span>

#include "arrays/array_base.hpp"
#include "arrays/chunk_engine.hpp"
#include "arrays/reshape.hpp"
#include "fortran/ga/creation.hpp"
#include "linalg/permute.hpp"

namespace tessera::ga {

namespace {

using arrays::ArrayBase;
using arrays::ChunkOperand;

ArrayBase& array_of_part(const Part& part) noexcept {
  return part.record->array();
}

std::string name_of(const Part& part) {
  return fmt::format("{} of {}", to_string(part.box), part.record->describe());
}

bool has_same_elements(const Part& one, const Part& other) {
  return array_of_part(one).element().name == array_of_part(other).element().name;
}

Status check_alike(const Part& from, const Part& to) {
  if (!has_same_elements(from, to)) {
    return Status::error(Code::invalid_argument,
                         fmt::format("{} has elements of type {}, and {} of type {}",
                                     from.record->describe(), to_string(from.record->type()),
                                     to.record->describe(), to_string(to.record->type())));
  }
  if (from.box.volume() != to.box.volume()) {
    return Status::error(Code::invalid_argument,
                         fmt::format("{} has {} elements, but {} has {}", name_of(from),
                                     from.box.volume(), name_of(to), to.box.volume()));
  }
  return {};
}

bool is_on_smaller_group(const Part& one, const Part& other) {
  return array_of_part(one).team().size() < array_of_part(other).team().size();
}

/// Collective over the smaller of the groups, or over that of `to`. The extents are equal. Each
/// process moves what it owns of the smaller group's array, directly from or into place.
Status copy_boxes(const Part& from, const Part& to) {
  const bool is_put = is_on_smaller_group(from, to);
  const ChunkOperand source{&array_of_part(from), from.box, false};
  const ChunkOperand target{&array_of_part(to), to.box, true};
  const std::array operands = is_put ? std::array{source, target} : std::array{target, source};
  const Part& own = is_put ? from : to;
  const Part& other = is_put ? to : from;
  TESSERA_RETURN_IF_ERROR(arrays::begin_on_chunks("copy", operands));
  rma::Handle moves;
  const Index shift = arrays::shift_between(own.box, other.box);
  const auto move = [&](const arrays::Chunk& chunk) {
    const arrays::LocalBuffer memory{chunk.operands[0].data, chunk.operands[0].strides};
    const Box there = chunk.box.shifted(shift);
    moves.collect(is_put ? array_of_part(other).put_box_async(there, memory)
                         : array_of_part(other).get_box_async(there, memory));
    return Status();
  };
  Status status = arrays::for_each_chunk(std::span(operands).first(1), move);
  Status moved = moves.wait();
  moved = moved.ok() && is_put ? array_of_part(to).fence() : std::move(moved);
  return array_of_part(own)
      .sync(status.ok() ? std::move(moved) : std::move(status))
      .context("copy");
}

/// Collective over the group of `to`, which is part of the other.
Status reverse_dims(const Part& from, const Part& to) {
  std::array<int, arrays::max_dims> dims = {};
  const int ndims = from.box.ndims();
  for (int dim = 0; dim < ndims; ++dim) {
    dims[static_cast<std::size_t>(dim)] = ndims - 1 - dim;
  }
  return linalg::permute({array_of_part(from), from.box}, {array_of_part(to), to.box},
                         std::span(dims).first(static_cast<std::size_t>(ndims)));
}

/// Collective over the group of `to`, which is part of the other.
Status reshape(const Part& from, const Part& to, bool is_reversed) {
  if (!is_reversed) {
    return arrays::detail::copy_row_major(array_of_part(from), from.box, array_of_part(to), to.box);
  }
  const Extents extents = from.box.extents().reversed();
  if (extents == to.box.extents()) {
    return reverse_dims(from, to);
  }
  TESSERA_ASSIGN_OR_RETURN(const Temporary between,
                           Temporary::create(to, from.record->type(), extents));
  TESSERA_RETURN_IF_ERROR(reverse_dims(from, between.part()));
  return reshape(between.part(), to, false);
}

}  // namespace

Status copy_part(const Part& from, const Part& to, bool is_reversed) {
  TESSERA_RETURN_IF_ERROR(check_alike(from, to));
  const bool is_changed = is_reversed && from.box.ndims() > 1;
  if (!is_changed && from.record == to.record && from.box == to.box) {
    return {};
  }
  if (!is_changed && from.box.extents() == to.box.extents()) {
    return copy_boxes(from, to);
  }
  if (!is_on_smaller_group(from, to)) {
    return reshape(from, to, is_changed);
  }
  TESSERA_ASSIGN_OR_RETURN(const Temporary reshaped,
                           Temporary::create(from, from.record->type(), to.box.extents()));
  TESSERA_RETURN_IF_ERROR(reshape(from, reshaped.part(), is_changed));
  return copy_boxes(reshaped.part(), to);
}

Result<Temporary> Temporary::create(const Part& like, Type type) {
  return create(like, type, like.box.extents());
}

Result<Temporary> Temporary::create(const Part& like, Type type, const Extents& extents) {
  const ArrayBase& model = array_of_part(like);
  TESSERA_ASSIGN_OR_RETURN(const arrays::ElementKind kind, element_kind(type));
  arrays::ArrayOptions options;
  options.name = "a copy for " + model.name();
  options.team = model.team();
  TESSERA_ASSIGN_OR_RETURN(ArrayBase made, ArrayBase::create(model.job(), extents, kind, options));
  auto record = std::make_unique<Record>(like.record->handle(), 0);
  record->plan.type = type;
  record->plan.extents = extents;
  record->plan.name = options.name;
  record->plan.group = like.record->plan.group;
  TESSERA_ASSIGN_OR_RETURN(auto array, typed_array(std::move(made)));
  record->set_array(std::move(array));
  return Temporary(std::move(record));
}

Result<Part> Alignment::match(const Part& given, bool is_reversed) {
  const bool is_shaped =
      given.box.extents() == leading_.box.extents() && !(is_reversed && given.box.ndims() > 1);
  const bool is_leading = given.record == leading_.record && given.box == leading_.box;
  const bool is_apart = is_leading || !share_memory(array_of_part(leading_), leading_.box,
                                                    array_of_part(given), given.box);
  if (is_shaped && is_apart) {
    return given;
  }
  TESSERA_ASSIGN_OR_RETURN(Temporary copy, Temporary::create(leading_, given.record->type()));
  TESSERA_RETURN_IF_ERROR(copy_part(given, copy.part(), is_reversed));
  copies_.push_back(std::move(copy));
  return copies_.back().part();
}

Result<Part> Alignment::integers(const Part& mask) {
  TESSERA_ASSIGN_OR_RETURN(const rma::ElementType type, common_type(std::span(&mask, 1)));
  if (rma::is_integer(type)) {
    return mask;
  }
  TESSERA_ASSIGN_OR_RETURN(Temporary flags, Temporary::create(mask, Type::c_int));
  auto& ones = static_cast<arrays::Array<std::int32_t>&>(array_of_part(flags.part()));
  TESSERA_RETURN_IF_ERROR(on_parts(std::array{mask}, [&]<class T>(Tag<T>, const auto& of) {
    return arrays::transform(
        ones, [](const T& element) { return element == T{} ? 0 : 1; }, of.template part<T>(0));
  }));
  copies_.push_back(std::move(flags));
  return copies_.back().part();
}

Status no_such_operation(std::string_view what, const Record& record) {
  return Status::error(Code::invalid_argument,
                       fmt::format("{}: {} has elements of type {}, which it does not support",
                                   what, record.describe(), to_string(record.type())));
}

}  // namespace tessera::ga
