// SPDX-License-Identifier: BSD-3-Clause
//
// Replaces OpenSHMEM in a build without it.
#include "bench/baselines/baseline.hpp"
#include "bench/baselines/shmem_memory.hpp"

namespace tessera::bench {
namespace {

constexpr const char* reason = "openshmem: this build has no OpenSHMEM (Debian: libopenmpi-dev)";

}  // namespace

void end_shmem() {}

std::unique_ptr<Baseline> make_shmem_baseline(RankGroup&, const BaselineOptions&,
                                              std::string& missing) {
  missing = reason;
  return nullptr;
}

struct ShmemMemory::Heap {};

std::unique_ptr<ShmemMemory> ShmemMemory::create(RankGroup&, std::size_t, std::string& missing) {
  missing = reason;
  return nullptr;
}

ShmemMemory::~ShmemMemory() = default;

void ShmemMemory::put(int, std::size_t, const void*, std::size_t) {}
void ShmemMemory::start_get(int, std::size_t, void*, std::size_t) {}
void ShmemMemory::add(int, std::size_t, std::int64_t) {}
void ShmemMemory::add(int, std::span<const std::size_t>, std::span<const std::int64_t>) {}
void ShmemMemory::complete_all() {}

std::int64_t ShmemMemory::fetch_add(int, std::size_t, std::int64_t) {
  return 0;
}

bool shmem_shares_memory(RankGroup&) {
  return false;
}

std::optional<Candidate> shmem_barrier_candidate(RankGroup&, int) {
  return std::nullopt;
}

}  // namespace tessera::bench
