// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>
#include <cstdlib>

#include "rma/bootstrap.hpp"
#include "rma/bootstrap/detect.hpp"

namespace tessera::rma {

void end_job(int code) {
  std::fflush(nullptr);
  detail::abort_mpi(code);
  detail::ask_launcher_to_end();
  std::_Exit(code);
}

}  // namespace tessera::rma
