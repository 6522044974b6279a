// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>
#include <cstdlib>

#include "rma/bootstrap.hpp"
#include "rma/bootstrap/detect.hpp"
#include "rma/engine/fork_guard.hpp"

namespace tessera::rma {

bool is_child_of_rank() noexcept {
  return detail::ForkGuard::is_in_child();
}

void end_job(int code) {
  // Of a code the system keeps eight bits: 256 would be told as success.
  constexpr int kept = 0xff;
  code = code != 0 && (code & kept) == 0 ? EXIT_FAILURE : code;
  std::fflush(nullptr);
  if (!is_child_of_rank()) {
    detail::abort_mpi(code);
    detail::ask_launcher_to_end();
  }
  std::_Exit(code);
}

}  // namespace tessera::rma
