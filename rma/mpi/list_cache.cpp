// SPDX-License-Identifier: BSD-3-Clause
#include "rma/mpi/list_cache.hpp"

#include <algorithm>
#include <utility>

namespace tessera::rma::mpi {
namespace {

std::uint64_t here_of(const Fragment& fragment) noexcept {
  return reinterpret_cast<std::uintptr_t>(fragment.local);
}

}  // namespace

Result<const ListTypes*> ListCache::find(Fragments fragments, MPI_Datatype element,
                                         std::size_t element_bytes) {
  const std::uint64_t digest = digest_of(fragments);
  const auto known = std::find_if(kept_.begin(), kept_.end(), [&](const Kept& each) {
    return each.digest == digest && each.element == element && is_same(each.pieces, fragments);
  });
  if (known != kept_.end()) {
    return &known->types;
  }
  if (!note(digest)) {
    return static_cast<const ListTypes*>(nullptr);
  }
  TESSERA_ASSIGN_OR_RETURN(ListTypes types, ListTypes::create(fragments, element, element_bytes));
  std::vector<Fragment> pieces(fragments.begin(), fragments.end());
  Kept& place = kept_[next_kept_];
  next_kept_ = (next_kept_ + 1) % most_kept;
  place.digest = digest;
  place.element = element;
  place.pieces = std::move(pieces);
  place.types = std::move(types);
  return &place.types;
}

// Two chains in parallel: a multiplication takes longer than the rest of the work for a piece.
std::uint64_t ListCache::digest_of(Fragments fragments) noexcept {
  constexpr std::uint64_t factor = 0x9e3779b97f4a7c15;
  constexpr unsigned half = 32;
  const Fragment& first = fragments.front();
  std::uint64_t here = fragments.size();
  std::uint64_t there = factor;
  for (const Fragment& each : fragments) {
    here = (here ^ (here_of(each) - here_of(first)) ^ (each.bytes << half)) * factor;
    there = (there ^ (each.remote_offset - first.remote_offset)) * factor;
  }
  return here ^ (there >> half) ^ (there << half);
}

bool ListCache::is_same(Fragments a, Fragments b) noexcept {
  return a.size() == b.size() && !a.empty() &&
         std::equal(a.begin(), a.end(), b.begin(), [&](const Fragment& x, const Fragment& y) {
           return here_of(x) - here_of(a.front()) == here_of(y) - here_of(b.front()) &&
                  x.remote_offset - a.front().remote_offset ==
                      y.remote_offset - b.front().remote_offset &&
                  x.bytes == y.bytes;
         });
}

// Whether it was recorded before.
bool ListCache::note(std::uint64_t digest) noexcept {
  if (std::find(recorded_.begin(), recorded_.end(), digest) != recorded_.end()) {
    return true;
  }
  recorded_[next_recorded_] = digest;
  next_recorded_ = (next_recorded_ + 1) % max_recorded;
  return false;
}

}  // namespace tessera::rma::mpi
