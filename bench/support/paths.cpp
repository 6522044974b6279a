// SPDX-License-Identifier: BSD-3-Clause
#include "bench/support/paths.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "bench/support/options.hpp"

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

namespace {

/// A list of names, or a list of excluded names.
struct Choice {
  std::vector<std::string_view> names;
  bool excludes = false;

  explicit Choice(std::string_view text) : excludes(text.starts_with('^')) {
    names = words_between_commas(text.substr(excludes ? 1 : 0));
  }
  [[nodiscard]] bool has(std::string_view name) const {
    return std::find(names.begin(), names.end(), name) != names.end();
  }
};

/// UCX's names of its transports through memory, single and grouped.
struct UcxTransport {
  std::string_view name;
  bool maps_memory;  ///< one of `mm`
};
constexpr std::array<UcxTransport, 5> through_memory = {
    {{"posix", true}, {"sysv", true}, {"xpmem", true}, {"cma", false}, {"knem", false}}};

/// Whether UCX_TLS leaves UCX a transport through memory, even if only for long messages.
bool ucx_shares_memory(const char* value) {
  if (value == nullptr || *value == '\0') {
    return true;
  }
  const Choice choice(value);
  return std::any_of(
      through_memory.begin(), through_memory.end(), [&](const UcxTransport& transport) {
        const bool is_named = choice.has(transport.name) || choice.has("all") || choice.has("sm") ||
                              choice.has("shm") || (transport.maps_memory && choice.has("mm"));
        return is_named != choice.excludes;
      });
}

bool is_on(const char* value) {
  return value != nullptr && std::string_view(value) == "1";
}

}  // namespace

bool may_use(const char* list, std::initializer_list<std::string_view> names) {
  if (list == nullptr || *list == '\0') {
    return true;
  }
  const Choice choice(list);
  return std::any_of(names.begin(), names.end(), [&choice](std::string_view name) {
    return choice.has(name) != choice.excludes;
  });
}

MpiPath mpi_path_on_a_host(const Variable& variable, bool has_its_devices) {
  if (is_on(variable("MPIR_CVAR_NOLOCAL")) || is_on(variable("MPIR_CVAR_CH3_NOLOCAL"))) {
    return {};
  }
  const bool ucx_shares = ucx_shares_memory(variable("UCX_TLS"));
  const char* const pml = variable("OMPI_MCA_pml");
  const bool may_be_ob1 = may_use(pml, {"ob1"});
  MpiPath path;
  if (may_use(pml, {"ucx"}) && (has_its_devices || !may_be_ob1)) {
    path.messages_share_memory = ucx_shares;
  } else {
    path.messages_share_memory = !may_be_ob1 || may_use(variable("OMPI_MCA_btl"), {"vader", "sm"});
  }
  // "rdma" maps the memory of ranks of its host, whatever transport it uses to other hosts.
  const char* const osc = variable("OMPI_MCA_osc");
  path.windows_share_memory = may_use(osc, {"sm", "rdma"}) ||
                              (may_use(osc, {"ucx"}) && ucx_shares) ||
                              (may_use(osc, {"pt2pt"}) && path.messages_share_memory);
  return path;
}

}  // namespace tessera::bench
