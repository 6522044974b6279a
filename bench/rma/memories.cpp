// SPDX-License-Identifier: BSD-3-Clause
#include "bench/rma/memories.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "rma/transfer.hpp"

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

namespace {

std::span<double> numbers_at(std::byte* memory, std::size_t bytes) {
  return {reinterpret_cast<double*>(memory), bytes / sizeof(double)};
}

/// An error message for the target's own memory, in which `part` begins; rank r added r + 1.
std::string problem_of_part(const Sums& sums, int part) {
  const double whole = sums.adders * (sums.adders + 1) / 2.0;
  const double own = part < sums.adders ? part + 1.0 : 0;
  const double expected = sums.are_apart ? own : whole;
  const auto found =
      numbers_at(sums.region.local() + static_cast<std::size_t>(part) * sums.bytes, sums.bytes);
  const auto wrong =
      std::find_if(found.begin(), found.end(), [=](double sum) { return sum != expected; });
  return wrong == found.end()
             ? ""
             : fmt::format("double {} is {}, not {}", wrong - found.begin(), *wrong, expected);
}

}  // namespace

std::string verify_sums(RankGroup& group, rma::Job& job, const Sums& sums,
                        const std::function<void()>& add) {
  const int parts = sums.are_apart ? group.size() : 1;
  const bool is_target = group.rank() == sums.target.value;
  if (is_target) {
    std::fill_n(sums.region.local(), static_cast<std::size_t>(parts) * sums.bytes, std::byte{0});
  }
  const auto own = numbers_at(sums.from, sums.bytes);
  std::fill(own.begin(), own.end(), group.rank() + 1.0);
  group.barrier();
  if (group.rank() < sums.adders) {
    add();
    rma::require(job.fence_all());
  }
  group.barrier();
  std::string problem;
  for (int part = 0; is_target && problem.empty() && part < parts; ++part) {
    problem = problem_of_part(sums, part);
  }
  // then the measured accumulates add nothing, however often they run
  std::fill(own.begin(), own.end(), 0);
  group.barrier();
  return problem;
}

std::string verify_lock(RankGroup& group, rma::Job& job, const rma::RemoteAddress& word,
                        const std::function<void()>& lock, const std::function<void()>& unlock) {
  constexpr std::int64_t rounds = 50;
  const auto write = [&](std::int64_t value) {
    rma::require(rma::put(job, word, &value, sizeof value));
    rma::require(job.fence_all());
  };
  const auto read = [&] {
    std::int64_t value = 0;
    rma::require(rma::get(job, word, &value, sizeof value));
    return value;
  };
  if (group.rank() == 0) {
    write(0);
  }
  group.barrier();
  for (std::int64_t i = 0; i < rounds; ++i) {
    lock();
    write(read() + 1);
    unlock();
  }
  group.barrier();
  const std::int64_t expected = rounds * group.size();
  const std::int64_t found = read();
  group.barrier();
  return found == expected ? ""
                           : fmt::format("{} ranks counted to {} under the lock, not {}",
                                         group.size(), found, expected);
}

std::string verify_draws(RankGroup& group, const std::function<std::int64_t()>& draw) {
  std::array<std::int64_t, 100> own = {};
  group.barrier();
  std::generate(own.begin(), own.end(), draw);
  std::vector<std::int64_t> all;
  for (int rank = 0; rank < group.size(); ++rank) {
    const auto drawn = group.share(own, rank);
    all.insert(all.end(), drawn.begin(), drawn.end());
  }
  std::sort(all.begin(), all.end());
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (all[i] != all[i - 1] + 1) {
      return fmt::format("{} was drawn after {}", all[i], all[i - 1]);
    }
  }
  return "";
}

}  // namespace tessera::bench
