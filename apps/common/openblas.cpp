// SPDX-License-Identifier: BSD-3-Clause
#include "apps/common/openblas.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace tessera::apps {

namespace {

// The buffers in private memory that belongs to no file. The kernel merges neighbours.
int count_mapped_buffers() {
  std::ifstream maps("/proc/self/maps");
  std::uint64_t buffers = 0;
  for (std::string line; std::getline(maps, line);) {
    std::istringstream fields(line);
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    char dash = 0;
    std::string access;
    std::string offset;
    std::string device;
    std::string inode;
    fields >> std::hex >> begin >> dash >> end >> access >> offset >> device >> inode;
    if (access == "rw-p" && inode == "0") {
      buffers += (end - begin) / openblas_buffer_bytes;
    }
  }
  return static_cast<int>(buffers);
}

}  // namespace

bool has_openblas() noexcept {
  return dlsym(RTLD_DEFAULT, "openblas_get_num_threads") != nullptr;
}

int openblas_threads_without_buffer() {
  const auto threads = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "openblas_get_num_threads"));
  return threads == nullptr ? 0 : std::max(0, threads() - 1 - count_mapped_buffers());
}

void map_openblas_buffers() {
  constexpr int size = 128;  // smaller matrices are multiplied without a buffer
  using Product = void (*)(const char*, const char*, const int*, const int*, const int*,
                           const double*, const double*, const int*, const double*, const int*,
                           const double*, double*, const int*, std::size_t, std::size_t);
  const auto dgemm = reinterpret_cast<Product>(dlsym(RTLD_DEFAULT, "dgemm_"));
  if (!has_openblas() || dgemm == nullptr) {
    return;
  }
  const std::vector<double> zeros(std::size_t{size} * size);
  std::vector<double> product(zeros.size());
  const double one = 1.0;
  dgemm("N", "N", &size, &size, &size, &one, zeros.data(), &size, zeros.data(), &size, &one,
        product.data(), &size, 1, 1);
}

}  // namespace tessera::apps
