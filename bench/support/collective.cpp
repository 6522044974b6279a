// SPDX-License-Identifier: BSD-3-Clause
#include "bench/support/collective.hpp"

#include <fmt/format.h>

namespace tessera::bench {
namespace {

/// Element `index` of the contribution of `rank`; different for all ranks and for neighbouring
/// elements.
double given(int rank, std::size_t index) {
  constexpr std::size_t period = 101;
  return static_cast<double>(rank + 1) * static_cast<double>(index % period + 1);
}

}  // namespace

CollectiveBuffers::CollectiveBuffers(const Collective& collective, int rank, int ranks)
    : collective_(collective),
      rank_(rank),
      ranks_(ranks),
      own_(collective.bytes / sizeof(double)),
      all_(own_.size() * (collective.kind == Collective::Kind::allgather
                              ? static_cast<std::size_t>(ranks)
                              : std::size_t{1})) {}

void CollectiveBuffers::fill() {
  for (std::size_t i = 0; i < own_.size(); ++i) {
    own_[i] = given(rank_, i);
  }
  all_.assign(all_.size(), -1);
}

double CollectiveBuffers::expected(std::size_t index) const {
  switch (collective_.kind) {
    case Collective::Kind::allreduce:
    case Collective::Kind::reduce:  // the sum of 1 to ranks, times what the first gives
      return given(0, index) * ranks_ * (ranks_ + 1) / 2;
    case Collective::Kind::allgather:
      return given(static_cast<int>(index / own_.size()), index % own_.size());
    case Collective::Kind::barrier:
    case Collective::Kind::broadcast:
      break;
  }
  return given(0, index);
}

std::string CollectiveBuffers::problem(std::span<const double> result) const {
  if (collective_.kind == Collective::Kind::barrier ||
      (collective_.kind == Collective::Kind::reduce && rank_ != 0)) {
    return "";
  }
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (result[i] != expected(i)) {
      return fmt::format("element {} of {} on rank {}: {} instead of {}", i, result.size(), rank_,
                         result[i], expected(i));
    }
  }
  return "";
}

}  // namespace tessera::bench
