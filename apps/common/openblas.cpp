// SPDX-License-Identifier: BSD-3-Clause
#include "apps/common/openblas.hpp"

#include <dlfcn.h>

namespace tessera::apps {

bool has_openblas() noexcept {
  return dlsym(RTLD_DEFAULT, "openblas_get_num_threads") != nullptr;
}

}  // namespace tessera::apps
