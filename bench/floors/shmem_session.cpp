// SPDX-License-Identifier: BSD-3-Clause
#include "bench/floors/shmem_session.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstring>
#include <string_view>

#include <fmt/format.h>

#include "bench/floors/shmem_api.hpp"

namespace tessera::bench {
namespace {

bool& is_started() {
  static bool started = false;
  return started;
}

int keep_loaded(dl_phdr_info* info, std::size_t /*size*/, void* /*data*/) {
  if (std::string_view(info->dlpi_name).find("mca_spml_") != std::string_view::npos) {
    dlopen(info->dlpi_name, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
  }
  return 0;
}

void start() {
  shmem_init();
  // Open MPI 4.1 unloads this part of OpenSHMEM while free() still calls a function in it.
  dl_iterate_phdr(keep_loaded, nullptr);
  is_started() = true;
}

}  // namespace

bool end_shmem_and_mpi() {
  if (!is_started()) {
    return false;
  }
  shmem_finalize();
  return true;
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

// On a page, as the windows and slices beside it.
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
  return fmt::format("its heap has no room for {} MiB; SHMEM_SYMMETRIC_HEAP_SIZE makes it larger",
                     bytes >> 20U);
}

}  // namespace shmem
}  // namespace tessera::bench
