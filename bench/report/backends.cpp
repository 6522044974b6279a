// SPDX-License-Identifier: BSD-3-Clause
#include "bench/report/backends.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace tessera::bench::report {
namespace {

/// A name of bench/floors or of a suite. Names that begin with it and a blank mean the same, for
/// example "mpi in memory".
struct Known {
  std::string_view name;
  Kind kind;
  int style;
};

// Names that stand on one chart have different styles. A longer name stands before each name that
// is its prefix.
constexpr std::array<Known, 97> known = {{
    // Tessera: transports, ways and modes.
    {"tessera", Kind::ours, 0},
    {"shm", Kind::ours, 0},
    {"tcp polling", Kind::floor, 4},
    {"tcp blocking", Kind::floor, 5},
    {"tcp with helpers", Kind::floor, 4},
    {"tcp", Kind::ours, 0},
    {"server", Kind::ours, 0},
    {"verbs", Kind::ours, 0},
    {"loopback", Kind::ours, 0},
    {"tessera-mg", Kind::ours, 0},
    {"tessera-agent", Kind::ours, 0},
    {"tessera-comm", Kind::ours, 7},
    {"fence_all of 3", Kind::ours, 3},
    {"fence_all of 5", Kind::ours, 6},
    {"fence_all of 7", Kind::ours, 7},
    {"fence_all", Kind::ours, 0},
    {"called by one rank", Kind::ours, 0},
    {"called by all ranks", Kind::ours, 7},
    {"default", Kind::ours, 0},
    {"auto", Kind::ours, 0},
    {"direct", Kind::ours, 3},
    {"batched", Kind::ours, 6},
    {"conservative", Kind::ours, 7},
    {"native shm", Kind::ours, 7},
    // Tessera on MPI's windows.
    {"native tcp", Kind::ours, 6},
    {"neighbours", Kind::ours, 5},
    {"one list", Kind::ours, 0},
    {"regular", Kind::ours, 0},
    {"counter", Kind::ours, 0},
    {"conjugate gradients", Kind::ours, 0},
    {"rows", Kind::ours, 0},
    // Tessera: participating ranks, kinds of memory.
    {"all ranks", Kind::ours, 0},
    {"across nodes", Kind::ours, 0},
    {"allocate_local", Kind::ours, 0},
    {"ordinary memory", Kind::ours, 7},
    {"own slice", Kind::ours, 3},
    {"same region", Kind::ours, 7},
    {"used before", Kind::ours, 7},
    {"newly mapped", Kind::ours, 6},
    // Ways to transfer.
    {"plain loops", Kind::floor, 1},
    {"plain", Kind::ours, 7},  // a mode of spmv
    {"aggregate", Kind::ours, 3},
    {"vector", Kind::ours, 6},
    {"1000 calls", Kind::ours, 7},
    {"n calls", Kind::ours, 7},
    {"one by one", Kind::ours, 7},
    {"contiguous", Kind::ours, 7},
    {"buffered", Kind::ours, 7},
    {"pipelined from 2K", Kind::ours, 4},
    {"pipelined", Kind::ours, 6},
    {"constants", Kind::ours, 1},
    {"zero-copy", Kind::ours, 3},
    {"round robin", Kind::ours, 7},
    // Tessera: layouts, locations, counters.
    {"tiled", Kind::ours, 6},
    {"local matrix", Kind::ours, 3},
    {"same node", Kind::ours, 7},
    {"same numa", Kind::ours, 7},
    {"other numa", Kind::ours, 6},
    {"one rank", Kind::ours, 6},
    {"copies on nodes", Kind::ours, 0},
    {"cache", Kind::ours, 6},
    {"each to its owner", Kind::ours, 7},
    {"two levels", Kind::ours, 6},
    {"fence each", Kind::ours, 7},
    {"fence and barrier", Kind::ours, 7},
    // Baselines.
    {"memcpy", Kind::floor, 1},
    {"axpy", Kind::floor, 1},
    {"lock xadd", Kind::floor, 1},
    {"lock cmpxchg", Kind::floor, 1},
    {"xchg", Kind::floor, 1},
    {"two atomics", Kind::floor, 1},
    {"spin lock", Kind::floor, 1},
    {"one axpy", Kind::floor, 7},
    {"all axpy", Kind::floor, 1},
    {"serial loop", Kind::floor, 1},
    {"binary search", Kind::floor, 1},
    {"dgemm at once", Kind::floor, 1},
    {"cg at once", Kind::floor, 1},
    {"rma", Kind::floor, 1},
    {"pwrite", Kind::floor, 1},
    // Other libraries.
    {"pread", Kind::floor, 1},
    {"bare loop", Kind::floor, 1},
    {"own table", Kind::floor, 5},
    {"mpi two-sided", Kind::floor, 6},
    {"mpi overlapped", Kind::floor, 7},
    {"mpi neighbours", Kind::floor, mpi_style},
    {"mpi alloc_mem", Kind::floor, 4},
    {"mpi", Kind::floor, mpi_style},
    {"armci-mpi", Kind::floor, 5},
    {"global arrays", Kind::floor, 3},
    {"openshmem", Kind::floor, 3},
    {"pdgemm", Kind::floor, 4},
    {"pdgemr2d", Kind::floor, 4},
    {"pdtran", Kind::floor, 4},
    {"loads and stores", Kind::floor, 1},
    {"triad", Kind::yardstick, 7},
    {"computation", Kind::yardstick, 7},
}};

bool stands_for(std::string_view name, std::string_view backend) {
  return backend.starts_with(name) &&
         (backend.size() == name.size() || backend[name.size()] == ' ');
}

constexpr std::string_view ours = "Tessera";

const Known* find(std::string_view backend) {
  if (backend.starts_with(ours)) {  // a display_name()
    backend.remove_prefix(std::min(ours.size() + 2, backend.size()));
    backend = backend.empty() ? "tessera" : backend;
  }
  const auto* const found = std::find_if(known.begin(), known.end(), [backend](const Known& each) {
    return stands_for(each.name, backend);
  });
  return found == known.end() ? nullptr : found;
}

}  // namespace

