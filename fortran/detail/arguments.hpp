// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. Converts C arguments to the library's types, and checks them. Errors of each:
// invalid_argument unless stated otherwise.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "arrays/array_base.hpp"
#include "arrays/box.hpp"
#include "arrays/distribution.hpp"
#include "arrays/index.hpp"
#include "fortran/c/types.h"
#include "rma/base/result.hpp"
#include "rma/element.hpp"
#include "rma/team.hpp"

namespace tessera::capi {

/// Errors: a null `pointer`, which the message calls `what`.
rma::Status required(const void* pointer, std::string_view what);
/// Errors: a negative `count` of `what`.
rma::Status check_count(std::int64_t count, std::string_view what);
/// Errors: a value outside 0 to `count` - 1, the numbers of an enumeration or a flag.
rma::Status check_choice(int value, int count, std::string_view what);
/// Errors: out_of_range unless 0 ≤ value < size.
rma::Status check_below(std::int64_t value, std::int64_t size, std::string_view what);

rma::Result<rma::WorldRank> world_rank(std::int64_t rank, std::int32_t size);
rma::Result<rma::TeamRank> team_rank(std::int64_t member, std::int64_t size);
/// Lists of ranks. Errors: a number that cannot be a rank.
rma::Result<std::vector<rma::WorldRank>> world_ranks(std::int64_t count, const std::int64_t* ranks);
rma::Result<std::vector<rma::TeamRank>> team_ranks(std::int64_t count, const std::int64_t* members);

rma::Result<rma::ElementType> element_type(tessera_type type);
/// The same, or opaque elements.
rma::Result<arrays::ElementKind> element_kind(tessera_type type);
tessera_type c_type(const arrays::ElementKind& kind) noexcept;

/// A list with one number for each dimension.
template <class List>
List list_of(const std::int64_t* numbers, std::int64_t ndims) {
  return numbers == nullptr
             ? List()
             : List(std::span(numbers, static_cast<std::size_t>(std::max<std::int64_t>(ndims, 0))));
}
/// The same for a list that may not be null. Errors: also an impossible number of dimensions.
template <class List>
rma::Result<List> required_list(const std::int64_t* numbers, std::int64_t ndims,
                                std::string_view what) {
  if (ndims < 1 || ndims > arrays::max_dims) {
    return rma::Status::error(
        rma::Code::invalid_argument,
        fmt::format("{} dimensions; 1 to {} are possible", ndims, arrays::max_dims));
  }
  TESSERA_RETURN_IF_ERROR(required(numbers, what));
  return list_of<List>(numbers, ndims);
}

/// For an output that the caller may not want.
inline void set_if_given(std::int64_t number, std::int64_t* to) noexcept {
  if (to != nullptr) {
    *to = number;
  }
}

inline const char* name_or_unnamed(const char* name) noexcept {
  return name == nullptr ? "unnamed" : name;
}

/// The box [lo, hi), or the whole array if both are null.
rma::Result<arrays::Box> box_of(const arrays::Extents& extents, const std::int64_t* lo,
                                const std::int64_t* hi);
/// The set of dimensions whose bits are set. Errors: bits of other dimensions.
rma::Result<arrays::PeriodicDims> dims_of(std::int64_t bits, int ndims, std::string_view what);

/// Local memory for a box of these extents, dense if `strides` is null. Sources are only read; one
/// type serves both directions.
arrays::LocalBuffer local_buffer(const void* memory, const std::int64_t* strides,
                                 const arrays::Extents& extents);

/// Copies the numbers of a list to `to`.
template <class List>
void copy_list(const List& from, std::int64_t* to) {
  std::copy(from.begin(), from.end(), to);
}

/// Copies as much of `from` as fits, and a final zero; sets `length`, if not null, to the whole
/// length. Errors: a negative capacity, or a null text with a positive one.
rma::Status copy_text(std::string_view from, char* text, std::int64_t capacity,
                      std::int64_t* length);

/// The options that `given` points to, or the defaults if it is null. The program may have been
/// compiled for an older, shorter structure. Errors: not initialised, or of a later version.
rma::Status check_options_size(std::int64_t bytes, std::size_t most, std::string_view init);
template <class Options, class Init>
rma::Result<Options> options_of(const Options* given, const Init& init,
                                std::string_view init_name) {
  Options options;
  init(&options);
  if (given != nullptr) {
    TESSERA_RETURN_IF_ERROR(check_options_size(given->struct_bytes, sizeof options, init_name));
    std::memcpy(&options, given, static_cast<std::size_t>(given->struct_bytes));
  }
  return options;
}

}  // namespace tessera::capi
