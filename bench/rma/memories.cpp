// SPDX-License-Identifier: BSD-3-Clause
#include "bench/rma/memories.hpp"

#include <algorithm>
#include <string>

namespace tessera::bench {

OwnMemory::OwnMemory(rma::Job& job, std::size_t bytes_each)
    : job_(job), region_(rma::Region::allocate(job.world(), bytes_each).value()) {
  for (int rank = 0; rank < job.size(); ++rank) {
    slices_.push_back(region_.at(rma::TeamRank{rank}));
  }
  std::memset(mine(), 0, bytes_each);
  rma::require(job_.barrier());
}

void OwnMemory::add(int rank, std::span<const std::size_t> at,
                    std::span<const std::int64_t> values) {
  list_.clear();
  for (std::size_t i = 0; i < values.size(); ++i) {
    // Accumulate only reads the memory that the list calls local.
    list_.push_back({const_cast<std::int64_t*>(&values[i]), at[i], sizeof(std::int64_t)});
  }
  rma::require(rma::accumulate(job_, slice(rank), list_, rma::Scale::of(unit)));
}

std::unique_ptr<PlainMemory> PlainMemory::create(Session& session, OwnMemory& memory) {
  std::vector<std::byte*> slices;
  for (int rank = 0; rank < session.group().size(); ++rank) {
    slices.push_back(memory.region().direct(rma::TeamRank{rank}));
  }
  const bool misses = !session.compares_with(Peer::memory) ||
                      std::find(slices.begin(), slices.end(), nullptr) != slices.end();
  if (session.group().maximum(misses ? 1 : 0) > 0) {
    return nullptr;
  }
  return std::unique_ptr<PlainMemory>(new PlainMemory(std::move(slices)));
}

Memories::Memories(Session& session, std::size_t bytes_each)
    : own_(session.job(), bytes_each),
      plain_(PlainMemory::create(session, own_)),
      mpi_(session.compares_with(Peer::mpi) ? MpiMemory::create(session.group(), bytes_each)
                                            : nullptr),
      shmem_(make_shmem_memory(session, bytes_each)) {}

std::unique_ptr<ShmemMemory> make_shmem_memory(Session& session, std::size_t bytes_each) {
  if (!session.compares_with(Peer::shmem)) {
    return nullptr;
  }
  std::string missing;
  auto memory = ShmemMemory::create(session.group(), bytes_each, missing);
  if (memory == nullptr) {
    session.remark("missing: " + missing);
  }
  return memory;
}

}  // namespace tessera::bench
