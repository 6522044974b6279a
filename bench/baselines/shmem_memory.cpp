// SPDX-License-Identifier: BSD-3-Clause
#include "bench/baselines/shmem_memory.hpp"

#include <utility>

#include "bench/baselines/shmem_api.hpp"

namespace tessera::bench {

struct ShmemMemory::Heap {
  explicit Heap(std::size_t bytes) : memory(bytes) {}
  [[nodiscard]] std::byte* at(std::size_t place) const { return memory.get() + place; }
  [[nodiscard]] long* word(std::size_t place) const { return reinterpret_cast<long*>(at(place)); }
  shmem::Symmetric memory;
};

std::unique_ptr<ShmemMemory> ShmemMemory::create(RankGroup& group, std::size_t bytes_each,
                                                 std::string& missing) {
  missing = shmem::missing(group.size());
  if (missing.empty()) {
    if (auto heap = std::make_unique<Heap>(bytes_each); heap->memory.get() != nullptr) {
      return std::unique_ptr<ShmemMemory>(new ShmemMemory(std::move(heap)));
    }
    missing = shmem::no_room(bytes_each);
  }
  missing = "openshmem: " + missing;
  return nullptr;
}

ShmemMemory::ShmemMemory(std::unique_ptr<Heap> heap) : heap_(std::move(heap)) {}
ShmemMemory::~ShmemMemory() = default;

void ShmemMemory::put(int rank, std::size_t at, const void* from, std::size_t bytes) {
  shmem_putmem_nbi(heap_->at(at), from, bytes, rank);
}

void ShmemMemory::start_get(int rank, std::size_t at, void* to, std::size_t bytes) {
  shmem_getmem_nbi(to, heap_->at(at), bytes, rank);
}

void ShmemMemory::add(int rank, std::size_t at, std::int64_t value) {
  shmem_long_atomic_add(heap_->word(at), value, rank);
}

void ShmemMemory::add(int rank, std::span<const std::size_t> at,
                      std::span<const std::int64_t> values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    add(rank, at[i], values[i]);
  }
}

void ShmemMemory::complete_all() {
  shmem_quiet();
}

std::int64_t ShmemMemory::fetch_add(int rank, std::size_t at, std::int64_t increment) {
  return shmem_long_atomic_fetch_add(heap_->word(at), increment, rank);
}

bool shmem_shares_memory(RankGroup& group) {
  if (!shmem::missing(group.size()).empty()) {
    return false;
  }
  const shmem::Symmetric word(sizeof(long));
  return group.share(word.get() != nullptr && shmem_ptr(word.get(), 1) != nullptr);
}

std::optional<Candidate> shmem_barrier_candidate(RankGroup& group, int ranks) {
  if (!shmem::missing(group.size()).empty()) {
    return std::nullopt;
  }
  const auto words = std::make_shared<shmem::Symmetric>(SHMEM_BARRIER_SYNC_SIZE * sizeof(long));
  if (words->get() == nullptr) {
    return std::nullopt;
  }
  for (int i = 0; i < SHMEM_BARRIER_SYNC_SIZE; ++i) {
    words->words()[i] = SHMEM_SYNC_VALUE;
  }
  group.barrier();
  Candidate candidate;
  candidate.name = ShmemMemory::name;
  candidate.cooperative = true;
  candidate.run = [words, ranks, acts = group.rank() < ranks](std::int64_t repetitions) {
    for (std::int64_t i = 0; i < repetitions && acts; ++i) {
      shmem_barrier(0, 0, ranks, words->words());
    }
  };
  return candidate;
}

}  // namespace tessera::bench
