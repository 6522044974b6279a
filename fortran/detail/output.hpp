// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. What a handle of an output has.
#pragma once

#include "arrays/output.hpp"
#include "fortran/c/output.h"
#include "fortran/detail/handles.hpp"
#include "rma/team.hpp"

namespace tessera::capi {

/// Outputs do not give away their team.
struct OutputContents {
  rma::Team team;
  arrays::Output output;
};
template <>
struct ShellOf<tessera_output> {
  using Type = Shell<HandleKind::output, OutputContents>;
};

}  // namespace tessera::capi
