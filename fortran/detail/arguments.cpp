// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/detail/arguments.hpp"

#include <limits>

namespace tessera::capi {

using arrays::Box;
using arrays::ElementKind;
using arrays::Extents;
using arrays::Index;
using rma::Code;
using rma::ElementType;
using rma::Result;
using rma::Status;

namespace {

static_assert(static_cast<int>(ElementType::i32) == TESSERA_I32);
static_assert(static_cast<int>(ElementType::i64) == TESSERA_I64);
static_assert(static_cast<int>(ElementType::f32) == TESSERA_F32);
static_assert(static_cast<int>(ElementType::f64) == TESSERA_F64);
static_assert(static_cast<int>(ElementType::c64) == TESSERA_C64);
static_assert(static_cast<int>(ElementType::c128) == TESSERA_C128);
static_assert(static_cast<int>(ElementType::i8) == TESSERA_I8);
static_assert(static_cast<int>(ElementType::i16) == TESSERA_I16);
static_assert(static_cast<int>(ElementType::u8) == TESSERA_U8);
static_assert(static_cast<int>(ElementType::u16) == TESSERA_U16);
static_assert(static_cast<int>(ElementType::u32) == TESSERA_U32);
static_assert(static_cast<int>(ElementType::u64) == TESSERA_U64);
static_assert(rma::element_type_count == TESSERA_U64 + 1);
static_assert(arrays::max_dims == TESSERA_MAX_DIMS);

Status wrong_type(tessera_type type) {
  return Status::error(Code::invalid_argument, fmt::format("there is no element type {}", type))
      .hint("use one of TESSERA_I32 to TESSERA_U64, or tessera_type_opaque(bytes)");
}

template <class Rank>
Result<std::vector<Rank>> ranks_of(std::int64_t count, const std::int64_t* numbers,
                                   std::string_view what) {
  TESSERA_RETURN_IF_ERROR(check_count(count, what));
  if (count > 0) {
    TESSERA_RETURN_IF_ERROR(required(numbers, what));
  }
  std::vector<Rank> ranks;
  for (std::int64_t i = 0; i < count; ++i) {
    if (numbers[i] < 0 || numbers[i] > std::numeric_limits<std::int32_t>::max()) {
      return Status::error(Code::invalid_argument,
                           fmt::format("entry {} of the {} is {}", i, what, numbers[i]));
    }
    ranks.push_back(Rank{static_cast<std::int32_t>(numbers[i])});
  }
  return ranks;
}

}  // namespace

Status required(const void* pointer, std::string_view what) {
  if (pointer == nullptr) [[unlikely]] {
    return Status::error(Code::invalid_argument,
                         fmt::format("the pointer to the {} is null", what));
  }
  return {};
}

Status check_count(std::int64_t count, std::string_view what) {
  if (count < 0) [[unlikely]] {
    return Status::error(Code::invalid_argument,
                         fmt::format("{} {} are not possible", count, what));
  }
  return {};
}

Status check_choice(int value, int count, std::string_view what) {
  if (value < 0 || value >= count) [[unlikely]] {
    return Status::error(
        Code::invalid_argument,
        fmt::format("there is no {} {}; 0 to {} are possible", what, value, count - 1));
  }
  return {};
}

Status check_below(std::int64_t value, std::int64_t size, std::string_view what) {
  if (value < 0 || value >= size) [[unlikely]] {
    return Status::error(Code::out_of_range,
                         fmt::format("there is no {} {}: there are {}", what, value, size));
  }
  return {};
}

Result<rma::WorldRank> world_rank(std::int64_t rank, std::int32_t size) {
  TESSERA_RETURN_IF_ERROR(check_below(rank, size, "rank"));
  return rma::WorldRank{static_cast<std::int32_t>(rank)};
}

Result<rma::TeamRank> team_rank(std::int64_t member, std::int64_t size) {
  TESSERA_RETURN_IF_ERROR(check_below(member, size, "member"));
  return rma::TeamRank{static_cast<std::int32_t>(member)};
}

Result<std::vector<rma::WorldRank>> world_ranks(std::int64_t count, const std::int64_t* ranks) {
  return ranks_of<rma::WorldRank>(count, ranks, "ranks");
}

Result<std::vector<rma::TeamRank>> team_ranks(std::int64_t count, const std::int64_t* members) {
  return ranks_of<rma::TeamRank>(count, members, "members");
}

Result<ElementType> element_type(tessera_type type) {
  if (type < 0 || type >= rma::element_type_count) {
    return wrong_type(type);
  }
  return static_cast<ElementType>(type);
}

Result<ElementKind> element_kind(tessera_type type) {
  if (type >= 0) {
    TESSERA_ASSIGN_OR_RETURN(const ElementType known, element_type(type));
    return ElementKind::of(known);
  }
  if (type == INT64_MIN) {
    return Status::error(Code::invalid_argument, "elements have at least one byte");
  }
  return ElementKind::opaque(static_cast<std::size_t>(-type));
}

tessera_type c_type(const ElementKind& kind) noexcept {
  return kind.type ? static_cast<tessera_type>(*kind.type) : -static_cast<tessera_type>(kind.bytes);
}

Result<Box> box_of(const Extents& extents, const std::int64_t* lo, const std::int64_t* hi) {
  if (lo == nullptr && hi == nullptr) {
    return Box::whole(extents);
  }
  TESSERA_RETURN_IF_ERROR(required(lo, "box's lower bounds, but not that to its upper ones,"));
  TESSERA_RETURN_IF_ERROR(required(hi, "box's upper bounds, but not that to its lower ones,"));
  const Box box(list_of<Index>(lo, extents.ndims()), list_of<Index>(hi, extents.ndims()));
  for (int dim = 0; dim < box.ndims(); ++dim) {
    // The checks below subtract bounds only after comparing them, but the length is needed first.
    std::int64_t length = 0;
    if (__builtin_sub_overflow(box.hi(dim), box.lo(dim), &length)) {
      return Status::error(Code::out_of_range,
                           fmt::format("the box {} is longer than any array", to_string(box)));
    }
  }
  return box;
}

Result<arrays::PeriodicDims> dims_of(std::int64_t bits, int ndims, std::string_view what) {
  if (bits < 0 || bits >> arrays::max_dims != 0) {
    return Status::error(Code::invalid_argument,
                         fmt::format("{} {:#x} has bits for other than {} dimensions", what,
                                     static_cast<std::uint64_t>(bits), ndims))
        .hint("set the bit 1 << dim for each of them");
  }
  return arrays::PeriodicDims(static_cast<unsigned long long>(bits));
}

arrays::LocalBuffer local_buffer(const void* memory, const std::int64_t* strides,
                                 const Extents& extents) {
  return {const_cast<void*>(memory), strides == nullptr
                                         ? dense_strides(extents)
                                         : list_of<arrays::Strides>(strides, extents.ndims())};
}

Status copy_text(std::string_view from, char* text, std::int64_t capacity, std::int64_t* length) {
  TESSERA_RETURN_IF_ERROR(check_count(capacity, "bytes for the text"));
  if (capacity > 0) {
    TESSERA_RETURN_IF_ERROR(required(text, "text"));
    const std::size_t fits = std::min(from.size(), static_cast<std::size_t>(capacity) - 1);
    std::copy_n(from.data(), fits, text);
    text[fits] = '\0';
  }
  if (length != nullptr) {
    *length = std::ssize(from);
  }
  return {};
}

Status check_options_size(std::int64_t bytes, std::size_t most, std::string_view init) {
  // Every structure of options has at least its size and one option.
  if (bytes < std::int64_t{2 * sizeof(std::int64_t)} || bytes > static_cast<std::int64_t>(most)) {
    return Status::error(
               Code::invalid_argument,
               fmt::format("the options say that they have {} bytes; they have {}", bytes, most))
        .hint(fmt::format("call {} before setting any of them", init));
  }
  return {};
}

}  // namespace tessera::capi
