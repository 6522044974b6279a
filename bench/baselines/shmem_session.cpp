// SPDX-License-Identifier: BSD-3-Clause
#include "bench/baselines/shmem_memory.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "bench/baselines/shmem_api.hpp"

namespace tessera::bench {
namespace {

bool& is_started() {
  static bool started = false;
  return started;
}

int record_object(dl_phdr_info* info, std::size_t /*size*/, void* parts) {
  if (std::string_view(info->dlpi_name).find("mca_spml_") != std::string_view::npos) {
    static_cast<std::vector<std::string>*>(parts)->emplace_back(info->dlpi_name);
  }
  return 0;
}

// Open MPI 4.1 unloads this part of OpenSHMEM while free() still calls a function in it.
void keep_loaded() {
  std::vector<std::string> parts;
  dl_iterate_phdr(record_object, &parts);
  for (const std::string& part : parts) {
    dlopen(part.c_str(), RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
  }
}

void start() {
  shmem_init();
  keep_loaded();
  is_started() = true;
}

}  // namespace

void end_shmem() {
  if (is_started()) {
    shmem_finalize();
  }
}

namespace shmem {

std::string missing(int ranks) {
  if (std::string reason = mpi::missing_ranks(ranks); !reason.empty()) {
    return reason;
  }
  if (!is_started()) {
    start();
  }
  return "";
}

// Page-aligned, as the windows and slices that it is compared with.
Symmetric::Symmetric(std::size_t bytes)
    : bytes_(static_cast<std::byte*>(shmem_align(4096, bytes))) {
  if (bytes_ != nullptr) {
    std::memset(bytes_, 0, bytes);
    shmem_barrier_all();
  }
}

Symmetric::~Symmetric() {
  shmem_free(bytes_);
}

std::string no_room(std::size_t bytes) {
  return fmt::format(
      "its heap has no room for {} MiB; to enlarge it, set SHMEM_SYMMETRIC_HEAP_SIZE",
      bytes >> 20U);
}

}  // namespace shmem
}  // namespace tessera::bench
