// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. The contents of handles of mirrored arrays.
#pragma once

#include <memory>

#include "fortran/c/mirrored.h"
#include "fortran/detail/handles.hpp"
#include "rma/team.hpp"

namespace tessera::capi {

struct MirroredContents {
  rma::Team team;
  std::shared_ptr<void> mirrored;  ///< a Mirrored<T> of the element type of `here`
  tessera_array* here;             ///< the array of this node's copy, which it owns
};

template <>
struct ShellOf<tessera_mirrored> {
  using Type = Shell<HandleKind::mirrored, MirroredContents>;
};

}  // namespace tessera::capi