Kind kind_of(std::string_view backend) {
  const Known* const found = find(backend);
  // Its time contains a computation, or lacks the part that waits.
  if (backend.ends_with(" overlapped") && backend != "mpi overlapped") {
    return Kind::yardstick;
  }
  if (backend.ends_with(" running")) {
    return Kind::yardstick;
  }
  return found == nullptr ? Kind::unknown : found->kind;
}

std::string display_name(const std::string& backend) {
  if (kind_of(backend) != Kind::ours || backend.starts_with(ours)) {
    return backend;
  }
  return std::string(ours) + (backend == "tessera" ? "" : ", " + backend);
}

std::vector<int> styles_of(const std::vector<std::string>& backends) {
  std::vector<int> chosen(backends.size(), -1);
  std::array<bool, static_cast<std::size_t>(styles)> taken = {};
  for (std::size_t i = 0; i < backends.size(); ++i) {
    const Known* const found = find(backends[i]);
    if (found != nullptr && !taken[static_cast<std::size_t>(found->style)]) {
      chosen[i] = found->style;
      taken[static_cast<std::size_t>(found->style)] = true;
    }
  }
  taken[mpi_style] = true;
  int next = 0;
  for (int& style : chosen) {
    if (style < 0) {
      const auto* const free = std::find(taken.begin(), taken.end(), false);
      // With more series than styles, the later ones start again at the first style.
      next += next % styles == mpi_style ? 1 : 0;
      style = free != taken.end() ? static_cast<int>(free - taken.begin()) : next++ % styles;
      taken[static_cast<std::size_t>(style)] = true;
    }
  }
  return chosen;
}

}  // namespace tessera::bench::report
