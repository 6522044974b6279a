// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/detail/access_digest.hpp"

#include <algorithm>

namespace tessera::arrays::detail {
namespace {

constexpr std::uint32_t bit_of(std::size_t kind) noexcept {
  return std::uint32_t{1} << kind;
}

// The kinds that conflict with any of `kinds`.
std::uint32_t conflicts_with(std::uint32_t kinds) noexcept {
  std::uint32_t all = 0;
  for (std::size_t one = 0; one < access_kinds; ++one) {
    for (std::size_t other = 0; other < access_kinds && (kinds & bit_of(one)) != 0; ++other) {
      const bool do_conflict =
          conflict(static_cast<AccessKind>(one), static_cast<AccessKind>(other), false);
      all |= do_conflict ? bit_of(other) : 0;
    }
  }
  return all;
}

}  // namespace

void AccessDigest::add(std::uint64_t array, std::span<const AccessRecord> accesses) noexcept {
  Summary& summary = summaries_[array % summaries];
  for (const AccessRecord& each : accesses) {
    summary.kinds |= bit_of(static_cast<std::size_t>(each.kind));
    const int ndims = each.box.ndims();
    for (int dim = 0; dim < compared_dims; ++dim) {
      Bounds& bounds = summary.bounds[static_cast<std::size_t>(dim)];
      bounds.lo = dim < ndims ? std::min(bounds.lo, each.box.lo(dim)) : Bounds::whole().lo;
      bounds.hi = dim < ndims ? std::max(bounds.hi, each.box.hi(dim)) : Bounds::whole().hi;
    }
  }
}

void AccessDigest::finish() noexcept {
  for (Summary& each : summaries_) {
    each.conflicts = conflicts_with(each.kinds);
  }
}

bool AccessDigest::may_conflict(const Summary& a, const Summary& b) noexcept {
  const auto meet = [](const Bounds& one, const Bounds& other) {
    return one.lo < other.hi && other.lo < one.hi;
  };
  return (a.conflicts & b.kinds) != 0 && meet(a.bounds[0], b.bounds[0]) &&
         meet(a.bounds[1], b.bounds[1]);
}

bool AccessDigest::may_conflict(const AccessDigest& other) const noexcept {
  for (std::size_t at = 0; at < summaries; ++at) {
    if (may_conflict(summaries_[at], other.summaries_[at])) {
      return true;
    }
  }
  return false;
}

}  // namespace tessera::arrays::detail
