// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <array>

#include "fortran/c/operations.h"
#include "fortran/detail/cells.hpp"
#include "fortran/detail/descriptors.hpp"

namespace tessera::fapi {
namespace {

using rma::Code;
using rma::Result;
using rma::Status;

template <std::size_t count>
Status open_all(const std::array<const Cell*, count>& cells,
                std::array<tessera_array*, count>& arrays) {
  for (std::size_t i = 0; i < count; ++i) {
    TESSERA_ASSIGN_OR_RETURN(arrays[i], open<tessera_array>(cells[i]));
  }
  return {};
}

/// Numbers of bins, from 1, converted to C's.
Result<Numbers> bins_of(const tessera_array* counts, const Descriptor* given) {
  const std::int64_t number = capi::array_of(counts).extents()[0];
  TESSERA_ASSIGN_OR_RETURN(Numbers bins, integers(given, "bins"));
  for (std::int64_t& bin : bins) {
    if (bin < 1 || bin > number) {
      return Status::error(Code::out_of_range,
                           fmt::format("there is no bin {}; 1 to {} are possible", bin, number));
    }
    --bin;
  }
  return bins;
}

}  // namespace

extern "C" {

int tessera_f_count_bins(const Cell* counts, const Descriptor* given) {
  std::array<tessera_array*, 1> arrays = {};
  Numbers bins;
  const auto prepare = [&]() -> Status {
    TESSERA_RETURN_IF_ERROR(open_all<1>({counts}, arrays));
    TESSERA_ASSIGN_OR_RETURN(bins, bins_of(arrays[0], given));
    return {};
  };
  return run("tessera_array%count_bins", prepare,
             [&] { return tessera_array_count_bins(arrays[0], std::ssize(bins), bins.data()); });
}

int tessera_f_bin_offsets(const Cell* counts, const Cell* offsets) {
  std::array<tessera_array*, 2> arrays = {};
  return run(
      "tessera_array%bin_offsets",
      [&] {
        return open_all<2>({counts, offsets}, arrays);
      },
      [&] { return tessera_array_bin_offsets(arrays[0], arrays[1]); });
}

int tessera_f_add_to_bins(const Cell* contents, const Cell* offsets, const Cell* filled,
                          const Descriptor* given, const Descriptor* values) {
  std::array<tessera_array*, 3> arrays = {};
  Numbers bins;
  std::optional<Dense> local;
  const auto prepare = [&]() -> Status {
    TESSERA_RETURN_IF_ERROR(open_all<3>({contents, offsets, filled}, arrays));
    TESSERA_ASSIGN_OR_RETURN(bins, bins_of(arrays[1], given));
    TESSERA_RETURN_IF_ERROR(check_elements(capi::array_of(arrays[0]).element(), values, "values"));
    local.emplace(*values);
    if (local->count() != std::ssize(bins)) {
      return Status::error(Code::invalid_argument, fmt::format("values has {} elements for {} bins",
                                                               local->count(), bins.size()));
    }
    return {};
  };
  return run("tessera_array%add_to_bins", prepare, [&] {
    return tessera_array_add_to_bins(arrays[0], arrays[1], arrays[2], std::ssize(bins), bins.data(),
                                     local->data());
  });
}

int tessera_f_sort_bins(const Cell* contents, const Cell* offsets, const Cell* counts) {
  std::array<tessera_array*, 3> arrays = {};
  return run(
      "tessera_array%sort_bins",
      [&] {
        return open_all<3>({contents, offsets, counts}, arrays);
      },
      [&] { return tessera_array_sort_bins(arrays[0], arrays[1], arrays[2]); });
}

}  // extern "C"

}  // namespace tessera::fapi
