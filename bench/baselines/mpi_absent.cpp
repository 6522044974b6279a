// SPDX-License-Identifier: BSD-3-Clause
//
// Replaces the MPI baselines in a build without MPI.
#include "bench/baselines/baseline.hpp"
#include "bench/baselines/mpi_collectives.hpp"
#include "bench/baselines/mpi_memory.hpp"
#include "bench/baselines/mpi_session.hpp"
#include "bench/baselines/mpi_two_sided.hpp"

namespace tessera::bench {

std::unique_ptr<MpiSession> start_mpi(MpiCallers) {
  return nullptr;
}

std::unique_ptr<Baseline> make_mpi_baseline(RankGroup&, const BaselineOptions&,
                                            std::string& missing) {
  missing = "mpi: this build has no MPI (Debian: libopenmpi-dev, and -DTESSERA_MPI=ON)";
  return nullptr;
}

std::optional<Candidate> mpi_ping_pong_candidate(RankGroup&, std::size_t) {
  return std::nullopt;
}

std::optional<Candidate> mpi_stream_candidate(RankGroup&, std::size_t, std::int64_t) {
  return std::nullopt;
}

std::optional<Started> mpi_started_get(RankGroup&, std::size_t) {
  return std::nullopt;
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
  return std::nullopt;
}

std::optional<Candidate> mpi_barrier_candidate(RankGroup&, int) {
  return std::nullopt;
}

std::optional<Candidate> mpi_ghost_candidate(RankGroup&, const GhostBlock&, double*) {
  return std::nullopt;
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
  return [] {};
}

std::int64_t MpiMemory::fetch_add(int, std::size_t, std::int64_t) {
  return 0;
}

}  // namespace tessera::bench
