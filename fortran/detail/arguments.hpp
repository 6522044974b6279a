// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. From C's arguments to the library's types, with what may be wrong with them said in a
// sentence. Errors of all: invalid_argument unless said otherwise.
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
#include "fortran/c_types.h"
#include "rma/element.hpp"
#include "rma/result.hpp"
#include "rma/team.hpp"

namespace tessera::capi {

/// Errors: `what` may not be null.
rma::Status required(const void* pointer, std::string_view what);
/// Errors: a `count` of `what` below zero.
rma::Status check_count(std::int64_t count, std::string_view what);
/// 0 to `count` - 1, as enumerations and flags are.
rma::Status check_choice(int value, int count, std::string_view what);
/// Errors: out_of_range unless 0 ≤ value < size.
rma::Status check_below(std::int64_t value, std::int64_t size, std::string_view what);

rma::Result<rma::WorldRank> world_rank(std::int64_t rank, std::int32_t size);
rma::Result<rma::TeamRank> team_rank(std::int64_t member, std::int64_t size);
/// Lists of ranks. Errors: a number that no rank can be.
rma::Result<std::vector<rma::WorldRank>> world_ranks(std::int64_t count, const std::int64_t* ranks);
rma::Result<std::vector<rma::TeamRank>> team_ranks(std::int64_t count, const std::int64_t* members);

rma::Result<rma::ElementType> element_type(tessera_type type);
/// The same or opaque elements.
rma::Result<arrays::ElementKind> element_kind(tessera_type type);
tessera_type c_type(const arrays::ElementKind& kind) noexcept;

/// A list with a number for each dimension.
template <class List>
List list_of(const std::int64_t* numbers, std::int64_t ndims) {
  return numbers == nullptr
             ? List()
             : List(std::span(numbers, static_cast<std::size_t>(std::max<std::int64_t>(ndims, 0))));
}
/// The same where it may not be null. Errors: also a number of dimensions that arrays can't have.
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

/// Box [lo, hi), or all of it where both are null.
rma::Result<arrays::Box> box_of(const arrays::Extents& extents, const std::int64_t* lo,
                                const std::int64_t* hi);
/// The set of dimensions whose bits are set. Errors: bits beyond the dimensions.
rma::Result<arrays::PeriodicDims> dims_of(std::int64_t bits, int ndims, std::string_view what);

/// Local memory for a box of these extents, whose elements lie side by side where `strides` is
/// null. Sources are only read; one type serves both directions.
arrays::LocalBuffer local_buffer(const void* memory, const std::int64_t* strides,
                                 const arrays::Extents& extents);

/// Copies the numbers of a list to `to`.
template <class List>
void copy_list(const List& from, std::int64_t* to) {
  std::copy(from.begin(), from.end(), to);
}

/// Copies what fits of `from` and a final zero; the whole length to `length` if it isn't null.
/// Errors: a negative capacity, or null text with a positive one.
rma::Status copy_text(std::string_view from, char* text, std::int64_t capacity,
                      std::int64_t* length);

/// The options that `given` points to, of a program that may have been compiled when they were
/// fewer; the defaults where it is null. Errors: not initialised, or of a later version.
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
