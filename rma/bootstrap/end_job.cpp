// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>
#include <cstdlib>

#include "rma/bootstrap.hpp"
#include "rma/bootstrap/detect.hpp"

namespace tessera::rma {

void end_job(int code) {
  // Of a code the system keeps eight bits: 256 would be told as success.
  constexpr int kept = 0xff;
  code = code != 0 && (code & kept) == 0 ? EXIT_FAILURE : code;
  std::fflush(nullptr);
  detail::abort_mpi(code);
  detail::ask_launcher_to_end();
  std::_Exit(code);
}

}  // namespace tessera::rma
