// SPDX-License-Identifier: BSD-3-Clause
#include "rma/bootstrap/descendants.hpp"

#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

namespace tessera::rma::detail {
namespace {

namespace fs = std::filesystem;

// Each thread has its own list of the children that it started.
void add_children(pid_t process, std::vector<pid_t>& found) {
  std::error_code error;
  fs::directory_iterator thread(fmt::format("/proc/{}/task", process), error);
  for (; !error && thread != fs::directory_iterator(); thread.increment(error)) {
    std::ifstream children(thread->path() / "children");
    for (pid_t each = 0; children >> each;) {
      found.push_back(each);
    }
  }
}

}  // namespace

std::vector<Descriptor> descendants_of(pid_t process) {
  std::vector<pid_t> found;
  add_children(process, found);
  std::vector<Descriptor> below;
  for (std::size_t i = 0; i < found.size(); ++i) {
    Descriptor one(static_cast<int>(syscall(SYS_pidfd_open, found[i], 0)));
    if (one.get() >= 0) {
      below.push_back(std::move(one));
    }
    add_children(found[i], found);
  }
  return below;
}

}  // namespace tessera::rma::detail
