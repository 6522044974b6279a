// SPDX-License-Identifier: BSD-3-Clause
#include "rma/engine/mpi_network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <vector>

namespace tessera::rma::detail {
namespace {

namespace fs = std::filesystem;

struct MpiNetworkDevice {
  std::string_view path;
  std::string_view prefix;  ///< of names in the folder; empty: all
  std::string_view network;
};

constexpr std::array devices{
    MpiNetworkDevice{"/sys/class/cxi", "", "Slingshot"},
    MpiNetworkDevice{"/sys/class/bxi", "", "BXI"},
    MpiNetworkDevice{"/sys/class/kgni", "", "Aries"},
    MpiNetworkDevice{"/sys/class/infiniband", "hfi1", "Omni-Path"},
    MpiNetworkDevice{"/sys/class/infiniband", "efa", "EFA"},
    MpiNetworkDevice{"/sys/class/infiniband", "", "InfiniBand or RoCE"},
};

// RDMA that the kernel emulates on Ethernet is not faster than TCP.
bool is_emulated(std::string_view name) noexcept {
  return name.starts_with("rxe") || name.starts_with("siw");
}

std::string find_device(const std::string& root) {
  for (const MpiNetworkDevice& each : devices) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(root + std::string(each.path), error)) {
      const std::string name = entry.path().filename();
      if (name.starts_with(each.prefix) && !is_emulated(name)) {
        return fmt::format("{} ({})", each.network, name);
      }
    }
  }
  return "";
}

// Whether a list of transports has TCP and, besides it, only transports within one machine.
bool is_tcp_alone(std::string_view list) {
  constexpr std::array<std::string_view, 11> of_one_machine{
      "self", "sm", "shm", "vader", "mm", "posix", "sysv", "cma", "knem", "xpmem", "tcp"};
  const std::vector<std::string_view> names = split_names(list);
  return std::find(names.begin(), names.end(), "tcp") != names.end() &&
         std::all_of(names.begin(), names.end(), [&](std::string_view name) {
           return std::find(of_one_machine.begin(), of_one_machine.end(), name) !=
                  of_one_machine.end();
         });
}

bool is_tcp_provider(std::string_view provider) noexcept {
  return provider.starts_with("tcp") || provider.starts_with("sockets") ||
         provider.starts_with("udp");
}

// The variable by which the user made MPI use TCP; empty: none.
std::string find_variable_that_forces_tcp(const ReadVariable& read) {
  for (const char* const name :
       {"FI_PROVIDER", "MPIR_CVAR_OFI_USE_PROVIDER", "OMPI_MCA_mtl_ofi_provider_include"}) {
    if (is_tcp_provider(read(name))) {
      return name;
    }
  }
  if (is_tcp_alone(read("UCX_TLS"))) {
    return "UCX_TLS";
  }
  return read("OMPI_MCA_pml") == "ob1" && is_tcp_alone(read("OMPI_MCA_btl")) ? "OMPI_MCA_btl" : "";
}

}  // namespace

std::string environment_variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool are_default_transports(const Settings& settings) {
  return settings.transport == Settings().transport;
}

MpiNetwork find_mpi_network(const std::string& root, const ReadVariable& read) {
  const std::string order = find_variable_that_forces_tcp(read);
  if (!order.empty()) {
    return {.network = {}, .reason = fmt::format("{} makes MPI use TCP", order)};
  }
  std::string device = find_device(root);
  if (device.empty()) {
    return {.network = {}, .reason = "this machine has no network but Ethernet"};
  }
  return {.network = std::move(device), .reason = {}};
}

}  // namespace tessera::rma::detail
