// SPDX-License-Identifier: BSD-3-Clause
#include "rma/transport/mpi/list_cache.hpp"

#include <algorithm>
#include <utility>

namespace tessera::rma::mpi {
namespace {

std::uint64_t local_address_of(const Fragment& fragment) noexcept {
  return reinterpret_cast<std::uintptr_t>(fragment.local);
}

}  // namespace

Result<const ListTypes*> ListCache::find(Fragments fragments, MPI_Datatype element,
                                         std::size_t element_bytes) {
  const std::uint64_t digest = digest_of(fragments);
  const auto known = std::find_if(cached_.begin(), cached_.end(), [&](const CachedList& each) {
    return each.digest == digest && each.element == element && is_same(each.pieces, fragments);
  });
  if (known != cached_.end()) {
    return &known->types;
  }
  if (!record(digest)) {
    return static_cast<const ListTypes*>(nullptr);
  }
  TESSERA_ASSIGN_OR_RETURN(ListTypes types, ListTypes::create(fragments, element, element_bytes));
  std::vector<Fragment> pieces(fragments.begin(), fragments.end());
  CachedList& entry = cached_[next_cached_];
  next_cached_ = (next_cached_ + 1) % max_cached;
  entry.digest = digest;
  entry.element = element;
  entry.pieces = std::move(pieces);
  entry.types = std::move(types);
  return &entry.types;
}

// Two chains in parallel: a multiplication takes longer than the rest of the work for a piece.
std::uint64_t ListCache::digest_of(Fragments fragments) noexcept {
  constexpr std::uint64_t factor = 0x9e3779b97f4a7c15;
  constexpr unsigned half = 32;
  const Fragment& first = fragments.front();
  std::uint64_t here = fragments.size();
  std::uint64_t there = factor;
  for (const Fragment& each : fragments) {
    here =
        (here ^ (local_address_of(each) - local_address_of(first)) ^ (each.bytes << half)) * factor;
    there = (there ^ (each.remote_offset - first.remote_offset)) * factor;
  }
  return here ^ (there >> half) ^ (there << half);
}

bool ListCache::is_same(Fragments a, Fragments b) noexcept {
  return a.size() == b.size() && !a.empty() &&
         std::equal(a.begin(), a.end(), b.begin(), [&](const Fragment& x, const Fragment& y) {
           return local_address_of(x) - local_address_of(a.front()) ==
                      local_address_of(y) - local_address_of(b.front()) &&
                  x.remote_offset - a.front().remote_offset ==
                      y.remote_offset - b.front().remote_offset &&
                  x.bytes == y.bytes;
         });
}

// Whether it was recorded before.
bool ListCache::record(std::uint64_t digest) noexcept {
  if (std::find(recorded_.begin(), recorded_.end(), digest) != recorded_.end()) {
    return true;
  }
  recorded_[next_recorded_] = digest;
  next_recorded_ = (next_recorded_ + 1) % max_recorded;
  return false;
}

}  // namespace tessera::rma::mpi
