// SPDX-License-Identifier: BSD-3-Clause
//
// The TESSERA_GA_* variables of this process, read once. Their table is in settings.cpp.
#pragma once

#include "rma/base/result.hpp"

namespace tessera::ga {

struct EnvironmentOptions {
  bool returns_errors = false;    ///< an error returns 0, .false. or nothing, after its message
  bool compares_scalars = false;  ///< processes must give the same scalars
  bool cuts_for_surface = false;  ///< arrays without given blocks are cut as Tessera's own are
};

/// Local. Defaults for values that can't be used.
const EnvironmentOptions& environment_options();

/// Local. Errors: invalid_argument for the first value that can't be used.
rma::Status check_environment();

}  // namespace tessera::ga
