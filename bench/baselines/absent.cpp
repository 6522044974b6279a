// SPDX-License-Identifier: BSD-3-Clause
//
// Replaces the baselines that this build lacks; TESSERA_BENCH_NO_… names each.
#include "bench/baselines/baseline.hpp"
#include "bench/baselines/mpi.hpp"
#include "bench/baselines/shmem.hpp"
#include "bench/baselines/verbs_baseline.hpp"

namespace tessera::bench {

#ifdef TESSERA_BENCH_NO_ARMCI
std::unique_ptr<Baseline> make_armci_baseline(RankGroup&, const BaselineOptions&,
                                              std::string& missing) {
  missing = "armci-mpi: this build has no ARMCI-MPI (Debian: libarmci-mpi-dev)";
  return nullptr;
}
#endif

#ifdef TESSERA_BENCH_NO_GA
std::unique_ptr<GlobalArrays> GlobalArrays::start(RankGroup&, std::string& missing) {
  missing = "global arrays: this build has no Global Arrays (Debian: libglobalarrays-dev)";
  return nullptr;
}
#endif

#ifdef TESSERA_BENCH_NO_VERBS
std::unique_ptr<VerbsBaseline> make_verbs_baseline(RankGroup&, const BaselineOptions&,
                                                   std::string& missing) {
  missing =
      "verbs: this build has no RDMA devices (Debian: libibverbs-dev, and -DTESSERA_VERBS=ON)";
  return nullptr;
}
#endif

#ifdef TESSERA_BENCH_NO_SHMEM
namespace {
constexpr const char* no_shmem = "openshmem: this build has no OpenSHMEM (Debian: libopenmpi-dev)";
}

struct ShmemMemory::Heap {};
std::unique_ptr<ShmemMemory> ShmemMemory::create(RankGroup&, std::size_t, std::string& missing) {
  missing = no_shmem;
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
std::unique_ptr<Baseline> make_shmem_baseline(RankGroup&, const BaselineOptions&,
                                              std::string& missing) {
  missing = no_shmem;
  return nullptr;
}
bool shmem_shares_memory(RankGroup&) {
  return false;
}
std::optional<Candidate> shmem_barrier_candidate(RankGroup&, int) {
  return {};
}
void end_shmem() {}
#endif

#ifdef TESSERA_BENCH_NO_MPI
std::unique_ptr<MpiSession> start_mpi(MpiCallers) {
  return nullptr;
}
std::unique_ptr<Baseline> make_mpi_baseline(RankGroup&, const BaselineOptions&,
                                            std::string& missing) {
  missing = "mpi: this build has no MPI (Debian: libopenmpi-dev, and -DTESSERA_MPI=ON)";
  return nullptr;
}
std::optional<Candidate> mpi_ping_pong_candidate(RankGroup&, std::size_t) {
  return {};
}
std::optional<Candidate> mpi_stream_candidate(RankGroup&, std::size_t, std::int64_t) {
  return {};
}
std::optional<Started> mpi_started_get(RankGroup&, std::size_t) {
  return {};
}
Candidate mpi_helped_by_target(RankGroup&, Candidate candidate) {
  return candidate;
}
MpiPath mpi_path(RankGroup&) {
  return {};
}
std::string mpi_compare_swap_problem(RankGroup&) {
  return "";
}
std::optional<Candidate> mpi_collective_candidate(RankGroup&, const Collective&) {
  return {};
}
std::optional<Candidate> mpi_barrier_candidate(RankGroup&, int) {
  return {};
}
std::optional<Candidate> mpi_ghost_candidate(RankGroup&, const GhostBlock&, double*) {
  return {};
}

struct MpiMemory::Window {};
std::unique_ptr<MpiMemory> MpiMemory::create(RankGroup&, std::size_t) {
  return nullptr;
}
MpiMemory::~MpiMemory() = default;
void MpiMemory::put(int, std::size_t, const void*, std::size_t) {}
void MpiMemory::start_get(int, std::size_t, void*, std::size_t) {}
void MpiMemory::add(int, std::size_t, std::int64_t) {}
void MpiMemory::add(int, std::span<const std::size_t>, std::span<const std::int64_t>) {}
void MpiMemory::complete(int) const {}
void MpiMemory::complete_all() {}
std::function<void()> MpiMemory::box_mover(Operation, int, const Box&, double*) const {
  return {};
}
std::int64_t MpiMemory::fetch_add(int, std::size_t, std::int64_t) {
  return 0;
}
#endif

}  // namespace tessera::bench
