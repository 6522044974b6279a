// SPDX-License-Identifier: BSD-3-Clause
#include "rma/base/version.hpp"

namespace tessera::rma {

std::string_view version() noexcept {
  return TESSERA_VERSION;
}

}  // namespace tessera::rma
