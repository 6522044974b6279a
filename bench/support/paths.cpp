// SPDX-License-Identifier: BSD-3-Clause
#include "bench/support/paths.hpp"

#include <algorithm>
#include <array>

namespace tessera::bench {
namespace {

constexpr std::array<std::string_view, 4> by_windows = {"mpi", "mpi subarray", "armci-mpi",
                                                        "global arrays"};
constexpr std::array<std::string_view, 3> by_scalapack = {"pdgemm", "pdgemr2d", "pdtran"};
constexpr std::string_view by_heap = "openshmem";

template <class Names>
bool has(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Marks a transfer with simultaneous computation. One of MG's exchanges has this word in its name.
constexpr std::string_view overlapped = " overlapped";
constexpr std::string_view exchange_of_mg = "mpi overlapped";
constexpr std::string_view in_memory = " in memory";

std::string_view computation_in(std::string_view backend) {
  return backend != exchange_of_mg && backend.ends_with(overlapped) ? overlapped : "";
}

}  // namespace

bool goes_through_memory(std::string_view backend, const PathsInMemory& paths) {
  backend.remove_suffix(computation_in(backend).size());
  if (has(by_windows, backend)) {
    return paths.mpi_windows;
  }
  if (backend == by_heap) {
    return paths.openshmem;
  }
  return (backend.starts_with("mpi ") || has(by_scalapack, backend)) && paths.mpi_messages;
}

std::string name_by_path(const std::string& backend, const PathsInMemory& paths) {
  if (!goes_through_memory(backend, paths)) {
    return backend;
  }
  const std::string_view computation = computation_in(backend);
  return backend.substr(0, backend.size() - computation.size()) + std::string(in_memory) +
         std::string(computation);
}

bool is_named_in_memory(std::string_view name) {
  name.remove_suffix(computation_in(name).size());
  return name.ends_with(in_memory);
}

}  // namespace tessera::bench
