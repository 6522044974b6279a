// SPDX-License-Identifier: BSD-3-Clause
#include "rma/transport/mpi/self_test.hpp"

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "rma/transport/mpi/error.hpp"

namespace tessera::rma::mpi {
namespace {

constexpr std::size_t window_bytes = 64;
constexpr std::uint64_t rounds = 32;
constexpr int neighbours = 16;  // ranks that change one word

Status add_by_swaps(const Window& window, int target, MPI_Aint at) {
  std::uint64_t seen = 0;
  while (true) {
    const std::uint64_t expected = seen;
    const std::uint64_t wanted = expected + 1;
    TESSERA_RETURN_IF_ERROR(
        check("MPI_Compare_and_swap", MPI_Compare_and_swap(&wanted, &expected, &seen, MPI_UINT64_T,
                                                           target, at, window.handle())));
    TESSERA_RETURN_IF_ERROR(window.flush(target));
    if (seen == expected) {
      return {};
    }
  }
}

Status add_in_all_ways(const Window& window, int target, MPI_Aint at) {
  const std::uint64_t one = 1;
  for (std::uint64_t i = 0; i < rounds; ++i) {
    std::uint64_t before = 0;
    TESSERA_RETURN_IF_ERROR(
        check("MPI_Accumulate", MPI_Accumulate(&one, 1, MPI_UINT64_T, target, at, 1, MPI_UINT64_T,
                                               MPI_SUM, window.handle())));
    TESSERA_RETURN_IF_ERROR(
        check("MPI_Fetch_and_op",
              MPI_Fetch_and_op(&one, &before, MPI_UINT64_T, target, at, MPI_SUM, window.handle())));
    TESSERA_RETURN_IF_ERROR(window.flush(target));
    TESSERA_RETURN_IF_ERROR(add_by_swaps(window, target, at));
  }
  return {};
}

// The word of this rank, after all ranks are done.
Result<std::uint64_t> read_own(const Window& window, int rank, MPI_Aint at) {
  std::uint64_t word = 0;
  TESSERA_RETURN_IF_ERROR(
      check("MPI_Fetch_and_op",
            MPI_Fetch_and_op(nullptr, &word, MPI_UINT64_T, rank, at, MPI_NO_OP, window.handle())));
  TESSERA_RETURN_IF_ERROR(window.flush(rank));
  return word;
}

}  // namespace

Result<TestWindow> make_test_window(const std::shared_ptr<World>& world) {
  std::vector<WorldRank> all_ranks(static_cast<std::size_t>(world->size()));
  std::generate(all_ranks.begin(), all_ranks.end(),
                [next = 0]() mutable { return WorldRank{next++}; });
  const WindowGroup group{world->windows(), world->are_on_one_machine(all_ranks)};
  TestWindow test;
  if (world->library().allocated_windows_break && group.is_one_machine) {
    test.memory = std::make_unique<std::byte[]>(window_bytes);
  }
  auto made = test.memory == nullptr
                  ? Window::allocate(world, group, window_bytes, WindowUse{})
                  : Window::expose(world, group, test.memory.get(), window_bytes, WindowUse{});
  if (made.ok()) {
    test.window = std::move(made).take();
    return test;
  }
  return Status::error(Code::unsupported,
                       "this MPI cannot make windows: " + made.status().message())
      .hint(
          "Open MPI over TCP has no windows with MPI_THREAD_MULTIPLE: set "
          "TESSERA_TRANSPORT=shm,tcp, or give MPI another network");
}

bool test_mixed_atomics(const Window& window) {
  if (!window.has_atomics()) {
    return false;
  }
  const World& world = window.world();
  const int rank = world.rank().value;
  const int target = rank - rank % neighbours;
  std::vector<std::uint64_t> starts(static_cast<std::size_t>(world.size()));
  const std::uint64_t start = window.start();
  std::fill_n(window.memory(), window_bytes, std::byte{0});
  window.synchronise().ignore("the sum shows it");
  // On all ranks: each word must be 0 before any rank adds to it.
  MPI_Allgather(&start, 1, MPI_UINT64_T, starts.data(), 1, MPI_UINT64_T, world.windows());
  const auto at = static_cast<MPI_Aint>(starts[static_cast<std::size_t>(target)]);
  bool is_right = add_in_all_ways(window, target, at).ok();
  MPI_Barrier(world.windows());
  if (rank == target) {
    const auto adders = static_cast<std::uint64_t>(std::min(neighbours, world.size() - target));
    const auto sum = read_own(window, rank, at);
    is_right = is_right && sum.ok() && *sum == adders * 3 * rounds;
  }
  const int own_result = is_right ? 1 : 0;
  int all = 0;
  MPI_Allreduce(&own_result, &all, 1, MPI_INT, MPI_MIN, world.windows());
  return all != 0;
}

}  // namespace tessera::rma::mpi
